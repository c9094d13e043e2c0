//! One job: a running child, its spool, and who waits for it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use outfitter_core::{
    Exit, JobId, JobInfo, Lost, Offset, OutputChunk, Refusal, SandboxError, Stream, UnixMs,
};
use outfitter_process::{Limit, Limits};
use tokio::sync::{mpsc, watch};

use crate::perhaps;
use crate::records::{Record, Records};
use crate::running::{Happened, Over, Running};
use crate::spool::{SESSION_SPOOL_BYTES, SPOOL_BYTES, Spool, Tally};
use crate::view::View;

/// How politely a job is asked at its deadline.
pub(crate) const DEADLINE_GRACE: Duration = Duration::from_secs(2);

/// Kill requests that may wait; more say nothing new.
const KILL_QUEUE: usize = 4;

/// A job as everybody but its own task sees it.
#[derive(Debug)]
pub(crate) struct Job {
    id: JobId,
    command: String,
    started: UnixMs,
    pub(crate) spool: Spool,
    /// Of an earlier program, and how it ended is not known.
    interrupted: bool,
    state: watch::Receiver<State>,
    kill: mpsc::Sender<Duration>,
}

/// What is known of a job's course.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) tally: Tally,
    pub(crate) ended: Option<Ended>,
}

/// The other end of a [`Job`]: what its task tells it, and what is asked of the task.
struct Desk {
    state: watch::Sender<State>,
    requests: mpsc::Receiver<Duration>,
}

/// The end of a job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
}

/// How a job is to be run and known.
pub(crate) struct Plan {
    pub(crate) id: JobId,
    pub(crate) command: String,
    pub(crate) started: UnixMs,
    pub(crate) timeout: Duration,
    /// Where it begins, as far as that is a directory of this machine.
    pub(crate) workdir: PathBuf,
    /// What holds it, where that is of this machine.
    pub(crate) limits: Option<Limits>,
    pub(crate) view: Option<Arc<View>>,
    pub(crate) records: Arc<Records>,
}

impl Plan {
    /// What is remembered of it.
    pub(crate) fn record(&self) -> Record {
        Record::of(self.id.clone(), &self.command, self.started)
    }
}

/// The part of a job that runs: to be awaited by its owner.
pub(crate) struct Runner {
    running: Running,
    job: Arc<Job>,
    state: watch::Sender<State>,
    requests: mpsc::Receiver<Duration>,
    timeout: Duration,
    workdir: PathBuf,
    limits: Option<Limits>,
    view: Option<Arc<View>>,
    records: Arc<Records>,
    notices: Vec<String>,
    begun: Instant,
}

impl Job {
    /// A job and what runs it.
    pub(crate) fn new(plan: Plan, spool: Spool, running: Running) -> (Arc<Self>, Runner) {
        let (job, desk) = Self::open(plan.id, plan.command, plan.started, spool);
        let runner = Runner {
            running,
            job: Arc::clone(&job),
            state: desk.state,
            requests: desk.requests,
            timeout: plan.timeout,
            workdir: plan.workdir,
            limits: plan.limits,
            view: plan.view,
            records: plan.records,
            notices: Vec::new(),
            begun: Instant::now(),
        };
        (job, runner)
    }

    fn open(id: JobId, command: String, started: UnixMs, spool: Spool) -> (Arc<Self>, Desk) {
        let (state, watched) = watch::channel(State::default());
        let (kill, requests) = mpsc::channel(KILL_QUEUE);
        let job = Arc::new(Self {
            id,
            command,
            started,
            spool,
            interrupted: false,
            state: watched,
            kill,
        });
        (job, Desk { state, requests })
    }

    /// A job of an earlier program, whose output is still there.
    pub(crate) fn found(record: &Record, spool: Spool, tally: Tally) -> Arc<Self> {
        let exit = record.exit().unwrap_or_else(|| Exit {
            interrupted: true,
            stdout_bytes: tally.stdout,
            stderr_bytes: tally.stderr,
            notices: vec![INTERRUPTED.to_owned()],
            ..Exit::default()
        });
        let ended = Ended { exit };
        let (_, state) = watch::channel(State {
            tally,
            ended: Some(ended),
        });
        let (kill, _) = mpsc::channel(KILL_QUEUE);
        Arc::new(Self {
            id: record.job(),
            command: record.command().to_owned(),
            started: record.started(),
            spool,
            interrupted: record.fate() == Lost::Interrupted,
            state,
            kill,
        })
    }

    pub(crate) fn id(&self) -> &JobId {
        &self.id
    }

    pub(crate) fn is_running(&self) -> bool {
        self.state.borrow().ended.is_none()
    }

    /// How many bytes of its output are kept.
    pub(crate) fn kept(&self) -> u64 {
        self.spool.kept(&self.state.borrow().tally)
    }

    /// What is remembered of it.
    pub(crate) fn record(&self) -> Record {
        Record::of(self.id.clone(), &self.command, self.started)
    }

    pub(crate) fn info(&self) -> JobInfo {
        JobInfo {
            id: self.id.clone(),
            command: self.command.clone(),
            started: self.started,
            running: self.is_running(),
            lost: self.interrupted.then_some(Lost::Interrupted),
        }
    }

    /// Output from an offset on; waits for the first byte or the end.
    pub(crate) async fn output(
        &self,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        let mut state = self.state.clone();
        let there = state.wait_for(|state| state.tally.written > from.0 || state.ended.is_some());
        // Woken by a change; the owner's end and a wait that is over are answered with what there is.
        let _ = tokio::time::timeout(wait, there).await;
        let (tally, ended) = {
            let now = self.state.borrow();
            (now.tally, now.ended.is_some())
        };
        let (pieces, next) = self.spool.read(&tally, from, max).map_err(spool_error)?;
        Ok(OutputChunk {
            pieces,
            next,
            ended: ended && next.0 >= tally.written,
        })
    }

    /// The last bytes that are there.
    pub(crate) fn tail(&self, max: usize) -> Result<OutputChunk, SandboxError> {
        let (tally, ended) = {
            let now = self.state.borrow();
            (now.tally, now.ended.is_some())
        };
        let from = Offset(tally.written.saturating_sub(max as u64));
        let (pieces, next) = self.spool.read(&tally, from, max).map_err(spool_error)?;
        Ok(OutputChunk {
            pieces,
            next,
            ended,
        })
    }

    /// Waits for the end.
    pub(crate) async fn ended(&self) -> Ended {
        let mut state = self.state.clone();
        let ended = state
            .wait_for(|state| state.ended.is_some())
            .await
            .ok()
            .and_then(|state| state.ended.clone());
        ended.unwrap_or_else(|| Ended {
            exit: Exit {
                notices: vec!["the session ended, and this command with it".to_owned()],
                ..Exit::default()
            },
        })
    }

    /// Asks for the end.
    pub(crate) fn ask_to_end(&self, grace: Duration) {
        // A full queue holds requests enough; a closed one means that it has ended.
        let _ = self.kill.try_send(grace);
    }
}

impl Runner {
    /// Runs the job to its end. Dropped half way, it takes the command's tree with it.
    pub(crate) async fn run(mut self) {
        let deadline = tokio::time::sleep(self.timeout);
        tokio::pin!(deadline);
        let mut tally = Tally::default();
        let mut timed_out = false;
        let over = loop {
            tokio::select! {
                // Output last: a command that never stops printing must still be ended.
                biased;
                Some(grace) = self.requests.recv() => self.running.end(grace),
                () = &mut deadline, if !timed_out && !self.running.has_ended() => {
                    timed_out = true;
                    self.running.end(DEADLINE_GRACE);
                }
                happened = self.running.next() => match happened {
                    Happened::Printed(stream, bytes) => self.keep(&mut tally, stream, &bytes),
                    Happened::Over(over) => break *over,
                },
            }
        };
        let mut ended = self.ended(over, &tally, timed_out);
        let record = self.job.record().ended(&ended.exit);
        if let Err(error) = self.records.write(&record) {
            // Found later it would be taken for one that was interrupted.
            self.records.remove(&record.job());
            ended.exit.notices.push(format!(
                "the end of the command is not written down: {error}"
            ));
        }
        // Whoever knows that it has ended finds nothing of it open.
        self.job.spool.close();
        self.state.send_modify(|state| {
            state.tally = tally;
            state.ended = Some(ended);
        });
    }

    fn keep(&mut self, tally: &mut Tally, stream: outfitter_process::Stream, bytes: &[u8]) {
        if let Err(error) = self.job.spool.append(tally, stream, bytes) {
            // The disk is full, say. The command goes on; its output from here on is counted.
            if self
                .notices
                .iter()
                .all(|notice| !notice.starts_with(NOT_KEPT))
            {
                self.notices.push(format!("{NOT_KEPT}: {error}"));
            }
        }
        let tally = *tally;
        self.state.send_modify(|state| state.tally = tally);
    }

    /// What the command itself says that it was refused, and what is known already.
    fn with_what_it_says(
        &self,
        tally: &Tally,
        mut known: Vec<Refusal>,
        counted: &[Limit],
    ) -> Vec<Refusal> {
        let said = self.end_of_stderr(tally);
        if let Some(limits) = &self.limits {
            known.extend(perhaps::reached(&said, limits, counted, &known));
        }
        if let Some(view) = &self.view {
            known.extend(view.refusals(&said, &self.workdir, &self.job.command));
        }
        known
    }

    fn end_of_stderr(&self, tally: &Tally) -> String {
        if tally.stderr == 0 {
            return String::new();
        }
        let from = Offset(tally.written.saturating_sub(SEARCHED as u64));
        // What cannot be read here is said where it is read for the result.
        let Ok((pieces, _)) = self.job.spool.read(tally, from, SEARCHED) else {
            return String::new();
        };
        let said = pieces
            .iter()
            .filter(|(stream, _)| *stream == Stream::Stderr);
        let said: Vec<u8> = said.flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        String::from_utf8_lossy(&said).into_owned()
    }

    fn ended(&mut self, over: Over, tally: &Tally, timed_out: bool) -> Ended {
        let mut notices = std::mem::take(&mut self.notices);
        if let Some(gap) = self.job.spool.gap() {
            notices.push(format!(
                "of {} bytes of output the first {} and the last {} were kept (limit {} MiB, {} MiB \
                 for all commands of a session); {} between them were not",
                tally.written,
                gap.start,
                tally.written.saturating_sub(gap.end),
                SPOOL_BYTES / (1024 * 1024),
                SESSION_SPOOL_BYTES / (1024 * 1024),
                gap.bytes()
            ));
        }
        notices.extend(over.notices);
        let refusals = self.with_what_it_says(tally, over.refusals, &over.counted);
        Ended {
            exit: Exit {
                code: over.code,
                signal: over.signal,
                timed_out,
                interrupted: over.interrupted,
                duration: self.begun.elapsed(),
                killed_children: over.killed_children,
                survivors: over.survivors,
                stdout_bytes: tally.stdout,
                stderr_bytes: tally.stderr,
                dropped_bytes: self.job.spool.dropped(),
                refusals,
                notices,
            },
        }
    }
}

/// How much of the end of a command's output is searched for what it says it was refused.
const SEARCHED: usize = 64 * 1024;

/// What is known of a job that an earlier program ran.
const INTERRUPTED: &str = "the program that ran it ended, and the command with it; this is what it \
    had printed, and how far it came is not known";

const NOT_KEPT: &str = "output could not be kept";

fn spool_error(source: io::Error) -> SandboxError {
    SandboxError::Io {
        doing: "read the command's output".to_owned(),
        source,
    }
}
