//! The jobs of one session: started, found, ended with it.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{
    Clock, CommandLine, CommandSpec, Exit, JobId, JobInfo, Killed, Lost, Offset, OutputChunk,
    SandboxError, redact_addresses, shown_arguments,
};
use tokio::task::JoinSet;

use crate::environment::without_ours;
use crate::job::{Job, Plan};
use crate::launch::Launch;
use crate::occupied::Occupied;
use crate::records::Records;
use crate::scratch::private_directory;
use crate::spool::{LEFT_SPOOL_BYTES, Quota, Spool, remove_stray};

/// Jobs of one session that may run at once.
pub const MAX_RUNNING_JOBS: usize = 64;

/// Ended jobs of one session whose output can still be read; the oldest goes first.
pub const MAX_ENDED_JOBS: usize = 64;

/// Where the spools are, below a session's directory.
pub(crate) const SPOOLS: &str = "jobs";

/// The jobs. Dropping this ends them all.
pub(crate) struct Jobs {
    launch: Box<dyn Launch>,
    clock: Arc<dyn Clock>,
    _occupied: Occupied,
    spools: PathBuf,
    quota: Arc<Quota>,
    records: Arc<Records>,
    known: Mutex<VecDeque<Arc<Job>>>,
    running: Mutex<JoinSet<()>>,
    /// How many are being started.
    starting: AtomicUsize,
}

/// One that is being started counts as one that runs.
struct Starting<'a>(&'a AtomicUsize);

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is there of a job before it runs. Dropped as such, also by who no longer waits for the
/// start, it leaves nothing that a later program would take for a job that ran.
struct Unstarted<'a> {
    records: &'a Records,
    job: &'a JobId,
    spool: &'a Spool,
}

impl Unstarted<'_> {
    fn has_started(self) {
        std::mem::forget(self);
    }
}

impl Drop for Unstarted<'_> {
    fn drop(&mut self) {
        self.records.remove(self.job);
        self.spool.remove();
    }
}

impl Jobs {
    pub(crate) fn new(
        launch: impl Launch + 'static,
        clock: Arc<dyn Clock>,
        session_dir: &Path,
    ) -> Result<Self, SandboxError> {
        let occupied = Occupied::enter(session_dir).map_err(|source| SandboxError::Io {
            doing: "hold the directory of the session".to_owned(),
            source,
        })?;
        let spools = session_dir.join(SPOOLS);
        private_directory(&spools).map_err(|source| SandboxError::Io {
            doing: "make the directory of job output".to_owned(),
            source,
        })?;
        let quota: Arc<Quota> = Arc::default();
        let taken_up = take_up(&spools, &quota).map_err(|source| SandboxError::Io {
            doing: "read which jobs there were".to_owned(),
            source,
        })?;
        let (records, known) = taken_up;
        Ok(Self {
            launch: Box::new(launch),
            clock,
            _occupied: occupied,
            spools,
            quota,
            records: Arc::new(records),
            known: Mutex::new(known),
            running: Mutex::default(),
            starting: AtomicUsize::new(0),
        })
    }

    /// Starts a command, which may be `writing` until it has ended.
    pub(crate) async fn spawn(
        &self,
        command: CommandSpec,
        writing: impl Send + 'static,
    ) -> Result<JobId, SandboxError> {
        without_ours(&command.env)?;
        let _starting = self.make_room()?;
        let plan = Plan {
            id: JobId::mint(&*self.clock),
            command: shown(&command.command),
            started: self.clock.now(),
            timeout: command.timeout,
            limits: self.launch.limits(),
            workdir: self.launch.workdir(&command.workdir),
            view: self.launch.view(),
            records: self.records.clone(),
        };
        let spool = Spool::create(&self.spools, &plan.id, self.quota.clone());
        let spool = spool.map_err(|source| SandboxError::Io {
            doing: "make a file for the command's output".to_owned(),
            source,
        })?;
        // Before it runs: what is killed with us must be known to whoever comes after us.
        let unstarted = Unstarted {
            records: &self.records,
            job: &plan.id,
            spool: &spool,
        };
        let runs = self.records.write_running(&plan.record());
        let runs = runs.map_err(|source| SandboxError::Io {
            doing: "write down that a job begins".to_owned(),
            source,
        })?;
        let started = self.launch.start(&plan.id, &command).await?;
        unstarted.has_started();
        let (job, runner) = Job::new(plan, spool, started);
        let id = job.id().clone();
        lock(&self.known).push_back(job);
        lock(&self.running).spawn(async move {
            runner.run().await;
            drop((writing, runs));
        });
        Ok(id)
    }

    pub(crate) async fn output(
        &self,
        job: &JobId,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        let read = self.find(job)?.output(from, max, wait).await;
        // It may have been let go meanwhile, and is not open then.
        read.or_else(|error| self.find(job).and(Err(error)))
    }

    pub(crate) fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        let read = self.find(job)?.tail(max);
        read.or_else(|error| self.find(job).and(Err(error)))
    }

    pub(crate) async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError> {
        Ok(self.find(job)?.ended().await.exit)
    }

    pub(crate) async fn kill(&self, job: &JobId, grace: Duration) -> Result<Killed, SandboxError> {
        let job = match self.find(job) {
            // It ended with what ran it, or before.
            Err(SandboxError::Lost { .. }) => return Ok(Killed::default()),
            found => found?,
        };
        if !job.is_running() {
            return Ok(Killed::default());
        }
        job.ask_to_end(grace);
        Ok(Killed {
            was_running: true,
            survivors: job.ended().await.exit.survivors,
        })
    }

    /// The last started first, and behind them those that are known by their name only.
    pub(crate) fn list(&self) -> Vec<JobInfo> {
        let mut all: Vec<JobInfo> = lock(&self.known)
            .iter()
            .rev()
            .map(|job| job.info())
            .collect();
        all.extend(self.records.list());
        all
    }

    /// Ends every job and waits until they are gone.
    pub(crate) async fn end_all(&self, grace: Duration) {
        let jobs: Vec<Arc<Job>> = lock(&self.known).iter().cloned().collect();
        for job in &jobs {
            job.ask_to_end(grace);
        }
        for job in jobs {
            job.ended().await;
        }
    }

    fn find(&self, id: &JobId) -> Result<Arc<Job>, SandboxError> {
        let known = lock(&self.known);
        let found = known.iter().find(|job| job.id() == id);
        found.cloned().ok_or_else(|| self.records.missing(id))
    }

    /// Forgets what ended longest ago, and refuses when too much is running.
    fn make_room(&self) -> Result<Starting<'_>, SandboxError> {
        let mut tasks = lock(&self.running);
        while tasks.try_join_next().is_some() {}
        drop(tasks);
        let mut known = lock(&self.known);
        let running = known.iter().filter(|job| job.is_running()).count();
        let starting = self.starting.load(Ordering::Relaxed);
        if running + starting >= self.launch.most() {
            return Err(SandboxError::Unavailable {
                reason: format!(
                    "{} commands of this session are running already",
                    running + starting
                ),
                hint: Some("wait for one of them or kill it".to_owned()),
            });
        }
        let mut surplus = (known.len() - running + 1).saturating_sub(MAX_ENDED_JOBS);
        let mut freed = 0;
        known.retain(|job| {
            let too_many = surplus > 0;
            let too_much = job.kept() > 0 && !self.quota.has_room_without(freed);
            let forget = (too_many || too_much) && !job.is_running();
            if forget {
                surplus = surplus.saturating_sub(1);
                freed += job.kept();
                job.spool.remove();
                self.records.lose(job.record(), Lost::LetGo);
            }
            !forget
        });
        // Under the same lock as it was looked at.
        self.starting.fetch_add(1, Ordering::Relaxed);
        Ok(Starting(&self.starting))
    }
}

/// A session that ends leaves the output of its last jobs, for a program that opens it again.
impl Drop for Jobs {
    fn drop(&mut self) {
        let mut left = 0;
        for job in lock(&self.known).iter().rev() {
            left += job.kept();
            if left > LEFT_SPOOL_BYTES {
                job.spool.remove();
            }
        }
    }
}

/// What an earlier program left of this session: jobs whose output is still there, and the names of
/// others.
fn take_up(spools: &Path, quota: &Arc<Quota>) -> io::Result<(Records, VecDeque<Arc<Job>>)> {
    let (records, found) = Records::open(spools)?;
    let mut known = VecDeque::new();
    let mut lost = Vec::new();
    // What was last is kept first.
    for record in found.into_iter().rev() {
        let spool = if known.len() < MAX_ENDED_JOBS {
            Spool::reopen(spools, &record.job(), quota.clone())
        } else {
            None
        };
        match spool {
            Some((spool, tally)) => known.push_front(Job::found(&record, spool, tally)),
            None => lost.push(record),
        }
    }
    for record in lost.into_iter().rev() {
        let fate = record.fate();
        records.lose(record, fate);
    }
    remove_stray(spools, |id| known.iter().any(|job| job.id().as_str() == id));
    Ok((records, known))
}

/// A command as it is listed and remembered: for showing, without what is secret in it.
fn shown(command: &CommandLine) -> String {
    match command {
        CommandLine::Shell(line) => redact_addresses(line).into_owned(),
        CommandLine::Program(words) => shown_arguments(words.iter().map(String::as_str)).join(" "),
    }
}

/// A panic elsewhere does not make the list of jobs wrong.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use outfitter_core::SystemClock;

    use super::*;
    use crate::running::Running;

    /// A machine that never says whether it has started a command.
    struct Silent;

    #[async_trait]
    impl Launch for Silent {
        fn most(&self) -> usize {
            1
        }

        async fn start(&self, _: &JobId, _: &CommandSpec) -> Result<Running, SandboxError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn a_start_that_nobody_waits_for_any_more_leaves_no_interrupted_job() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Jobs::new(Silent, Arc::new(SystemClock), dir.path()).unwrap();
        let files = || std::fs::read_dir(dir.path().join(SPOOLS)).unwrap().count();
        let jobs = open();
        for _ in 0..2 {
            let command = CommandSpec {
                command: CommandLine::Shell("true".to_owned()),
                workdir: String::new(),
                env: Vec::new(),
                timeout: Duration::from_secs(60),
            };
            let mut start = Box::pin(jobs.spawn(command, ()));
            let waited = tokio::time::timeout(Duration::ZERO, start.as_mut()).await;
            assert!(waited.is_err());
            assert_eq!(files(), 4, "what it prints, and that it begins");
            drop(start);
            assert_eq!(files(), 0);
        }
        drop(jobs);
        assert_eq!(open().list(), []);
    }
}
