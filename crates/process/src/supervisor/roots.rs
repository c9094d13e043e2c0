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
    /// Existing trees of our own that lie in a root.
    pub(super) private: Vec<PathBuf>,
    /// Writable roots that lie in one of those.
    pub(super) holes: Vec<PathBuf>,
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
        let private = outermost(existing(&confined.private));
        let outer: Vec<PathBuf> = write
            .iter()
            .filter(|root| !is_in(root, &private))
            .cloned()
            .collect();
        let mut read = outermost(existing(&confined.read));
        let private: Vec<PathBuf> = private
            .into_iter()
            .filter(|path| is_below(path, &outer) || is_below(path, &read))
            .collect();
        let (holes, write): (Vec<_>, Vec<_>) =
            write.into_iter().partition(|root| is_in(root, &private));
        let (holes, write) = (outermost(holes), outermost(write));
        read.retain(|path| !is_in(path, &write));

        let reachable =
            |path: &PathBuf| is_in(path, &write) || is_in(path, &holes) || is_in(path, &read);
        let secret = outermost(existing(&confined.hide));
        if let Some(root) = write
            .iter()
            .chain(&holes)
            .chain(&read)
            .find(|root| is_in(root, &secret))
        {
            let text = format!("{} holds credentials and cannot be a root", root.display());
            return Err(refusal(libc::EPERM, &text));
        }
        let hide: Vec<PathBuf> = secret.into_iter().filter(reachable).collect();
        let mut blank = existing(&confined.blank);
        blank.retain(|path| !reachable(path) && path.is_file());
        Ok(Self {
            write,
            read,
            hide,
            private,
            holes,
            blank,
        })
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

fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots
        .iter()
        .any(|root| path != root && path.starts_with(root))
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
    use crate::spec::{Level, Network};

    #[test]
    fn only_outermost_roots_remain_and_siblings_with_a_common_prefix_do() {
        let paths = ["/a/b", "/a", "/ab", "/a/b/c", "/ab"].map(PathBuf::from);
        assert_eq!(outermost(paths.to_vec()), ["/a", "/ab"].map(PathBuf::from));
    }

    #[test]
    fn a_root_in_a_private_tree_is_a_hole_only_where_the_tree_could_be_reached() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (home, data) = (base.join("home"), base.join("home/data"));
        let (scratch, project) = (data.join("scratch"), home.join("project"));
        for path in [&scratch, &project] {
            std::fs::create_dir_all(path).unwrap();
        }
        let resolve = |workspace: &Path| {
            let confined = Confined {
                level: Level::Full,
                network: Network::Off,
                write: vec![workspace.to_owned(), scratch.clone()],
                read: Vec::new(),
                hide: Vec::new(),
                private: vec![data.clone()],
                blank: Vec::new(),
            };
            Roots::resolve(&confined)
                .map_err(|failure| failure.detail)
                .unwrap()
        };
        let inside = resolve(&home);
        assert_eq!(inside.write, [home.as_path()]);
        assert_eq!(inside.private, [data.as_path()]);
        assert_eq!(inside.holes, [scratch.as_path()]);

        let beside = resolve(&project);
        assert_eq!(beside.write, [scratch.as_path(), project.as_path()]);
        assert!(beside.private.is_empty() && beside.holes.is_empty());
    }
}
