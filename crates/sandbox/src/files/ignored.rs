//! What `.gitignore` files leave out. Their content is read through our own handles; the matching is
//! that of the `ignore` crate. `.git/info/exclude` counts too; a file of the user outside the
//! workspace does not. A repository inside the workspace starts afresh, as in git.

use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use outfitter_core::FileKind;

use super::error::Failure;
use super::limits::MAX_IGNORE_BYTES;
use super::machine::{Below, Machine, OpenFile as _};
use super::notes::Notes;

/// The rules of one directory, over those of the directories above.
#[derive(Debug)]
pub(super) struct Level {
    above: Option<Arc<Level>>,
    /// Where in a shown path the part beneath this directory begins.
    offset: usize,
    rules: Option<Gitignore>,
    exclude: Option<Gitignore>,
    is_repository: bool,
}

/// What a directory holds that matters here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Signs {
    pub(super) ignore_file: bool,
    pub(super) repository: bool,
}

impl Level {
    /// The rules for what is in `directory`, whose entries are shown as `prefix` and their name.
    pub(super) fn of<M: Machine>(
        machine: &M,
        directory: &M::Handle,
        prefix: &str,
        above: Option<&Arc<Self>>,
        signs: Signs,
        notes: &mut Notes,
    ) -> Option<Arc<Self>> {
        let content = |name: &str| content_of(machine, directory, name);
        let mut rules = |name: &str| rules_of(content(name)?, &format!("{prefix}{name}"), notes);
        let own = signs.ignore_file.then(|| rules(".gitignore")).flatten();
        let exclude = signs
            .repository
            .then(|| rules(".git/info/exclude"))
            .flatten();
        if own.is_none() && exclude.is_none() && !signs.repository {
            return above.cloned();
        }
        Some(Arc::new(Self {
            above: above.cloned(),
            offset: prefix.len(),
            rules: own,
            exclude,
            is_repository: signs.repository,
        }))
    }

    /// The signs of a directory that is not listed anyway.
    pub(super) fn signs_of<M: Machine>(machine: &M, directory: &M::Handle) -> Signs {
        let is_there = |name: &str| machine.stat(directory, name).is_ok();
        Signs {
            ignore_file: is_there(".gitignore"),
            repository: is_there(".git"),
        }
    }

    /// Whether the entry shown so is left out. The nearest rule decides.
    pub(super) fn leaves_out(&self, shown: &str, is_directory: bool) -> bool {
        let mut level = Some(self);
        // Exclusions of a repository are weaker than any of its ignore files.
        let mut excluded = None;
        while let Some(here) = level {
            let below = shown.get(here.offset..).unwrap_or(shown);
            let verdict = |rules: &Option<Gitignore>| {
                let matched = rules.as_ref()?.matched(below, is_directory);
                (!matched.is_none()).then(|| matched.is_ignore())
            };
            if let Some(ignored) = verdict(&here.rules) {
                return ignored;
            }
            excluded = excluded.or_else(|| verdict(&here.exclude));
            if here.is_repository {
                break;
            }
            level = here.above.as_deref();
        }
        excluded.unwrap_or(false)
    }
}

/// The content of a small file, one byte more than counts at most; none where it is no file.
fn content_of<M: Machine>(
    machine: &M,
    directory: &M::Handle,
    path: &str,
) -> Option<Result<Vec<u8>, Failure>> {
    let below = Below { path, seen: None };
    let (file, facts) = machine.open_below(directory, below).ok()?;
    if facts.kind() != FileKind::File {
        return None;
    }
    let most = usize::try_from(MAX_IGNORE_BYTES + 1).unwrap_or(usize::MAX);
    Some(file.read(0, most))
}

fn rules_of(content: Result<Vec<u8>, Failure>, path: &str, notes: &mut Notes) -> Option<Gitignore> {
    let content = match content {
        Ok(content) => content,
        Err(why) => {
            notes.skipped(path, why);
            return None;
        }
    };
    if content.len() as u64 > MAX_IGNORE_BYTES {
        notes.skipped(
            path,
            format_args!("longer than {MAX_IGNORE_BYTES} bytes, not applied"),
        );
        return None;
    }
    let content = String::from_utf8_lossy(&content);
    let mut builder = GitignoreBuilder::new("");
    for line in content.trim_start_matches('\u{feff}').lines() {
        if let Err(error) = builder.add_line(None, line) {
            notes.skipped(path, error);
        }
    }
    match builder.build() {
        Ok(rules) if rules.is_empty() => None,
        Ok(rules) => Some(rules),
        Err(error) => {
            notes.skipped(path, error);
            None
        }
    }
}
