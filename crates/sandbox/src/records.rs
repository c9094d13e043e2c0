//! What is known of a session's jobs when the program that ran them is gone, or their output:
//! one small file for each, beside its spool.
//!
//! A file is written before its job is known to anybody, and again when it has ended; what a later
//! program finds without an end was running when the earlier one ended. Its output is in the spool,
//! if that was not let go.

mod record;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use outfitter_core::{JobId, JobInfo, Lost, SandboxError, redact_addresses};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

pub(crate) use record::Record;

/// Jobs that are remembered by their name only; the oldest is forgotten.
pub const MAX_LOST_JOBS: usize = 256;

/// No record of ours is longer.
const MAX_RECORD: u64 = 64 * 1024;

/// Records that are looked at when a session is opened again.
const MAX_FOUND: usize = 4096;

const SUFFIX: &str = ".json";
const UNFINISHED: &str = ".new";

/// A job runs, for whoever looks, as long as this is there.
#[derive(Debug)]
pub(crate) struct Runs(#[expect(dead_code, reason = "held, so that others see it")] Option<File>);

/// The records of one session.
#[derive(Debug)]
pub(crate) struct Records {
    dir: PathBuf,
    /// The oldest first.
    lost: Mutex<VecDeque<(Record, Lost)>>,
}

impl Records {
    /// Takes up what an earlier program left: the records, the oldest first. Each is then given to
    /// [`lose`](Self::lose) or is a job with output.
    pub(crate) fn open(dir: &Path) -> io::Result<(Self, Vec<Record>)> {
        let mut found: Vec<Record> = Vec::new();
        for entry in std::fs::read_dir(dir)?.take(MAX_FOUND).flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            match name.strip_suffix(SUFFIX) {
                Some(id) => found.extend(read(&path).filter(|record| record.job.as_str() == id)),
                // One that was being written.
                None if name.ends_with(UNFINISHED) => drop(std::fs::remove_file(&path)),
                None => {}
            }
        }
        found.sort_by_key(|record| record.started);
        let records = Self {
            dir: dir.to_owned(),
            lost: Mutex::default(),
        };
        Ok((records, found))
    }

    /// Writes one, whole or not at all, for ourselves alone.
    pub(crate) fn write(&self, record: &Record) -> io::Result<()> {
        self.write_holding(record, |_| Ok(()))
    }

    /// Writes one of a job that is about to run. It runs for whoever looks until what is given is
    /// dropped, which the system does when this program ends, however that ends.
    pub(crate) fn write_running(&self, record: &Record) -> io::Result<Runs> {
        let mut held = None;
        self.write_holding(record, |file| {
            let file = file.try_clone()?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Where there are no locks nobody can tell that it does not run, either.
                Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::INVAL) => {}
                Err(errno) => return Err(errno.into()),
            }
            held = Some(file);
            Ok(())
        })?;
        Ok(Runs(held))
    }

    fn write_holding(
        &self,
        record: &Record,
        hold: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let path = self.path(&record.job);
        let unfinished = path.with_extension(UNFINISHED.trim_start_matches('.'));
        let text = serde_json::to_vec(record)?;
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)?;
        file.write_all(&text)?;
        hold(&file)?;
        std::fs::rename(&unfinished, &path)
    }

    /// From now on this job is known by its name only.
    pub(crate) fn lose(&self, record: Record, how: Lost) {
        let mut lost = self.lock();
        lost.push_back((record, how));
        while lost.len() > MAX_LOST_JOBS {
            if let Some((oldest, _)) = lost.pop_front() {
                self.remove(&oldest.job);
            }
        }
    }

    /// A job that was not started after all.
    pub(crate) fn remove(&self, job: &JobId) {
        // What stays behind is found and said to be lost, which is no harm.
        let _ = std::fs::remove_file(self.path(job));
    }

    /// What to say of a job that is not there.
    pub(crate) fn missing(&self, job: &JobId) -> SandboxError {
        let lost = self.lock();
        match lost.iter().find(|(record, _)| record.job == *job) {
            Some((record, how)) => SandboxError::Lost {
                job: job.clone(),
                command: record.command.clone(),
                started: record.started,
                how: how.clone(),
            },
            None => SandboxError::NotFound(job.clone()),
        }
    }

    /// The jobs that are known by their name only, the last first.
    pub(crate) fn list(&self) -> Vec<JobInfo> {
        let lost = self.lock();
        let info = |(record, how): &(Record, Lost)| JobInfo {
            id: record.job.clone(),
            command: record.command.clone(),
            started: record.started,
            running: false,
            lost: Some(how.clone()),
        };
        lost.iter().rev().map(info).collect()
    }

    fn path(&self, job: &JobId) -> PathBuf {
        self.dir.join(format!("{job}{SUFFIX}"))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Record, Lost)>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The records of a directory, in no order. Nothing is taken up.
pub(crate) fn look(dir: &Path) -> Vec<Record> {
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    let entries = entries.take(MAX_FOUND).flatten();
    let record = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_suffix(SUFFIX)?.to_owned();
        seen(&entry.path()).filter(|record| record.job.as_str() == id)
    };
    entries.filter_map(record).collect()
}

/// One, with whether its job runs.
fn seen(path: &Path) -> Option<Record> {
    let file = File::open(path).ok()?;
    let mut record = read_from(&file)?;
    if record.is_over() {
        return Some(record);
    }
    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        // It does not run. It may have ended since it was read, and that is written before.
        return read(path);
    }
    record.runs = true;
    Some(record)
}

/// One that is garbled is none.
fn read(path: &Path) -> Option<Record> {
    read_from(&File::open(path).ok()?)
}

fn read_from(file: &File) -> Option<Record> {
    let mut text = Vec::new();
    file.take(MAX_RECORD).read_to_end(&mut text).ok()?;
    let mut record: Record = serde_json::from_slice(&text).ok()?;
    // Older programs wrote it as it was run.
    record.command = redact_addresses(&record.command).into_owned();
    (record.v == 1).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::record::MAX_COMMAND_CHARS;
    use super::*;
    use outfitter_core::{Exit, UnixMs};
    use std::os::unix::fs::PermissionsExt;

    fn record(name: &str, started: u64) -> Record {
        let job = JobId::new(name).unwrap();
        Record::of(job, "make all", UnixMs(started))
    }

    #[test]
    fn the_secrets_of_a_command_were_in_the_record_of_its_job() {
        let dir = tempfile::tempdir().unwrap();
        let (records, _) = Records::open(dir.path()).unwrap();
        let job = JobId::new("job_a").unwrap();
        let plain = "seq 1; : http://bob:PW@h.example/?api_key=KEY99";
        let long = format!("{plain} {}", "x".repeat(MAX_COMMAND_CHARS));
        records.write(&Record::of(job, &long, UnixMs(1))).unwrap();
        let path = dir.path().join("job_a.json");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("PW") && !text.contains("KEY99"), "{text}");
        // And one that an older program has written.
        let shown = "seq 1; : http://bob:[redacted]@h.example/?api_key=[redacted]";
        assert!(text.contains(shown), "{text}");
        std::fs::write(&path, text.replace(shown, plain)).unwrap();
        let found = look(dir.path()).remove(0);
        assert!(found.command().starts_with(shown), "{}", found.command());
    }

    #[test]
    fn a_job_of_a_program_that_is_gone_was_running_once_another_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let (records, _) = Records::open(dir.path()).unwrap();
        let runs = || look(dir.path()).first().map(Record::runs);
        let held = records.write_running(&record("job_a", 1)).unwrap();
        assert_eq!(runs(), Some(true));
        // Another program is there, and runs none.
        let _another = Records::open(dir.path()).unwrap();
        assert_eq!(runs(), Some(true));
        drop(held);
        assert_eq!(runs(), Some(false));
        let held = records.write_running(&record("job_a", 1)).unwrap();
        let ended = record("job_a", 1).ended(&Exit::default());
        records.write(&ended).unwrap();
        let found = look(dir.path()).remove(0);
        assert!(!found.runs() && found.end().is_some(), "{found:?}");
        drop(held);
    }

    fn how(records: &Records, name: &str) -> Option<Lost> {
        match records.missing(&JobId::new(name).unwrap()) {
            SandboxError::Lost { how, .. } => Some(how),
            _ => None,
        }
    }

    #[test]
    fn what_ran_is_interrupted_and_what_ended_has_ended_for_the_next_program() {
        let dir = tempfile::tempdir().unwrap();
        let (records, _) = Records::open(dir.path()).unwrap();
        records.write(&record("job_a", 1)).unwrap();
        records.write(&record("job_b", 2)).unwrap();
        let exit = Exit {
            code: Some(3),
            ..Exit::default()
        };
        records.write(&record("job_b", 2).ended(&exit)).unwrap();
        records.write(&record("job_c", 3)).unwrap();
        records.remove(&JobId::new("job_c").unwrap());
        std::fs::write(dir.path().join("job_d.json"), "{").unwrap();
        std::fs::write(dir.path().join("job_e.new"), "{").unwrap();
        assert_eq!(how(&records, "job_a"), None, "still its own");
        let mode = dir.path().join("job_a.json").metadata().unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        let (_, found) = Records::open(dir.path()).unwrap();
        let fates: Vec<_> = found
            .iter()
            .map(|record| (record.job(), record.fate()))
            .collect();
        let id = |name| JobId::new(name).unwrap();
        let ended = Lost::Ended("exit code 3".to_owned());
        assert_eq!(
            fates,
            [(id("job_a"), Lost::Interrupted), (id("job_b"), ended)]
        );
        assert_eq!(found[0].exit(), None);
        assert_eq!(found[1].exit(), Some(exit));
        assert!(!dir.path().join("job_e.new").exists());
    }

    #[test]
    fn an_end_that_is_not_known_is_no_end_for_the_next_program() {
        let dir = tempfile::tempdir().unwrap();
        let (records, _) = Records::open(dir.path()).unwrap();
        let exit = Exit {
            interrupted: true,
            notices: vec!["the connection was lost".to_owned()],
            ..Exit::default()
        };
        records.write(&record("job_a", 1).ended(&exit)).unwrap();
        let (_, found) = Records::open(dir.path()).unwrap();
        assert_eq!(found[0].fate(), Lost::Interrupted);
        assert_eq!(found[0].exit(), Some(exit));
    }

    #[test]
    fn a_record_of_an_older_program_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let older = r#"{"v":1,"job":"job_a","command":"make","started":1,"ended":{"code":3,
            "signal":null,"timed_out":false,"duration_ms":5,"killed_children":0,"stdout_bytes":0,
            "stderr_bytes":0,"dropped_bytes":0,"notices":[]}}"#;
        std::fs::write(dir.path().join("job_a.json"), older).unwrap();
        let (_, found) = Records::open(dir.path()).unwrap();
        assert_eq!(found[0].fate(), Lost::Ended("exit code 3".to_owned()));
        assert!(!found[0].exit().unwrap().interrupted);
    }

    #[test]
    fn only_so_many_are_remembered_and_a_long_command_by_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let (records, _) = Records::open(dir.path()).unwrap();
        for number in 0..=MAX_LOST_JOBS {
            let record = record(&format!("job_{number}"), number as u64);
            records.write(&record).unwrap();
            records.lose(record, Lost::LetGo);
        }
        assert_eq!(how(&records, "job_0"), None);
        assert_eq!(how(&records, "job_1"), Some(Lost::LetGo));
        assert!(!dir.path().join("job_0.json").exists());
        let long = Record::of(JobId::new("job_x").unwrap(), &"你".repeat(900), UnixMs(0));
        assert_eq!(long.command.chars().count(), MAX_COMMAND_CHARS);
    }
}
