//! The metadata of git repositories is not written by file tools: a hook or a config is code that
//! runs later.

use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::protected::fold;

pub(super) const WHY: &str = "it is the metadata of a git repository";

/// Why no file of this name is written where no repository is yet.
pub(super) const WHY_HEAD: &str = "git takes a directory with a file of this name for a repository, and runs what its config says";

/// Whether a file of this name could make a directory a repository. Every form of one needs it, so
/// the order in which its parts are written does not matter.
pub(super) fn could_make_one(name: &str) -> bool {
    name == "HEAD"
}

/// How far up a repository is looked for.
const MAX_ANCESTORS: u32 = 256;

/// Whether a path goes through, or ends in, something called `.git` in whatever case.
pub(super) fn names_metadata(path: &str) -> bool {
    fold(path).split('/').any(|part| part == ".git")
}

/// The same of a resolved path, of which only the part beneath `root` counts.
pub(super) fn lies_in_metadata(real: &Path, root: &Path) -> bool {
    let below = real.strip_prefix(root).unwrap_or(real);
    names_metadata(&below.to_string_lossy())
}

/// Whether this directory, or one above it up to `root`, is a repository's metadata under another
/// name: a bare repository, or what the `.git` file of a worktree leads to.
pub(super) fn is_in_bare_repository(directory: &OwnedFd, root: &OwnedFd) -> bool {
    let Ok(top) = rustix::fs::fstat(root) else {
        return false;
    };
    let mut above: Option<OwnedFd> = None;
    for _ in 0..MAX_ANCESTORS {
        let here = above.as_ref().unwrap_or(directory);
        if looks_like_metadata(here) {
            return true;
        }
        let Ok(stat) = rustix::fs::fstat(here) else {
            return false;
        };
        if (stat.st_dev, stat.st_ino) == (top.st_dev, top.st_ino) {
            return false;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(parent) = rustix::fs::openat(here, "..", flags, Mode::empty()) else {
            return false;
        };
        let is_top = rustix::fs::fstat(&parent)
            .is_ok_and(|up| (up.st_dev, up.st_ino) == (stat.st_dev, stat.st_ino));
        if is_top {
            return false;
        }
        above = Some(parent);
    }
    false
}

fn looks_like_metadata(directory: &OwnedFd) -> bool {
    let is = |name: &str, wanted: FileType| {
        rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == wanted)
    };
    let head = is("HEAD", FileType::RegularFile) || is("HEAD", FileType::Symlink);
    head && ((is("objects", FileType::Directory) && is("refs", FileType::Directory))
        || is("commondir", FileType::RegularFile))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(".git", true)]
    #[case("a/.GIT/config", true)]
    #[case(".Git/hooks/pre-commit", true)]
    #[case("a/．git/x", true)]
    #[case(".g\u{200c}it/config", true)]
    #[case(".gitignore", false)]
    #[case(".github/workflows/ci.yml", false)]
    #[case("a.git/x", false)]
    #[case("git/x", false)]
    fn metadata_is_known_by_name(#[case] path: &str, #[case] metadata: bool) {
        assert_eq!(names_metadata(path), metadata, "{path}");
    }
}
