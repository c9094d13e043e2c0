//! A directory that paths are resolved beneath.

use std::path::{Component, Path, PathBuf};

use super::machine::Machine;

/// Whether what lies beneath a root may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    ReadWrite,
    ReadOnly,
}

/// Whether the last part of a path, if it is a link, stands for its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLink {
    Follow,
    Keep,
}

/// A directory and the names under which callers know it.
pub(super) struct Root<M: Machine> {
    pub(super) handle: M::Handle,
    pub(super) rights: Rights,
    /// As given and as it really is.
    names: Vec<PathBuf>,
}

impl<M: Machine> Root<M> {
    /// A directory that really is at `real` and that callers may also know by another name.
    pub(super) fn new(handle: M::Handle, rights: Rights, real: PathBuf, given: &Path) -> Self {
        let mut names = vec![real];
        if given.is_absolute() && given != names[0] {
            names.push(given.to_owned());
        }
        Self {
            handle,
            rights,
            names,
        }
    }

    /// Where it really was when it was opened.
    pub(super) fn path(&self) -> &Path {
        &self.names[0]
    }

    /// The path of this absolute path beneath this root, if it lies there by its text: a relative
    /// one, `.` for the root itself. Decides nothing; the machine resolves what comes out.
    pub(super) fn relative(&self, absolute: &str) -> Option<(usize, String)> {
        relative_to(&self.names, absolute)
    }
}

/// The path of an absolute path beneath a directory of one of these names, by its text, and how many
/// parts the name has.
fn relative_to(names: &[PathBuf], absolute: &str) -> Option<(usize, String)> {
    let parts = visible_parts(absolute);
    let below = |parts: &[&str]| {
        names.iter().find_map(|name| {
            let name = normal_parts(name)?;
            let below = parts.strip_prefix(name.as_slice())?;
            Some((name.len(), below.join("/")))
        })
    };
    // `..` after a link is for who resolves it, unless it climbs over the root itself.
    let (length, below) = below(&parts)
        .filter(|(_, below)| !climbs_out(below))
        .or_else(|| below(&cleaned_parts(&parts)))?;
    Some((
        length,
        if below.is_empty() {
            ".".to_owned()
        } else {
            below
        },
    ))
}

fn normal_parts(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .filter(|part| *part != Component::RootDir)
        .map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect()
}

fn climbs_out(relative: &str) -> bool {
    let mut depth = 0_u32;
    relative.split('/').any(|part| {
        if part == ".." {
            let out = depth == 0;
            depth = depth.saturating_sub(1);
            return out;
        }
        depth += 1;
        false
    })
}

pub(super) fn visible_parts(path: &str) -> Vec<&str> {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect()
}

fn cleaned_parts<'a>(parts: &[&'a str]) -> Vec<&'a str> {
    let mut cleaned = Vec::new();
    for part in parts {
        if *part == ".." {
            cleaned.pop();
        } else {
            cleaned.push(*part);
        }
    }
    cleaned
}
