//! `skill-packs [DIRECTORY] [PROMPT...]`: what a session makes of the packs below a directory.

use std::io::Write as _;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let root = arguments.next().map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/packs")),
        PathBuf::from,
    );
    let prompt: Vec<String> = arguments.collect();
    std::io::stdout().write_all(skill_packs::show(&root, &prompt.join(" ")).as_bytes())
}
