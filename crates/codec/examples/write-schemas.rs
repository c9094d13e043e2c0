//! Writes the JSON Schemas of the protocols into `docs/protocols/`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols");
    for file in outfitter_codec::schema_files() {
        std::fs::write(folder.join(file.name), file.text())?;
    }
    Ok(())
}
