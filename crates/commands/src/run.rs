//! Running a program: supervised, fed, heard, and stopped when it must be.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use outfitter_core::Cancel;
use outfitter_process::{
    ChildError, ChildSpec, Confinement, Ending, Limits, SpawnError, Spawned, Stdin, Stream,
    SupervisorProgram, spawn,
};

use crate::stderr_log::StderrLog;

/// How politely a program is asked to stop. Shorter than a stopped tool has.
const GRACE: Duration = Duration::from_millis(1500);

/// What to run.
pub(crate) struct Job {
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    pub(crate) stdin: Option<String>,
    pub(crate) max_output_bytes: usize,
    pub(crate) time: Duration,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Exited(Ending),
    /// Its time was up.
    TimedOut,
    /// Somebody stopped it.
    Cancelled,
    /// It printed more than it may.
    TooMuch,
}

/// What it printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) ended: Ended,
    pub(crate) stdout: Vec<u8>,
    /// The time it had.
    pub(crate) time: Duration,
}

/// It did not run, or was lost. The texts read on after "failed to".
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("start the program")]
    Start(#[source] SpawnError),
    #[error("watch the program")]
    Watch(#[source] ChildError),
    #[error("make a folder for the program")]
    Scratch(#[source] std::io::Error),
}

/// Runs it until it has ended, or is stopped; nothing of it is left then.
pub(crate) async fn run(
    supervisor: &SupervisorProgram,
    job: Job,
    cancel: &Cancel,
    log: &mut StderrLog<'_>,
) -> Result<Printed, RunError> {
    let (limit, time) = (job.max_output_bytes, job.time);
    let up = tokio::time::sleep(job.time);
    tokio::pin!(up);
    let spawned = tokio::select! {
        spawned = spawn(supervisor, child(job)) => spawned.map_err(RunError::Start)?,
        ended = stop(cancel, up.as_mut()) => return Ok(Printed { ended, stdout: Vec::new(), time }),
    };
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawned;
    let mut heard = Heard {
        stdout: Vec::new(),
        limit,
        log,
    };
    let ended = loop {
        tokio::select! {
            ended = stop(cancel, up.as_mut()) => break ended,
            exit = child.wait() => break Ended::Exited(exit.map_err(RunError::Watch)?.ending),
            piece = output.next() => match piece.map_err(RunError::Watch)? {
                Some((stream, bytes)) => if !heard.take(stream, &bytes) {
                    break Ended::TooMuch;
                },
                // Its streams are closed; it may go on working.
                None => tokio::select! {
                    ended = stop(cancel, up.as_mut()) => break ended,
                    exit = child.wait() => break Ended::Exited(exit.map_err(RunError::Watch)?.ending),
                },
            },
        }
    };
    let ended = match ended {
        Ended::TimedOut | Ended::Cancelled => {
            child.kill(GRACE).await.map_err(RunError::Watch)?;
            ended
        }
        Ended::TooMuch => {
            child.kill(Duration::ZERO).await.map_err(RunError::Watch)?;
            ended
        }
        Ended::Exited(_) => ended,
    };
    let mut whole = true;
    while let Some((stream, bytes)) = output.try_next().map_err(RunError::Watch)? {
        whole &= heard.take(stream, &bytes);
    }
    let ended = match ended {
        Ended::Exited(_) if !whole => Ended::TooMuch,
        ended => ended,
    };
    Ok(Printed {
        ended,
        stdout: heard.stdout,
        time,
    })
}

async fn stop(cancel: &Cancel, up: std::pin::Pin<&mut tokio::time::Sleep>) -> Ended {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Ended::Cancelled,
        () = up => Ended::TimedOut,
    }
}

fn child(job: Job) -> ChildSpec {
    ChildSpec {
        argv: job.argv,
        env: job.env,
        cwd: job.cwd,
        stdin: job
            .stdin
            .map_or(Stdin::Null, |text| Stdin::Bytes(Bytes::from(text))),
        // The operator's own program, with what the operator may do.
        confinement: Confinement::Unconfined,
        limits: Limits::DEFAULT,
    }
}

struct Heard<'h, 'l> {
    stdout: Vec<u8>,
    limit: usize,
    log: &'h mut StderrLog<'l>,
}

impl Heard<'_, '_> {
    /// Takes a piece; false when it is more than there may be. What there may be is kept.
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        match stream {
            Stream::Stderr => {
                self.log.push(bytes);
                true
            }
            Stream::Stdout => {
                let room = self.limit - self.stdout.len();
                self.stdout
                    .extend_from_slice(&bytes[..bytes.len().min(room)]);
                bytes.len() <= room
            }
        }
    }
}
