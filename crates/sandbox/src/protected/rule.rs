//! One path that is protected, with all that lies in it.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::spelling::{clean_parts, fold};
use crate::identities::MAX_IDENTITY_DEPTH;

#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// The path as given, for masks and identities.
    pub(super) path: PathBuf,
    /// Its folded components.
    pub(super) parts: Vec<String>,
    /// Whether the last part is only how a name begins.
    pub(super) open_ended: bool,
    /// What lies in it and is not meant, as paths and as folded components.
    pub(super) except: Vec<(PathBuf, Vec<String>)>,
    /// How deep it is looked into for identities.
    pub(super) depth: u32,
    pub(super) why: &'static str,
}

impl Rule {
    pub(super) fn new(path: PathBuf, why: &'static str) -> Self {
        let mut text = path.to_string_lossy().into_owned();
        let open_ended = text.ends_with('*');
        if open_ended {
            text.pop();
        }
        Self {
            parts: clean_parts(&fold(&text)),
            path: if open_ended { text.into() } else { path },
            open_ended,
            except: Vec::new(),
            depth: MAX_IDENTITY_DEPTH,
            why,
        }
    }

    pub(super) fn covers(&self, parts: &[String]) -> bool {
        let Some((last, before)) = self.parts.split_last() else {
            return false;
        };
        if self.except.iter().any(|(_, own)| parts.starts_with(own)) {
            return false;
        }
        parts.len() >= self.parts.len()
            && parts[..before.len()] == *before
            && if self.open_ended {
                parts[before.len()].starts_with(last)
            } else {
                parts[before.len()] == *last
            }
    }

    /// The paths it stands for that exist now.
    pub(super) fn existing(&self) -> Vec<PathBuf> {
        if !self.open_ended {
            return Vec::from_iter(
                self.path
                    .symlink_metadata()
                    .is_ok()
                    .then(|| self.path.clone()),
            );
        }
        let (Some(parent), Some(start)) = (self.path.parent(), self.path.file_name()) else {
            return Vec::new();
        };
        let Ok(entries) = parent.read_dir() else {
            return Vec::new();
        };
        let begins = |name: &OsStr| {
            name.as_encoded_bytes()
                .starts_with(start.as_encoded_bytes())
        };
        let mut found: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .filter(|entry| begins(&entry.file_name()))
            .map(|entry| entry.path())
            .collect();
        found.sort();
        found
    }
}
