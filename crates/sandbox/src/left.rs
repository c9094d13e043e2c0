//! What sessions that nobody is in have left of the output of their jobs: bounded for all of them
//! together, because there may be any number.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::jobs::SPOOLS;
use crate::occupied::Vacant;
use crate::spool::job_of;

/// The most that all sessions together leave of the output of their jobs. What was printed longest
/// ago goes first.
pub const ALL_LEFT_SPOOL_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// How many files that cannot be removed are named.
const TOLD: usize = 3;

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many bytes went.
    pub removed: u64,
    /// What should have gone and could not, one sentence each.
    pub stays: Vec<String>,
    failures: usize,
}

impl Swept {
    fn failed(&mut self, file: &Path, error: &std::io::Error) {
        self.failures += 1;
        if self.failures <= TOLD {
            let file = file.display();
            self.stays
                .push(format!("{file} cannot be removed: {error}"));
        }
    }

    fn tell_of_more(&mut self) {
        if self.failures > TOLD {
            let more = self.failures - TOLD;
            self.stays.push(format!("{more} more cannot be removed"));
        }
    }
}

/// The output of one job.
struct Left {
    last: SystemTime,
    bytes: u64,
    files: Vec<PathBuf>,
}

/// Removes output of sessions that no program is in, the oldest first, until all that these
/// directories hold of it is within the bound, or the rest is of sessions that are open. Jobs whose
/// output is gone are known by their names still.
#[must_use]
pub fn keep_within(most: u64, session_dirs: &[PathBuf]) -> Swept {
    let mut all: Vec<(&PathBuf, Left)> = session_dirs
        .iter()
        .flat_map(|dir| left_in(dir).into_values().map(move |left| (dir, left)))
        .collect();
    let mut held: u64 = all.iter().map(|(_, left)| left.bytes).sum();
    all.sort_by_key(|(_, left)| left.last);
    let mut swept = Swept::default();
    for (dir, left) in all {
        if held <= most {
            break;
        }
        // For each: nobody is kept from a session for longer than it takes to remove two files.
        let Some(_vacant) = Vacant::take(dir) else {
            continue;
        };
        let before = swept.failures;
        for file in &left.files {
            if let Err(error) = std::fs::remove_file(file) {
                swept.failed(file, &error);
            }
        }
        if swept.failures == before {
            held -= left.bytes;
            swept.removed += left.bytes;
        }
    }
    swept.tell_of_more();
    swept
}

/// What a session has of its jobs.
fn left_in(session_dir: &Path) -> BTreeMap<String, Left> {
    let mut left: BTreeMap<String, Left> = BTreeMap::new();
    let entries = std::fs::read_dir(session_dir.join(SPOOLS));
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(job) = name.to_str().and_then(job_of) else {
            continue;
        };
        // Of the entry itself: a link is none of ours.
        let Ok(about) = entry.metadata() else {
            continue;
        };
        let last = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let one = left.entry(job.to_owned()).or_insert_with(|| Left {
            last,
            bytes: 0,
            files: Vec::new(),
        });
        one.last = one.last.max(last);
        one.bytes += about.len();
        one.files.push(entry.path());
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupied::Occupied;
    use std::fs;
    use std::time::Duration;

    /// Sessions with one job each, of a hundred bytes and one, the first the oldest.
    fn sessions(base: &Path, names: &[&str]) -> Vec<PathBuf> {
        let now = SystemTime::now();
        let dirs = names.iter().zip(1..).map(|(name, number)| {
            let jobs = base.join(name).join(SPOOLS);
            fs::create_dir_all(&jobs).unwrap();
            for (file, bytes) in [("job_a.out", 100), ("job_a.streams", 1), ("job_a.json", 50)] {
                let path = jobs.join(file);
                fs::write(&path, vec![b'x'; bytes]).unwrap();
                let age = Duration::from_secs(1000 - number);
                let opened = fs::File::open(path).unwrap();
                opened.set_modified(now - age).unwrap();
            }
            base.join(name)
        });
        dirs.collect()
    }

    fn with_output(dirs: &[PathBuf]) -> Vec<bool> {
        let jobs = dirs.iter().map(|dir| dir.join(SPOOLS));
        let whole = jobs.map(|jobs| {
            let there = ["job_a.out", "job_a.streams"].map(|name| jobs.join(name).exists());
            assert_eq!(there[0], there[1], "both or none");
            assert!(jobs.join("job_a.json").exists(), "it is known by its name");
            there[0]
        });
        whole.collect()
    }

    #[test]
    fn what_was_printed_longest_ago_goes_until_the_rest_is_within_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = sessions(dir.path(), &["a", "b", "c", "d"]);
        assert_eq!(keep_within(404, &dirs).removed, 0);
        assert_eq!(keep_within(403, &dirs).removed, 101);
        assert_eq!(with_output(&dirs), [false, true, true, true]);
        assert_eq!(keep_within(101, &dirs).removed, 202);
        assert_eq!(with_output(&dirs), [false, false, false, true]);
        assert_eq!(keep_within(0, &dirs).removed, 101);
        assert_eq!(keep_within(0, &dirs).removed, 0);
    }

    #[test]
    fn the_output_of_a_session_that_is_open_stays() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = sessions(dir.path(), &["a", "b"]);
        let open = Occupied::enter(&dirs[0]).unwrap();
        assert_eq!(keep_within(0, &dirs).removed, 101);
        assert_eq!(with_output(&dirs), [true, false]);
        drop(open);
        assert_eq!(keep_within(0, &dirs).removed, 101);
    }

    /// It went on, and nobody was told.
    #[test]
    fn what_cannot_be_removed_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = sessions(dir.path(), &["a", "b"]);
        let file = dirs[0].join(SPOOLS).join("job_a.out");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        let swept = keep_within(0, &dirs);
        assert_eq!(swept.removed, 101);
        assert_eq!(swept.stays.len(), 1, "{swept:?}");
        assert!(
            swept.stays[0].starts_with(&format!("{} cannot be removed", file.display())),
            "{swept:?}"
        );
    }
}
