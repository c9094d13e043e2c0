//! The jobs of a session, by what is written down of them: for who lists them and runs none.

use std::path::Path;

use outfitter_core::{JobId, UnixMs};

use crate::jobs::SPOOLS;
use crate::records;

/// A job as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its id.
    pub id: JobId,
    /// Its command, for people; of a long one the beginning.
    pub command: String,
    /// When it started.
    pub started: UnixMs,
    /// How it stands.
    pub state: RecordedState,
}

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedState {
    /// The program that runs it is there.
    Running,
    /// It has ended so.
    Ended(String),
    /// It was ended with the program that ran it; how far it came is not known.
    Interrupted,
}

/// The jobs of the session with this directory, the last started first; none where there is none.
/// Nothing is changed.
#[must_use]
pub fn recorded_jobs(session_dir: &Path) -> Vec<Recorded> {
    let mut found = records::look(&session_dir.join(SPOOLS));
    found.sort_by_key(|record| std::cmp::Reverse(record.started()));
    let job = |record: records::Record| Recorded {
        id: record.job(),
        command: record.command().to_owned(),
        started: record.started(),
        state: match record.end() {
            Some(words) => RecordedState::Ended(words),
            None if record.runs() => RecordedState::Running,
            None => RecordedState::Interrupted,
        },
    };
    found.into_iter().map(job).collect()
}
