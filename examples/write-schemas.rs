//! Writes the JSON Schemas of what commands print into `docs/protocols/cli/`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/protocols/cli");
    std::fs::create_dir_all(&folder)?;
    for file in outfitter::cli::schema_files() {
        std::fs::write(folder.join(file.name), file.text())?;
    }
    Ok(())
}
