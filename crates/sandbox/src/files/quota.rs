//! How many bytes a session's files may have: a running count, not a walk for each write.
//!
//! Room is taken before anything is written and given back when the write comes to nothing. What
//! commands write passes no file tool and is not counted as it is written; what they have written
//! is, at the next write: a workspace is measured again while a command runs, and after it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outfitter_core::{FileKind, FilesError};

use super::limits::{FileQuota, MAX_WALKED, QuotaCounts};
use super::machine::Machine;

/// The count of one session. Clones are the same count.
#[derive(Debug, Clone, Default)]
pub(super) struct Used(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Held while a workspace is walked, so only where waiting blocks nobody else.
    count: Mutex<Count>,
    commands: Commands,
}

/// The commands that may write. They begin and end where nothing waits for a walk.
#[derive(Debug, Default)]
struct Commands {
    begun: AtomicU64,
    ended: AtomicU64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    /// All that counts, what is pending among it; nothing before the first write.
    used: Option<u64>,
    /// What room was taken for and may not be there yet.
    pending: u64,
    /// How many commands had ended when it was measured: what they wrote was seen whole.
    seen: u64,
}

/// A command that may be writing, until this is dropped.
pub(crate) struct Writing(Used);

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.0.commands.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl Used {
    /// A command that may write begins.
    pub(super) fn command_begins(&self) -> Writing {
        self.0.commands.begun.fetch_add(1, Ordering::SeqCst);
        Writing(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Count> {
        let count = self.0.count.lock();
        count.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room that was taken for a write; given back unless it is kept.
pub(super) struct Room<'a> {
    quota: Option<FileQuota>,
    used: &'a Used,
    workspace: &'a dyn Measured,
    bytes: u64,
}

/// What can be counted as it is now.
pub(super) trait Measured {
    /// The sizes of all regular files, each name once, through no link. Of a tree with more than
    /// [`MAX_WALKED`] entries, of so many. What cannot be entered has no size.
    fn bytes(&self) -> u64;
}

impl<'a> Room<'a> {
    /// No room yet, of this quota.
    pub(super) fn of(
        quota: Option<FileQuota>,
        used: &'a Used,
        workspace: &'a dyn Measured,
    ) -> Self {
        Self {
            quota,
            used,
            workspace,
            bytes: 0,
        }
    }

    /// Takes so much more, or tells that there is not so much.
    pub(super) fn take(&mut self, shown: &str, more: u64) -> Result<(), FilesError> {
        let Some(quota) = self.quota else {
            return Ok(());
        };
        if more == 0 {
            return Ok(());
        }
        let mut count = self.used.lock();
        let measures = quota.counts == QuotaCounts::Workspace;
        let commands = &self.used.0.commands;
        // One that has ended has begun: read first, it is never the greater.
        let ended = commands.ended.load(Ordering::SeqCst);
        let is_outdated = commands.begun.load(Ordering::SeqCst) != count.seen;
        // Before it is refused, too: somebody else may have made room. What others have taken room
        // for may not be there yet; what this one has, is.
        let used = match count.used {
            _ if !measures => count.used.unwrap_or(0),
            Some(used) if !is_outdated && used.saturating_add(more) <= quota.bytes => used,
            Some(_) | None => {
                count.seen = ended;
                let pending = count.pending.saturating_sub(self.bytes);
                self.workspace.bytes().saturating_add(pending)
            }
        };
        let after = used.saturating_add(more);
        if after > quota.bytes {
            count.used = Some(used);
            return Err(FilesError::OverQuota {
                path: shown.to_owned(),
                more,
                used,
                limit: quota.bytes,
            });
        }
        count.used = Some(after);
        count.pending = count.pending.saturating_add(more);
        self.bytes = self.bytes.saturating_add(more);
        Ok(())
    }

    /// The write was made; `freed` bytes of others went with it.
    pub(super) fn keep(mut self, freed: u64) {
        let taken = std::mem::take(&mut self.bytes);
        self.settle(taken, freed);
    }

    fn settle(&self, taken: u64, freed: u64) {
        if self.quota.is_none() {
            return;
        }
        let mut count = self.used.lock();
        count.pending = count.pending.saturating_sub(taken);
        count.used = count.used.map(|used| used.saturating_sub(freed));
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.settle(self.bytes, self.bytes);
    }
}

/// What [`Measured`] means, of the files of a machine that has only names: what lies deeper than a
/// path can be long has no size.
pub(super) fn bytes_beneath<M: Machine>(machine: &M, root: &M::Handle) -> u64 {
    let (mut bytes, mut seen) = (0_u64, 0_u64);
    let mut waiting = vec![".".to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(listing) = machine.list(root, &path, MAX_WALKED) else {
            continue;
        };
        for entry in listing.entries {
            seen += 1;
            if seen > MAX_WALKED {
                return bytes;
            }
            let facts = || machine.stat(&listing.directory, &entry.name).ok();
            let Some(facts) = entry.facts.or_else(facts) else {
                continue;
            };
            match facts.kind() {
                FileKind::File => bytes = bytes.saturating_add(facts.size()),
                // A name that is not text is entered by no tool either.
                FileKind::Directory if entry.exact => {
                    waiting.push(format!("{path}/{}", entry.name));
                }
                FileKind::Directory | FileKind::Symlink | FileKind::Special => {}
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A workspace in which a command begins and ends while it is measured.
    struct Meanwhile<'u>(&'u Used);

    impl Measured for Meanwhile<'_> {
        fn bytes(&self) -> u64 {
            let used = self.0.clone();
            let (done, is_done) = sync_channel(1);
            thread::spawn(move || {
                drop(used.command_begins());
                done.send(()).unwrap();
            });
            u64::from(is_done.recv_timeout(Duration::from_secs(30)).is_err())
        }
    }

    const QUOTA: Option<FileQuota> = Some(FileQuota {
        bytes: 10,
        counts: QuotaCounts::Workspace,
    });

    #[test]
    fn no_command_waits_for_a_workspace_that_is_measured() {
        let used = Used::default();
        let workspace = Meanwhile(&used);
        let error = Room::of(QUOTA, &used, &workspace)
            .take("a", 11)
            .unwrap_err();
        assert!(
            matches!(error, FilesError::OverQuota { used: 0, .. }),
            "the command waited: {error:?}"
        );
    }

    /// A workspace that counts how often it is measured.
    #[derive(Default)]
    struct Times(AtomicU64);

    impl Measured for Times {
        fn bytes(&self) -> u64 {
            self.0.fetch_add(1, Ordering::SeqCst);
            0
        }
    }

    #[test]
    fn it_is_measured_again_while_a_command_runs_and_once_after_it() {
        let (used, workspace) = (Used::default(), Times::default());
        let times = || {
            Room::of(QUOTA, &used, &workspace).take("a", 1).unwrap();
            workspace.0.load(Ordering::SeqCst)
        };
        assert_eq!([times(), times()], [1, 1]);
        let (one, other) = (used.command_begins(), used.command_begins());
        assert_eq!([times(), times()], [2, 3]);
        drop(one);
        assert_eq!([times(), times()], [4, 5]);
        drop(other);
        assert_eq!([times(), times()], [6, 6]);
    }
}
