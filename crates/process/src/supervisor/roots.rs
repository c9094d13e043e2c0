//! The roots of a confinement, resolved once, while the supervisor still sees everything.

use std::path::{Path, PathBuf};

use super::OrFail;
use crate::spec::Confined;
use crate::stage::Stage;
use crate::wire::Failure;

/// Resolved paths, without symbolic links, none below another of its own list.
pub(super) struct Roots {
    pub(super) write: Vec<PathBuf>,
    pub(super) read: Vec<PathBuf>,
    /// Existing paths to hide that lie in a root; the others cannot be reached anyway.
    pub(super) hide: Vec<PathBuf>,
    /// Existing files outside every root that shall read as empty.
    pub(super) blank: Vec<PathBuf>,
}

impl Roots {
    pub(super) fn resolve(confined: &Confined) -> Result<Self, Failure> {
        let mut write = Vec::with_capacity(confined.write.len());
        for path in &confined.write {
            let resolved = path
                .canonicalize()
                .or_fail(Stage::Roots, &path.to_string_lossy())?;
            if resolved.parent().is_none() {
                return Err(refusal(
                    libc::EINVAL,
                    "the whole file system cannot be writable",
                ));
            }
            write.push(resolved);
        }
        let write = outermost(write);
        let mut read = outermost(existing(&confined.read));
        read.retain(|path| !is_in(path, &write));
        let reachable = |path: &PathBuf| is_in(path, &write) || is_in(path, &read);
        let hide: Vec<PathBuf> = outermost(existing(&confined.hide))
            .into_iter()
            .filter(reachable)
            .collect();
        let mut blank = existing(&confined.blank);
        blank.retain(|path| !reachable(path) && path.is_file());
        if let Some(hidden) = write.iter().chain(&read).find(|root| is_in(root, &hide)) {
            let text = format!(
                "{} holds credentials and cannot be a root",
                hidden.display()
            );
            return Err(refusal(libc::EPERM, &text));
        }
        Ok(Self {
            write,
            read,
            hide,
            blank,
        })
    }

    /// Whether a path is a writable root or lies in one.
    pub(super) fn is_writable(&self, path: &Path) -> bool {
        is_in(path, &self.write)
    }
}

pub(super) fn refusal(errno: i32, detail: &str) -> Failure {
    Failure {
        stage: Stage::Roots,
        errno,
        detail: detail.to_owned(),
    }
}

/// Whether `path` is one of `roots` or below one.
pub(super) fn is_in(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

fn existing(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect()
}

/// Without repetitions and without what lies below another, parents first.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    let mut kept: Vec<PathBuf> = Vec::with_capacity(paths.len());
    for path in paths {
        if !is_in(&path, &kept) {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_outermost_roots_remain_and_siblings_with_a_common_prefix_do() {
        let paths = ["/a/b", "/a", "/ab", "/a/b/c", "/ab"].map(PathBuf::from);
        assert_eq!(outermost(paths.to_vec()), ["/a", "/ab"].map(PathBuf::from));
    }
}
