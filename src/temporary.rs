//! Files that are written beside where they are to be, and put there once they are whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

/// Of a file of ours: whoever may read the data directory reads it, and nobody else.
const OURS: u32 = 0o600;

/// A new file in this directory, with a name that nobody knows. What goes wrong is told without that
/// name: it is gone then. Who tells of it names the file that was to be written.
pub(crate) fn beside(dir: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let made = |path: &Path| {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        options.mode(mode).open(path)
    };
    tempfile::Builder::new().prefix(".").make_in(dir, made)
}

/// Puts these bytes in a file of ours, in place of what is there. Whoever reads it finds the one or
/// the other whole, also when the power fails meanwhile.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    let mut file = beside(dir, OURS)?;
    file.write_all(bytes)?;
    // A new name reaches the disk before the bytes do, else.
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_name_of_a_file_that_nobody_knows_was_told() {
        let error = beside(Path::new("/not/there"), OURS).unwrap_err();
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
        let error = replace(Path::new("/not/there/file"), b"").unwrap_err();
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
    }

    #[test]
    fn what_is_replaced_is_whole_and_ours_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        for bytes in [&b"one and more"[..], b"two"] {
            replace(&path, bytes).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, OURS);
        let folder = dir.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        assert!(replace(&folder, b"three").is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
