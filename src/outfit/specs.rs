//! What servers and programs offer, kept in a file for each below the data directory.

use std::path::{Path, PathBuf};

use outfitter_core::{MAX_SPECS_BYTES, SpecCache};
use outfitter_store::create_private_dir;
use outfitter_text::regular_file::read_regular_file;

use crate::temporary;

/// The directories below the data directory. One name may be of a server and of a program.
const SERVERS: &str = "mcp";
const PROGRAMS: &str = "programs";

/// A file for each source.
pub(super) struct SpecFiles(PathBuf);

impl SpecFiles {
    /// Of MCP servers, below this data directory. Nothing is made before there is something to keep.
    pub(super) fn of_servers(data_dir: &Path) -> Self {
        Self(data_dir.join(SERVERS))
    }

    /// The same of the programs of the project.
    pub(super) fn of_programs(data_dir: &Path) -> Self {
        Self(data_dir.join(PROGRAMS))
    }

    fn write(&self, source: &str, specs: &[u8]) -> std::io::Result<()> {
        create_private_dir(&self.0)?;
        // Another process may keep the same at the same time; each puts its own there.
        temporary::replace(&self.file(source), specs)
    }

    fn file(&self, source: &str) -> PathBuf {
        self.0.join(format!("{source}.json"))
    }
}

impl SpecCache for SpecFiles {
    fn load(&self, source: &str) -> Option<Vec<u8>> {
        read_regular_file(&self.file(source), MAX_SPECS_BYTES as u64).ok()
    }

    fn keep(&self, source: &str, specs: &[u8]) {
        if let Err(error) = self.write(source, specs) {
            tracing::warn!(source, %error, "what a source offers was not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_kept_is_for_its_owner_and_takes_the_place_of_what_was() {
        let data = tempfile::tempdir().unwrap();
        let files = SpecFiles::of_servers(&data.path().join("data"));
        assert_eq!(files.load("notes"), None);
        files.keep("notes", b"one");
        files.keep("notes", b"two");
        files.keep("other", b"three");
        assert_eq!(files.load("notes").as_deref(), Some(&b"two"[..]));
        let dir = data.path().join("data/mcp");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&dir.join("notes.json"))), (0o700, 0o600));
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
    }

    #[test]
    fn what_cannot_be_read_or_kept_costs_nothing() {
        let data = tempfile::tempdir().unwrap();
        let files = SpecFiles::of_servers(data.path());
        std::fs::create_dir_all(data.path().join("mcp/notes.json")).unwrap();
        assert_eq!(files.load("notes"), None);
        files.keep("notes", b"one");
        assert_eq!(files.load("notes"), None);
        let left = std::fs::read_dir(data.path().join("mcp")).unwrap().count();
        assert_eq!(left, 1, "nothing half done stays");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let pipe = data.path().join("mcp/pipe.json");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert_eq!(files.load("pipe"), None, "nobody writes into it");
        std::fs::remove_file(pipe).unwrap();
        let large = vec![b' '; MAX_SPECS_BYTES + 1];
        files.keep("large", &large);
        assert_eq!(files.load("large"), None);
    }
}
