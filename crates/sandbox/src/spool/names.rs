//! What the files of a spool are called.

use std::path::{Path, PathBuf};

use outfitter_core::JobId;

/// The ends of the files' names.
const BYTES: &str = "out";
const CHANGES: &str = "streams";
const GONE: &str = "gone";

/// Those of a job: its bytes, where the streams change, and what is gone.
pub(super) fn names(dir: &Path, job: &JobId) -> [PathBuf; 3] {
    [BYTES, CHANGES, GONE].map(|end| dir.join(format!("{job}.{end}")))
}

/// The job whose output is in a file of this name.
pub(crate) fn job_of(name: &str) -> Option<&str> {
    match name.rsplit_once('.')? {
        (job, BYTES | CHANGES | GONE) => Some(job),
        _ => None,
    }
}

/// Removes the files of jobs that are none.
pub(crate) fn remove_stray(dir: &Path, is_known: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(job) = name.to_str().and_then(job_of) else {
            continue;
        };
        if !is_known(job) {
            // Somebody else may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
