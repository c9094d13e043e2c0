//! What a command sees, as mounts on an empty root.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outfitter_process::Confined;

/// One mount, on the path that it also comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mount {
    /// A symbolic link to this.
    Link(PathBuf),
    /// Read-only.
    ReadOnly,
    /// Read and write.
    Writable,
    /// Nothing, and not even that can be listed.
    HiddenDirectory,
    /// Nothing that can be opened.
    HiddenFile,
    /// A file without content.
    Blank,
    /// A directory without content.
    Nothing,
}

impl Mount {
    fn shows(&self) -> bool {
        match self {
            Self::ReadOnly | Self::Writable => true,
            Self::Link(_)
            | Self::HiddenDirectory
            | Self::HiddenFile
            | Self::Blank
            | Self::Nothing => false,
        }
    }
}

/// Mounts in the order in which they are made: what lies in another comes after it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MountPlan(BTreeMap<PathBuf, Mount>);

impl MountPlan {
    pub(crate) fn mounts(self) -> impl Iterator<Item = (PathBuf, Mount)> {
        self.0.into_iter()
    }

    /// What lies in a writable tree, and is a mount of its own.
    pub(crate) fn in_writable(&self) -> impl Iterator<Item = (&Path, &Mount)> {
        let lies_in_one = |path: &Path| {
            let mut above = path.ancestors().skip(1);
            above.any(|above| matches!(self.0.get(above), Some(Mount::Writable)))
        };
        let mounts = self.0.iter().map(|(path, mount)| (path.as_path(), mount));
        mounts.filter(move |(path, _)| lies_in_one(path))
    }

    /// Whether a directory is there to work in.
    pub(crate) fn shows(&self, directory: &Path) -> bool {
        self.seen(directory).is_some_and(|real| real.is_dir())
    }

    /// Whether a file is there.
    pub(crate) fn shows_file(&self, file: &Path) -> bool {
        self.seen(file).is_some_and(|real| real.is_file())
    }

    /// A directory that is there and has nothing in it, where none would be.
    pub(crate) fn pretend(&mut self, directory: &Path) {
        if !is_within(self, directory) {
            self.put(directory.to_owned(), Mount::Nothing);
        }
    }

    /// Where a path leads, if that is shown.
    fn seen(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        let nearest = real.ancestors().find_map(|above| self.0.get(above))?;
        nearest.shows().then_some(real)
    }

    /// A link in a tree that is shown is shown with it; one cannot be made where one is.
    fn drop_links_that_are_there(&mut self) {
        let swallowed: Vec<PathBuf> = self
            .0
            .iter()
            .filter(|(_, mount)| matches!(mount, Mount::Link(_)))
            .filter(|(path, _)| {
                let mut above = path.ancestors().skip(1);
                let nearest = above.find_map(|above| self.0.get(above));
                nearest.is_some_and(Mount::shows)
            })
            .map(|(path, _)| path.clone())
            .collect();
        for path in swallowed {
            self.0.remove(&path);
        }
    }

    fn put(&mut self, path: PathBuf, mount: Mount) {
        self.0.insert(path, mount);
    }
}

/// The plan of what a command may see. What is not there is left out.
pub(crate) fn plan(confined: &Confined) -> MountPlan {
    let mut plan = MountPlan::default();
    // What lies in a writable tree is shown with it. By itself it could be replaced by a link that
    // shows something else. In a tree of our own beneath it nothing can be replaced.
    let is_one = |trees: &[PathBuf], path: &Path| trees.iter().any(|tree| tree == path);
    let in_writable = |path: &Path| {
        let mut above = path.ancestors().skip(1).skip_while(|above| {
            !is_one(&confined.write, above) && !is_one(&confined.private, above)
        });
        above
            .next()
            .is_some_and(|above| is_one(&confined.write, above))
    };
    for path in confined.read.iter().filter(|path| !in_writable(path)) {
        show(&mut plan, path, &Mount::ReadOnly);
    }
    // Files in a hidden tree that a session may use come after the tree, because they lie in it.
    for path in confined.private.iter().chain(&confined.hide) {
        hide(&mut plan, path);
    }
    for path in &confined.blank {
        if path.is_file() && is_within(&plan, path) {
            plan.put(path.clone(), Mount::Blank);
        }
    }
    for path in confined.write.iter().filter(|path| !in_writable(path)) {
        show(&mut plan, path, &Mount::Writable);
    }
    for path in &confined.fixed {
        pin(&mut plan, path);
        if let Some(real) = plan.seen(path) {
            plan.put(real, Mount::ReadOnly);
        }
    }
    // Again: what is hidden is hidden in writable trees too, and cannot be moved away there. A tree
    // of our own may be above such a tree, and is none.
    let ours = confined
        .private
        .iter()
        .filter(|path| !is_one(&confined.write, path));
    for path in ours.chain(&confined.hide) {
        pin(&mut plan, path);
        hide(&mut plan, path);
    }
    plan.drop_links_that_are_there();
    plan
}

/// A tree or file by its own name, and by the one it was asked by where that is a link.
fn show(plan: &mut MountPlan, path: &Path, mount: &Mount) {
    let Ok(real) = path.canonicalize() else {
        return;
    };
    if real != path {
        let above = path.parent().and_then(|parent| parent.canonicalize().ok());
        let name = above
            .zip(path.file_name())
            .map(|(above, name)| above.join(name));
        if let Some(name) = name.filter(|name| *name != real && !is_within(plan, name)) {
            let target = std::fs::read_link(&name).unwrap_or_else(|_| real.clone());
            plan.put(name, Mount::Link(target));
        }
    }
    plan.put(real, mount.clone());
}

/// Covers what lies in something that is shown; the rest is not there anyway.
fn hide(plan: &mut MountPlan, path: &Path) {
    let Ok(real) = path.canonicalize() else {
        return;
    };
    if !is_within(plan, &real) {
        return;
    }
    let mount = if real.is_dir() {
        Mount::HiddenDirectory
    } else {
        Mount::HiddenFile
    };
    plan.put(real, mount);
}

/// Makes the directories between a writable root and a path in it mounts of their own: what is
/// mounted cannot be renamed, so nothing is moved away together with them.
fn pin(plan: &mut MountPlan, path: &Path) {
    let Ok(real) = path.canonicalize() else {
        return;
    };
    let root = real
        .ancestors()
        .skip(1)
        .find(|above| matches!(plan.0.get(*above), Some(Mount::Writable)))
        .map(Path::to_owned);
    let Some(root) = root else {
        return;
    };
    for above in real.ancestors().skip(1).take_while(|above| **above != root) {
        plan.0.entry(above.to_owned()).or_insert(Mount::Writable);
    }
}

fn is_within(plan: &MountPlan, path: &Path) -> bool {
    path.ancestors()
        .any(|above| matches!(plan.0.get(above), Some(Mount::ReadOnly | Mount::Writable)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_process::{Level, Network};

    #[rstest::rstest]
    #[case::link_first(["link", "."])]
    #[case::tree_first([".", "link"])]
    fn a_link_in_a_readable_tree_is_not_made_a_second_time(#[case] read: [&str; 2]) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let etc = base.join("etc");
        std::fs::create_dir(&etc).unwrap();
        std::fs::write(base.join("zone"), "").unwrap();
        std::os::unix::fs::symlink("../zone", etc.join("link")).unwrap();
        let in_etc = |name: &str| match name {
            "." => etc.clone(),
            name => etc.join(name),
        };
        let planned = plan(&Confined {
            level: Level::Full,
            network: Network::Off,
            write: Vec::new(),
            read: read.into_iter().map(in_etc).collect(),
            fixed: Vec::new(),
            hide: Vec::new(),
            private: Vec::new(),
            blank: Vec::new(),
        });
        let mounts: Vec<_> = planned.mounts().collect();
        let zone = (base.join("zone"), Mount::ReadOnly);
        assert_eq!(mounts, [(etc, Mount::ReadOnly), zone]);
    }
}
