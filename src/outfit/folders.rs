//! The folders of sessions on disk, and what of them could not be looked at.

use std::io;
use std::path::{Path, PathBuf};

/// The most folders that are looked at, of each kind.
pub(super) const MOST_LOOKED_AT: usize = 10_000;

/// What was found, and what is said of the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Folders {
    pub(super) found: Vec<PathBuf>,
    /// Why what was found may not be all there is, one sentence each.
    pub(super) unread: Vec<String>,
}

/// The folders in a directory of tenants and subjects.
pub(super) fn folders(root: &Path) -> Folders {
    at_most(root, MOST_LOOKED_AT)
}

/// Waits for a look that was taken elsewhere. One that failed has seen nothing, which is not the same
/// as that there is nothing.
pub(super) async fn looked(
    root: &Path,
    look: impl FnOnce(&Path) -> Folders + Send + 'static,
) -> Folders {
    let at = root.to_owned();
    let looking = tokio::task::spawn_blocking(move || look(&at));
    looking.await.unwrap_or_else(|error| Folders {
        found: Vec::new(),
        unread: vec![format!(
            "the look at {} was broken off: {error}",
            root.display()
        )],
    })
}

/// What is said where there are as many as are looked at.
pub(super) fn cut(root: &Path, most: usize) -> String {
    format!(
        "of what lies in {} no more than {most} were looked at",
        root.display()
    )
}

fn at_most(root: &Path, most: usize) -> Folders {
    let mut folders = Folders::default();
    let mut above = vec![root.to_owned()];
    // Tenants, their subjects, and what these have.
    for level in 0..3 {
        let mut below = Vec::new();
        for path in &above {
            match inside(path) {
                Ok(found) => below.extend(found),
                // Nobody has made it yet, or somebody has just removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => folders
                    .unread
                    .push(format!("{} cannot be read: {error}", path.display())),
            }
            if below.len() > most {
                below.truncate(most);
                folders.unread.push(cut(root, most));
                break;
            }
        }
        above = below;
        if level == 2 {
            folders.found = std::mem::take(&mut above);
        }
    }
    folders
}

fn inside(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        dir
    }

    #[test]
    fn those_of_all_subjects_are_found_and_nothing_else() {
        let dir = made(&["a/x/1", "a/x/2", "a/y/3", "b/z/4", "c"]);
        std::fs::write(dir.path().join("a/x/file"), "").unwrap();
        let mut all = folders(dir.path());
        all.found.sort();
        let expected = ["a/x/1", "a/x/2", "a/y/3", "b/z/4"].map(|name| dir.path().join(name));
        assert_eq!(all.found, expected);
        assert_eq!(all.unread, [""; 0]);
        assert_eq!(folders(&dir.path().join("none")), Folders::default());
    }

    #[test]
    fn what_was_beyond_the_bound_went_unsaid() {
        let dir = made(&["a/x/1", "a/x/2", "a/y/3", "a/y/4"]);
        let some = at_most(dir.path(), 3);
        assert_eq!(some.found.len(), 3);
        assert_eq!(some.unread, [cut(dir.path(), 3)]);
        assert_eq!(at_most(dir.path(), 4).unread, [""; 0]);
    }

    #[test]
    fn what_cannot_be_read_was_taken_for_empty() {
        let dir = made(&["a"]);
        let file = dir.path().join("a/file");
        std::fs::write(&file, "").unwrap();
        let unread = folders(&file).unread;
        assert_eq!(unread.len(), 1, "{unread:?}");
        assert!(unread[0].contains("cannot be read"), "{unread:?}");
    }

    #[tokio::test]
    async fn a_look_that_panicked_was_taken_for_one_that_found_nothing() {
        let broken = looked(Path::new("/nowhere"), |_| panic!("a test")).await;
        assert_eq!(broken.found, Vec::<PathBuf>::new());
        assert_eq!(broken.unread.len(), 1);
        assert!(broken.unread[0].starts_with("the look at /nowhere was broken off"));
    }
}
