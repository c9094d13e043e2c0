//! The packs, carried in the program so that it needs no files beside it.

use std::fs;
use std::io;
use std::path::Path;

/// The files of the packs: the path below a root, and the content.
pub const FILES: &[(&str, &str)] = &[
    (
        "citations/SKILL.md",
        include_str!("../packs/citations/SKILL.md"),
    ),
    ("report/SKILL.md", include_str!("../packs/report/SKILL.md")),
    (
        "report/references/style.md",
        include_str!("../packs/report/references/style.md"),
    ),
    (
        "tool-first/SKILL.md",
        include_str!("../packs/tool-first/SKILL.md"),
    ),
];

/// Writes the packs below a root.
///
/// # Errors
/// [`io::Error`] when a directory or file cannot be written.
pub fn write_packs(root: &Path) -> io::Result<()> {
    for (path, content) in FILES {
        let file = root.join(path);
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(file, content)?;
    }
    Ok(())
}
