//! The jobs of one session: started, found, ended with it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{
    Clock, CommandLine, CommandSpec, Exit, JobId, JobInfo, Killed, Lost, Offset, OutputChunk,
    SandboxError,
};
use outfitter_process::{ChildSpec, Limits, SpawnError, Spawned, Stdin, SupervisorProgram, spawn};
use tokio::task::JoinSet;

use crate::environment::set;
use crate::files::Writing;
use crate::hold::Hold;
use crate::job::{Job, Plan, Started};
use crate::network::AllowedHosts;
use crate::network::proxy::{Refusals, serve};
use crate::protected::Protected;
use crate::records::Records;
use crate::scratch::{Scratch, private_directory};
use crate::spool::{LEFT_SPOOL_BYTES, Quota, Spool, remove_stray};
use crate::view::View;

/// Jobs of one session that may run at once.
pub const MAX_RUNNING_JOBS: usize = 64;

/// Ended jobs of one session whose output can still be read; the oldest goes first.
pub const MAX_ENDED_JOBS: usize = 64;

/// The shell of [`CommandLine::Shell`].
const SHELL: &str = "/bin/sh";

/// Where the spools are, below a session's directory.
const SPOOLS: &str = "jobs";

/// How every command of the session is run.
pub(crate) struct Manner {
    pub(crate) supervisor: SupervisorProgram,
    pub(crate) workspace: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) hold: Hold,
    pub(crate) limits: Limits,
    /// The hosts that commands may reach, where they have a way out of a network of their own.
    pub(crate) hosts: Option<Arc<AllowedHosts>>,
    /// Hidden from confined commands, or kept from being written, as far as it exists when they
    /// start.
    pub(crate) protected: Protected,
    /// What commands may reach, where something holds them.
    pub(crate) view: Option<Arc<View>>,
    pub(crate) scratch: Scratch,
    pub(crate) clock: Arc<dyn Clock>,
}

/// The jobs. Dropping this ends them all.
pub(crate) struct Jobs {
    manner: Manner,
    spools: PathBuf,
    quota: Arc<Quota>,
    records: Arc<Records>,
    known: Mutex<VecDeque<Arc<Job>>>,
    running: Mutex<JoinSet<()>>,
}

impl Jobs {
    pub(crate) fn new(manner: Manner, session_dir: &Path) -> Result<Self, SandboxError> {
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
            manner,
            spools,
            quota,
            records: Arc::new(records),
            known: Mutex::new(known),
            running: Mutex::default(),
        })
    }

    /// Starts a command, which may be `writing` until it has ended.
    pub(crate) async fn spawn(
        &self,
        command: CommandSpec,
        writing: Writing,
    ) -> Result<JobId, SandboxError> {
        self.make_room()?;
        self.manner
            .scratch
            .restore()
            .map_err(|source| SandboxError::Io {
                doing: "restore the scratch folder".to_owned(),
                source,
            })?;
        let workdir = self.workdir(&command.workdir)?;
        let spec = self.child(&command, workdir)?;
        let plan = Plan {
            id: JobId::mint(&*self.manner.clock),
            command: shown(&command.command),
            started: self.manner.clock.now(),
            timeout: command.timeout,
            view: self.manner.view.clone(),
            records: self.records.clone(),
        };
        let spool = Spool::create(&self.spools, &plan.id, self.quota.clone());
        let spool = spool.map_err(|source| SandboxError::Io {
            doing: "make a file for the command's output".to_owned(),
            source,
        })?;
        // Before it runs: what is killed with us must be known to whoever comes after us.
        if let Err(source) = self.records.write(&plan.record()) {
            spool.remove();
            return Err(SandboxError::Io {
                doing: "write down that a job begins".to_owned(),
                source,
            });
        }
        let spawned = spawn(&self.manner.supervisor, spec).await;
        let spawned = spawned.map_err(sandbox_error);
        let started = match spawned.and_then(|spawned| self.open_outlet(spawned)) {
            Ok(started) => started,
            Err(error) => {
                self.records.remove(&plan.id);
                spool.remove();
                return Err(error);
            }
        };
        let (job, runner) = Job::new(plan, spool, started);
        let id = job.id().clone();
        lock(&self.known).push_back(job);
        lock(&self.running).spawn(async move {
            runner.run().await;
            drop(writing);
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
        self.find(job)?.output(from, max, wait).await
    }

    pub(crate) fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        self.find(job)?.tail(max)
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
            survivors: job.ended().await.survivors,
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
    fn make_room(&self) -> Result<(), SandboxError> {
        let mut tasks = lock(&self.running);
        while tasks.try_join_next().is_some() {}
        drop(tasks);
        let mut known = lock(&self.known);
        let running = known.iter().filter(|job| job.is_running()).count();
        if running >= MAX_RUNNING_JOBS {
            return Err(SandboxError::Unavailable {
                reason: format!("{running} commands of this session are running already"),
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
        Ok(())
    }

    /// Opens the command's way out, if it has one.
    fn open_outlet(&self, mut spawned: Spawned) -> Result<Started, SandboxError> {
        let mut ways = JoinSet::new();
        let refusals = Refusals::default();
        if let Some((listener, hosts)) = spawned.outlet.take().zip(self.manner.hosts.clone()) {
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|source| SandboxError::Io {
                    doing: "open the command's way to the network".to_owned(),
                    source,
                })?;
            ways.spawn(serve(listener, hosts, refusals.clone()));
        }
        Ok(Started {
            spawned,
            refusals,
            _ways: ways,
        })
    }

    fn workdir(&self, workdir: &str) -> Result<PathBuf, SandboxError> {
        if workdir.contains('\0') {
            return Err(SandboxError::Invalid(
                "the working directory contains a zero byte".to_owned(),
            ));
        }
        Ok(match workdir {
            "" | "." => self.manner.workspace.clone(),
            // An absolute one replaces it: whether a command may be there is for the sandbox.
            other => self.manner.workspace.join(other),
        })
    }

    fn child(&self, command: &CommandSpec, cwd: PathBuf) -> Result<ChildSpec, SandboxError> {
        let mut env = self.manner.environment.clone();
        for (name, value) in &command.env {
            set(&mut env, name, value.into());
        }
        let argv = match &command.command {
            CommandLine::Shell(line) => vec![SHELL.into(), "-c".into(), line.into()],
            CommandLine::Program(words) => words.iter().map(OsString::from).collect(),
        };
        let path = env.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, dirs)| dirs.clone()).unwrap_or_default();
        let held = self
            .manner
            .hold
            .hold(argv, &path, cwd, &self.manner.protected)?;
        Ok(ChildSpec {
            argv: held.argv,
            env,
            cwd: held.cwd,
            stdin: Stdin::Null,
            confinement: held.confinement,
            limits: self.manner.limits,
        })
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

fn shown(command: &CommandLine) -> String {
    match command {
        CommandLine::Shell(line) => line.clone(),
        CommandLine::Program(words) => words.join(" "),
    }
}

/// Which of the two it was: the command's fault, or the sandbox's.
pub(crate) fn sandbox_error(error: SpawnError) -> SandboxError {
    use outfitter_process::Stage;
    match error {
        SpawnError::Invalid(why) => SandboxError::Invalid(why.to_owned()),
        SpawnError::Io { what, source } => SandboxError::Io {
            doing: what.to_owned(),
            source,
        },
        // Never elsewhere instead: what was meant for one directory can be the ruin of another.
        SpawnError::Setup {
            stage: Stage::WorkingDirectory,
            detail,
            source,
        } => SandboxError::Workdir(format!(
            "its working directory {detail} cannot be entered ({source}), and nothing was run"
        )),
        SpawnError::Setup {
            stage: stage @ Stage::Execute,
            detail,
            source,
        } => {
            let on = if detail.is_empty() {
                String::new()
            } else {
                format!(" {detail}")
            };
            SandboxError::Invalid(format!("{stage}{on}: {source}"))
        }
        SpawnError::Setup { ref source, .. } => SandboxError::Unavailable {
            reason: format!("{error}: {source}"),
            hint: None,
        },
        other => SandboxError::Unavailable {
            reason: other.to_string(),
            hint: None,
        },
    }
}

/// A panic elsewhere does not make the list of jobs wrong.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
