//! The metadata of git repositories is not written by file tools: a hook or a config is code that
//! runs later.

use std::path::Path;

use outfitter_core::FileKind;

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
pub(super) const MAX_ANCESTORS: usize = 256;

/// Whether a path goes through, or ends in, something called `.git` in whatever case.
pub(super) fn names_metadata(path: &str) -> bool {
    fold(path).split('/').any(|part| part == ".git")
}

/// The same of a resolved path, of which only the part beneath `root` counts.
pub(super) fn lies_in_metadata(real: &Path, root: &Path) -> bool {
    let below = real.strip_prefix(root).unwrap_or(real);
    names_metadata(&below.to_string_lossy())
}

/// What a directory that is a repository's metadata has.
pub(super) const SIGNS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// Whether a directory that has these is a repository's metadata: a bare repository, or what the
/// `.git` file of a worktree leads to.
pub(super) fn are_metadata(signs: [Option<FileKind>; 4]) -> bool {
    use FileKind::{Directory, File, Symlink};
    let [head, objects, refs, common] = signs;
    matches!(head, Some(File | Symlink))
        && ((objects, refs) == (Some(Directory), Some(Directory)) || common == Some(File))
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
