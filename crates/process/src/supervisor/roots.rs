//! The roots of a confinement: resolved and opened once, before anything is built on them.
//!
//! What children may write is not believed. A child that could write the directory a root lies in
//! could have put a symbolic link in its place; so no link is followed out of a writable root, and a
//! root is known from here on by its handle and not by its name.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::OrFail;
use crate::spec::Confined;
use crate::stage::Stage;
use crate::wire::Failure;

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// Paths without symbolic links, none below another of its own list.
pub(super) struct Roots {
    pub(super) write: Vec<Root>,
    pub(super) read: Vec<Root>,
    /// Existing things in a writable root that may not be changed. None holds a root.
    pub(super) fixed: Vec<Root>,
    /// Existing paths to hide that lie in a root; the others cannot be reached anyway.
    pub(super) hide: Vec<PathBuf>,
    /// Existing directories to hide that lie in no root: their files cannot be opened, but a socket
    /// is connected to and not opened.
    pub(super) sealed: Vec<PathBuf>,
    /// Existing trees of our own that lie in a root.
    pub(super) private: Vec<PathBuf>,
    /// Writable roots that lie in one of those.
    pub(super) holes: Vec<Root>,
    /// Existing files outside every root that shall read as empty.
    pub(super) blank: Vec<PathBuf>,
}

/// A root: where it is, and a handle on what was there.
pub(super) struct Root {
    pub(super) path: PathBuf,
    pub(super) handle: OwnedFd,
}

impl Roots {
    pub(super) fn resolve(confined: &Confined) -> Result<Self, Failure> {
        let writable = existing(&confined.write);
        let mut write = Vec::with_capacity(confined.write.len());
        for path in &confined.write {
            let name = path.to_string_lossy();
            let resolved = without_links(path, &writable).or_fail(Stage::Roots, &name)?;
            if resolved.parent().is_none() {
                return Err(refusal(
                    libc::EINVAL,
                    "the whole file system cannot be writable",
                ));
            }
            write.push(resolved);
        }
        let trusted = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let resolved = paths.iter().map(|path| without_links(path, &writable));
            resolved.flatten().collect()
        };
        let mut read = outermost(trusted(&confined.read));
        let private = outermost(existing(&confined.private));
        let outer: Vec<PathBuf> = write
            .iter()
            .filter(|root| !is_in(root, &private))
            .cloned()
            .collect();
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
        let mut roots = write.iter().chain(&holes).chain(&read);
        if let Some(root) = roots.find(|root| is_in(root, &secret)) {
            let text = format!("{} holds credentials and cannot be a root", root.display());
            return Err(refusal(libc::EPERM, &text));
        }
        let (hide, mut sealed): (Vec<_>, Vec<_>) = secret.into_iter().partition(reachable);
        sealed.retain(|path| path.is_dir());
        let mut fixed = outermost(existing(&confined.fixed));
        fixed.retain(|path| {
            let holds_a_root = write
                .iter()
                .chain(&holes)
                .any(|root| root.starts_with(path));
            is_below(path, &write) && !is_in(path, &private) && !holds_a_root
        });
        let mut blank = trusted(&confined.blank);
        blank.retain(|path| !reachable(path) && path.is_file());
        Ok(Self {
            write: open_all(write)?,
            read: open_all(read)?,
            fixed: open_all(fixed)?,
            hide,
            sealed,
            private,
            holes: open_all(holes)?,
            blank,
        })
    }

    /// Whether a path lies in what is opened.
    pub(super) fn opens(&self, path: &Path) -> bool {
        let mut roots = self.write.iter().chain(&self.holes).chain(&self.read);
        roots.any(|root| path.starts_with(&root.path))
    }

    /// The writable roots' paths.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        self.write.iter().map(|root| root.path.clone()).collect()
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
    let resolved = paths.iter().map(|path| path.canonicalize());
    resolved.flatten().collect()
}

/// Opened without following any link: one that has appeared since is an error.
fn open_all(paths: Vec<PathBuf>) -> Result<Vec<Root>, Failure> {
    let open = |path: PathBuf| {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let handle = openat2(CWD, &path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
            .or_fail(Stage::Roots, &path.to_string_lossy())?;
        Ok(Root { path, handle })
    };
    paths.into_iter().map(open).collect()
}

/// The path with every link resolved, but `ELOOP` for a link in a directory that children can write.
fn without_links(path: &Path, writable: &[PathBuf]) -> std::io::Result<PathBuf> {
    let mut resolved = PathBuf::from("/");
    let mut rest: Vec<OsString> = parts_reversed(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(&part);
        if !next.symlink_metadata()?.is_symlink() {
            resolved = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS || is_in(&resolved, writable) {
            return Err(std::io::Error::from_raw_os_error(libc::ELOOP));
        }
        let target = next.read_link()?;
        if target.is_absolute() {
            resolved = PathBuf::from("/");
        }
        rest.extend(parts_reversed(&target));
    }
    Ok(resolved)
}

fn parts_reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    parts
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
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
    use std::os::unix::fs::symlink;

    fn base() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        (dir, base)
    }

    fn confined(write: &[&Path], read: &[&Path], private: &[&Path]) -> Confined {
        let owned = |paths: &[&Path]| paths.iter().map(PathBuf::from).collect();
        Confined {
            level: Level::Full,
            network: Network::Off,
            write: owned(write),
            read: owned(read),
            fixed: Vec::new(),
            hide: Vec::new(),
            private: owned(private),
            blank: Vec::new(),
        }
    }

    fn paths(roots: &[Root]) -> Vec<&Path> {
        roots.iter().map(|root| root.path.as_path()).collect()
    }

    #[test]
    fn only_outermost_roots_remain_and_siblings_with_a_common_prefix_do() {
        let paths = ["/a/b", "/a", "/ab", "/a/b/c", "/ab"].map(PathBuf::from);
        assert_eq!(outermost(paths.to_vec()), ["/a", "/ab"].map(PathBuf::from));
    }

    #[test]
    fn a_root_in_a_private_tree_is_a_hole_only_where_the_tree_could_be_reached() {
        let (_dir, base) = base();
        let (home, data) = (base.join("home"), base.join("home/data"));
        let (scratch, project) = (data.join("scratch"), home.join("project"));
        for path in [&scratch, &project] {
            std::fs::create_dir_all(path).unwrap();
        }
        let resolve = |workspace: &Path| {
            Roots::resolve(&confined(&[workspace, &scratch], &[], &[&data]))
                .map_err(|failure| failure.detail)
                .unwrap()
        };
        let inside = resolve(&home);
        assert_eq!(paths(&inside.write), [home.as_path()]);
        assert_eq!(inside.private, [data.as_path()]);
        assert_eq!(paths(&inside.holes), [scratch.as_path()]);

        let beside = resolve(&project);
        assert_eq!(paths(&beside.write), [scratch.as_path(), project.as_path()]);
        assert!(beside.private.is_empty() && beside.holes.is_empty());
    }

    #[test]
    fn links_outside_are_followed_and_links_a_child_could_have_made_are_not() {
        let (_dir, base) = base();
        let (workspace, tools, secret) =
            (base.join("work"), base.join("tools"), base.join("secret"));
        for path in [&workspace, &tools, &secret] {
            std::fs::create_dir(path).unwrap();
        }
        symlink(&tools, base.join("link")).unwrap();
        symlink(&secret, workspace.join("bin")).unwrap();
        symlink("work/bin", base.join("detour")).unwrap();
        let (link, planted, detour) = (
            base.join("link"),
            workspace.join("bin"),
            base.join("detour"),
        );
        let read: [&Path; 3] = [&link, &planted, &detour];
        let Ok(roots) = Roots::resolve(&confined(&[&workspace], &read, &[])) else {
            panic!("a link left by a child must not stop the next command");
        };
        assert_eq!(paths(&roots.read), [tools.as_path()]);
    }

    #[test]
    fn a_writable_root_that_was_replaced_by_a_link_is_refused() {
        let (_dir, base) = base();
        let (workspace, secret) = (base.join("work"), base.join("secret"));
        for path in [&workspace, &secret] {
            std::fs::create_dir(path).unwrap();
        }
        let scratch = workspace.join("scratch");
        symlink(&secret, &scratch).unwrap();
        let failure = Roots::resolve(&confined(&[&workspace, &scratch], &[], &[]));
        assert!(matches!(
            failure,
            Err(Failure {
                errno: libc::ELOOP,
                ..
            })
        ));
    }
}
