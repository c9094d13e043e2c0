//! Folders for single calls, and what a crash left of them.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use outfitter_process::remains::{Passing, remove_tree};

/// What the names of all folders begin with.
const PREFIX: &str = "call-";

/// What the name of each file of keys begins with.
pub(crate) const KEYS_PREFIX: &str = "jwks-";

/// What is older than this belongs to no call: none may take so long.
const STALE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A folder for one call in this directory, gone with the value.
pub(crate) fn folder(directory: &Path) -> io::Result<Passing> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let folder = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(directory)?;
    Ok(Passing::of(folder.keep()))
}

/// Removes what processes left behind that could not clean up. What cannot be removed stays.
pub(crate) fn sweep(directory: &Path, now: SystemTime) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let age = entry
            .metadata()
            .and_then(|facts| facts.modified())
            .ok()
            .and_then(|changed| now.duration_since(changed).ok());
        if age.is_none_or(|age| age < STALE) {
            continue;
        }
        let gone = if name.starts_with(PREFIX) {
            remove_tree(&entry.path())
                .map(|_| ())
                .map_err(io::Error::other)
        } else if name.starts_with(KEYS_PREFIX) {
            fs::remove_file(entry.path())
        } else {
            Ok(())
        };
        if let Err(error) = gone {
            tracing::debug!(target: "outfitter::commands", %error, "left {name} where it is");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_ours_alone_and_goes() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path().join("a/b");
        let folder = folder(&parent).unwrap();
        for path in [&parent, folder.path()] {
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_crash_left_is_removed_once_it_is_old() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("call-1/deep")).unwrap();
        for name in ["jwks-1.json", "other"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let names = || {
            let mut names: Vec<_> = fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            names
        };
        sweep(dir.path(), SystemTime::now());
        assert_eq!(names().len(), 3);
        sweep(dir.path(), SystemTime::now() + STALE * 2);
        assert_eq!(names(), ["other"]);
        sweep(Path::new("/nowhere"), SystemTime::now());
    }
}
