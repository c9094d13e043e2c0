//! Listing a directory.

use std::cmp::Ordering;
use std::collections::VecDeque;

use outfitter_core::{FilesError, List, Listed};

use super::cancel::Gone;
use super::limits::MAX_RESULTS;
use super::machine::Machine;
use super::place::Place;
use super::scan::{Rules, Scanner, Start};

/// Level by level, so that a limit cuts the depths and not the names beside the first big
/// directory; then in the order of the paths.
pub(super) fn list<M: Machine>(
    place: &Place<'_, M>,
    list: &List,
    gone: &Gone,
) -> Result<Listed, FilesError> {
    let start = Start::of(place)?;
    start.pinned.must_be_directory(&place.shown)?;
    let rules = Rules {
        hidden: list.hidden,
        ignored: list.ignored,
    };
    let mut scanner = Scanner::new(place, &start, rules, gone);
    let limit = list.max_items.min(MAX_RESULTS);
    let mut entries = Vec::new();
    let mut waiting = VecDeque::new();
    let mut found = scanner.first(&|_, _| true)?;
    loop {
        for entry in found {
            if entries.len() >= limit {
                scanner.notes.truncated = true;
                break;
            }
            if entry.enters && entry.depth < list.depth {
                waiting.push_back((entries.len(), entry));
                // Its place; the entry itself still has to be entered.
                entries.push(None);
            } else {
                entries.push(Some(entry.entry()));
            }
        }
        let Some((at, directory)) = waiting.pop_front() else {
            break;
        };
        found = if scanner.notes.truncated {
            Vec::new()
        } else {
            scanner.below(&directory, &|_, _| true)?
        };
        entries[at] = Some(directory.entry());
    }
    let mut entries: Vec<_> = entries.into_iter().flatten().collect();
    entries.sort_by(|a, b| by_path(&a.path, &b.path));
    Ok(Listed {
        walked: scanner.notes.finish(!entries.is_empty()),
        entries,
    })
}

/// A directory comes right before what is in it.
fn by_path(a: &str, b: &str) -> Ordering {
    a.split('/').cmp(b.split('/'))
}
