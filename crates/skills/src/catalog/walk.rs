//! Finding the skills below a root.
//!
//! A directory with a `SKILL.md` is a skill, and nothing inside it is searched further. Directories
//! are searched level by level, each level in the order of names, so that of two skills of one name
//! the one nearer to the root counts. A link to a directory is followed where it lies directly in
//! the root and leads out of it; no other link is.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::limits::{MAX_DEPTH, MAX_DIAGNOSTICS, MAX_DIRECTORIES, MAX_ENTRIES};
use crate::problem::{Diagnostic, Problem};
use crate::skill::SKILL_FILE;

/// A directory with a SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) directory: PathBuf,
    /// The name of the file as it is written.
    pub(super) file: String,
}

/// What lies below a root.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) found: Vec<Found>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Searches a root.
pub(super) fn walk(root: &Path) -> Walked {
    let mut walk = Walk {
        root,
        real_root: root.canonicalize().unwrap_or_else(|_| root.to_owned()),
        seen: HashSet::new(),
        directories: 0,
        more: 0,
        walked: Walked::default(),
    };
    match fs::metadata(root) {
        Ok(metadata) if metadata.is_dir() => walk.search(),
        Ok(_) => walk.tell(root, Problem::RootMissing, "it is not a directory"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            walk.tell(root, Problem::RootMissing, "there is no such directory");
        }
        Err(error) => walk.tell(root, Problem::DirectoryUnreadable, error.to_string()),
    }
    if walk.more > 0 {
        let message = format!(
            "{} more diagnostics of this directory are left out",
            walk.more
        );
        walk.walked
            .diagnostics
            .push(Diagnostic::new(root, Problem::MoreDiagnostics, message));
    }
    walk.walked
}

struct Walk<'r> {
    root: &'r Path,
    real_root: PathBuf,
    /// The directories that were searched, by device and inode.
    seen: HashSet<(u64, u64)>,
    directories: usize,
    more: usize,
    walked: Walked,
}

/// A directory to be searched.
struct Place {
    path: PathBuf,
    depth: usize,
    /// The directory directly in the root that it is or lies in.
    top: Option<usize>,
}

impl Walk<'_> {
    fn search(&mut self) {
        let mut tops: Vec<(PathBuf, bool)> = Vec::new();
        let mut waiting = VecDeque::from([Place {
            path: self.root.to_owned(),
            depth: 0,
            top: None,
        }]);
        while let Some(place) = waiting.pop_front() {
            if !self.enter(&place.path) {
                continue;
            }
            let Some(entries) = self.entries(&place.path) else {
                continue;
            };
            if let Some(file) = skill_file(&place.path, &entries) {
                if let Some((_, has_skill)) = place.top.and_then(|top| tops.get_mut(top)) {
                    *has_skill = true;
                }
                self.tell_nested(&place.path, &entries);
                self.walked.found.push(Found {
                    directory: place.path,
                    file,
                });
                continue;
            }
            for child in self.children(&place, entries) {
                let top = place.top.unwrap_or(tops.len());
                if place.top.is_none() {
                    tops.push((child.clone(), false));
                }
                waiting.push_back(Place {
                    path: child,
                    depth: place.depth + 1,
                    top: Some(top),
                });
            }
        }
        for (path, _) in tops.iter().filter(|(_, has_skill)| !has_skill) {
            self.tell(
                path,
                Problem::NoSkill,
                format!("there is no {SKILL_FILE} in it that could be used"),
            );
        }
    }

    /// Whether a directory is to be searched.
    fn enter(&mut self, path: &Path) -> bool {
        self.directories += 1;
        if self.directories > MAX_DIRECTORIES {
            if self.directories == MAX_DIRECTORIES + 1 {
                let message =
                    format!("more than {MAX_DIRECTORIES} directories; the rest is not searched");
                self.tell(self.root, Problem::DirectoryLimit, message);
            }
            return false;
        }
        match fs::metadata(path) {
            Ok(metadata) if self.seen.insert((metadata.dev(), metadata.ino())) => true,
            Ok(_) => {
                self.tell(
                    path,
                    Problem::LinkSeen,
                    "it leads to a directory that was searched already",
                );
                false
            }
            Err(error) => {
                self.tell(path, Problem::DirectoryUnreadable, error.to_string());
                false
            }
        }
    }

    /// The names in a directory, sorted.
    fn entries(&mut self, path: &Path) -> Option<Vec<String>> {
        let listed = match fs::read_dir(path) {
            Ok(listed) => listed,
            Err(error) => {
                self.tell(path, Problem::DirectoryUnreadable, error.to_string());
                return None;
            }
        };
        let mut names = Vec::new();
        for entry in listed.take(MAX_ENTRIES) {
            match entry.map(|entry| entry.file_name().into_string()) {
                Ok(Ok(name)) => names.push(name),
                Ok(Err(name)) => {
                    self.tell(
                        &path.join(name),
                        Problem::PathNotUtf8,
                        "its name is not UTF-8",
                    );
                }
                Err(error) => self.tell(path, Problem::DirectoryUnreadable, error.to_string()),
            }
        }
        if names.len() >= MAX_ENTRIES {
            let message = format!("only {MAX_ENTRIES} of its entries are looked at");
            self.tell(path, Problem::DirectoryLimit, message);
        }
        names.sort_unstable();
        Some(names)
    }

    /// The directories in a directory that are to be searched: real ones, then links.
    fn children(&mut self, place: &Place, entries: Vec<String>) -> Vec<PathBuf> {
        let (mut real, mut linked) = (Vec::new(), Vec::new());
        for name in entries {
            let path = place.path.join(&name);
            let Ok(metadata) = fs::symlink_metadata(&path) else {
                continue;
            };
            if metadata.is_dir() {
                if is_skipped(&name) {
                    self.tell(
                        &path,
                        Problem::DirectorySkipped,
                        "hidden directories and node_modules are not searched",
                    );
                } else if place.depth >= MAX_DEPTH {
                    let message =
                        format!("it lies deeper than {MAX_DEPTH} levels and is not searched");
                    self.tell(&path, Problem::DepthLimit, message);
                } else {
                    real.push(path);
                }
            } else if metadata.is_symlink()
                && !is_skipped(&name)
                && self.is_to_be_followed(&path, place.depth)
            {
                linked.push(path);
            }
        }
        real.append(&mut linked);
        real
    }

    fn is_to_be_followed(&mut self, link: &Path, depth: usize) -> bool {
        match link.canonicalize() {
            Ok(target) if !target.is_dir() => false,
            Ok(_) if depth > 0 => {
                self.tell(
                    link,
                    Problem::LinkNotFollowed,
                    "only links directly in the root are followed",
                );
                false
            }
            Ok(target) if target.starts_with(&self.real_root) => {
                self.tell(
                    link,
                    Problem::LinkSeen,
                    "it leads back into the root, which is searched anyway",
                );
                false
            }
            Ok(_) => true,
            Err(error) => {
                self.tell(
                    link,
                    Problem::LinkBroken,
                    format!("it leads nowhere: {error}"),
                );
                false
            }
        }
    }

    /// Notes every SKILL.md inside a skill: it belongs to that skill.
    fn tell_nested(&mut self, skill: &Path, entries: &[String]) {
        let mut waiting: Vec<(PathBuf, usize)> = vec![];
        let below = |path: &Path, depth: usize, names: &[String]| -> Vec<(PathBuf, usize)> {
            let open = names
                .iter()
                .filter(|name| !is_skipped(name))
                .map(|name| path.join(name));
            let real =
                |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
            open.filter(real).map(|path| (path, depth)).collect()
        };
        waiting.extend(below(skill, 1, entries));
        while let Some((path, depth)) = waiting.pop() {
            self.directories += 1;
            if depth > MAX_DEPTH || self.directories > MAX_DIRECTORIES {
                continue;
            }
            let Some(names) = self.entries(&path) else {
                continue;
            };
            if let Some(file) = skill_file(&path, &names) {
                let message = format!(
                    "it lies inside the skill {} and belongs to it",
                    skill.display()
                );
                self.tell(&path.join(file), Problem::NestedSkill, message);
            }
            waiting.extend(below(&path, depth + 1, &names));
        }
    }

    fn tell(&mut self, path: &Path, code: Problem, message: impl Into<String>) {
        if self.walked.diagnostics.len() < MAX_DIAGNOSTICS {
            self.walked
                .diagnostics
                .push(Diagnostic::new(path, code, message));
        } else {
            self.more += 1;
        }
    }
}

/// The SKILL.md among the names of a directory, else one that is written otherwise.
fn skill_file(directory: &Path, names: &[String]) -> Option<String> {
    let is_file = |name: &&String| !directory.join(name).is_dir();
    let exact = names
        .iter()
        .find(|name| *name == SKILL_FILE)
        .filter(is_file);
    let otherwise = || {
        names
            .iter()
            .filter(|name| name.eq_ignore_ascii_case(SKILL_FILE))
            .find(is_file)
    };
    exact.or_else(otherwise).cloned()
}

fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}
