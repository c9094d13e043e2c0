//! The jobs of one session on the other machine.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{Clock, CommandLine, CommandSpec, JobId, JobInfo, Killed, SandboxError};
use russh::ChannelMsg;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection::{Connection, lost};
use super::job::Runner;
use super::script::run;
use crate::job::Job;
use crate::jobs::MAX_ENDED_JOBS;
use crate::scratch::private_directory;
use crate::spool::{Quota, Spool};

/// Jobs of one session that may run at once. OpenSSH lets a connection have ten channels
/// (`MaxSessions`), and ending a job takes one more.
pub const MAX_REMOTE_JOBS: usize = 6;

/// How long the other machine may take to start a command.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The most that a login may say before the command starts.
const MAX_NOISE_BYTES: usize = 64 * 1024;

/// The jobs. Dropping this ends them all.
pub(super) struct Jobs {
    connection: Arc<Connection>,
    workspace: String,
    spools: PathBuf,
    quota: Arc<Quota>,
    passed: Vec<(String, String)>,
    clock: Arc<dyn Clock>,
    known: Mutex<VecDeque<Arc<Job>>>,
    running: Mutex<JoinSet<()>>,
    /// Held while one starts, so that two cannot take the last place.
    starting: tokio::sync::Mutex<()>,
}

impl Jobs {
    pub(super) fn new(
        connection: Arc<Connection>,
        workspace: String,
        session_dir: &Path,
        passed: Vec<(String, String)>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SandboxError> {
        let spools = session_dir.join("jobs");
        private_directory(&spools).map_err(io("make the directory of job output"))?;
        Ok(Self {
            connection,
            workspace,
            spools,
            quota: Arc::default(),
            passed,
            clock,
            known: Mutex::default(),
            running: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
        })
    }

    pub(super) async fn spawn(&self, command: CommandSpec) -> Result<JobId, SandboxError> {
        let _one_at_a_time = self.starting.lock().await;
        self.make_room()?;
        let id = JobId::mint(&*self.clock);
        let spool = Spool::create(&self.spools, &id, Arc::clone(&self.quota))
            .map_err(io("make a file for the command's output"))?;
        // Nobody takes these jobs up again, so the files are gone with the last handle.
        spool.remove();
        let shown = match &command.command {
            CommandLine::Shell(line) => line.clone(),
            CommandLine::Program(words) => words.join(" "),
        };
        let rest = self.rest(&command)?;
        let dir = match command.workdir.as_str() {
            "" => ".",
            dir => dir,
        };
        let mark = format!("outfitter-{id}");
        let line = run(&mark, id.as_str(), &self.workspace, dir, &rest);
        let mut channel = self.connection.start(line).await?;
        let mut said = Vec::new();
        let reading = timeout(START_TIMEOUT, async {
            loop {
                match channel.wait().await {
                    Some(ChannelMsg::Data { data }) => {
                        said.extend_from_slice(&data);
                        if let Some(first) = first_line(&said, &mark) {
                            return Ok(first);
                        }
                        if said.len() > MAX_NOISE_BYTES {
                            return Err(lost("its login says too much"));
                        }
                    }
                    Some(ChannelMsg::Failure) => return Err(lost("it runs no commands")),
                    Some(_) => {}
                    None => return Err(lost("it ended before the command started")),
                }
            }
        });
        let (words, rest) = reading.await.map_err(|_| lost("it does not answer"))??;
        let leader = match words.split_once(' ') {
            Some(("started", leader)) => leader.trim().parse::<u32>().ok(),
            _ if words == "workdir" => {
                return Err(SandboxError::Workdir(format!(
                    "its working directory {dir} cannot be entered, and nothing was run"
                )));
            }
            _ => None,
        };
        let leader = leader.ok_or_else(|| lost("it does not say what it started"))?;
        let (job, desk) = Job::open(id.clone(), shown, self.clock.now(), spool);
        let runner = Runner {
            job: Arc::clone(&job),
            desk,
            channel,
            connection: Arc::clone(&self.connection),
            leader,
            timeout: command.timeout,
            printed: said.split_off(rest),
        };
        lock(&self.known).push_back(job);
        lock(&self.running).spawn(runner.run());
        Ok(id)
    }

    /// The environment and the program, as `env` takes them.
    fn rest(&self, command: &CommandSpec) -> Result<Vec<String>, SandboxError> {
        let named = self.passed.iter().chain(&command.env);
        let mut rest: Vec<String> = named
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        match &command.command {
            CommandLine::Shell(line) => {
                rest.extend(["/bin/sh".to_owned(), "-c".to_owned(), line.clone()]);
            }
            CommandLine::Program(words) => match words.first() {
                Some(program) if !program.contains('=') => rest.extend(words.iter().cloned()),
                Some(_) => {
                    return Err(SandboxError::Invalid(
                        "the name of the program contains a `=`".to_owned(),
                    ));
                }
                None => return Err(SandboxError::Invalid("there is no program".to_owned())),
            },
        }
        if rest.iter().any(|word| word.contains('\0')) || command.workdir.contains('\0') {
            return Err(SandboxError::Invalid("it contains a zero byte".to_owned()));
        }
        Ok(rest)
    }

    pub(super) async fn kill(&self, id: &JobId, grace: Duration) -> Result<Killed, SandboxError> {
        let job = self.find(id)?;
        if !job.is_running() {
            return Ok(Killed::default());
        }
        job.ask_to_end(grace);
        Ok(Killed {
            was_running: true,
            survivors: job.ended().await.survivors,
        })
    }

    pub(super) fn list(&self) -> Vec<JobInfo> {
        let known = lock(&self.known);
        known.iter().rev().map(|job| job.info()).collect()
    }

    pub(super) async fn end_all(&self, grace: Duration) {
        let jobs: Vec<Arc<Job>> = lock(&self.known).iter().cloned().collect();
        for job in &jobs {
            job.ask_to_end(grace);
        }
        for job in jobs {
            job.ended().await;
        }
    }

    pub(super) fn find(&self, id: &JobId) -> Result<Arc<Job>, SandboxError> {
        let known = lock(&self.known);
        let found = known.iter().find(|job| job.id() == id);
        found
            .cloned()
            .ok_or_else(|| SandboxError::NotFound(id.clone()))
    }

    fn make_room(&self) -> Result<(), SandboxError> {
        let mut tasks = lock(&self.running);
        while tasks.try_join_next().is_some() {}
        drop(tasks);
        let mut known = lock(&self.known);
        let running = known.iter().filter(|job| job.is_running()).count();
        if running >= MAX_REMOTE_JOBS {
            return Err(SandboxError::Unavailable {
                reason: format!("{running} commands of this session are running there already"),
                hint: Some("wait for one of them or kill it".to_owned()),
            });
        }
        let mut surplus = (known.len() - running + 1).saturating_sub(MAX_ENDED_JOBS);
        known.retain(|job| {
            let forget = surplus > 0 && !job.is_running();
            surplus -= usize::from(forget);
            !forget
        });
        Ok(())
    }
}

/// Our own first line, behind whatever a login says: what it says, and where the command's begins.
fn first_line(said: &[u8], mark: &str) -> Option<(String, usize)> {
    let mark = mark.as_bytes();
    let at = said.windows(mark.len()).position(|part| part == mark)?;
    let end = at + said[at..].iter().position(|byte| *byte == b'\n')?;
    let words = String::from_utf8_lossy(&said[at + mark.len()..end]);
    Some((words.trim().to_owned(), end + 1))
}

fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> SandboxError {
    move |source| SandboxError::Io {
        doing: doing.to_owned(),
        source,
    }
}

/// A panic elsewhere does not make the list of jobs wrong.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
