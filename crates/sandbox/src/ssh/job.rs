//! One job on the other machine: its channel, followed to the end.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use outfitter_core::{Exit, SandboxError};
use outfitter_process::Stream;
use russh::client::Msg;
use russh::{Channel, ChannelMsg, Sig};
use tokio::time::sleep;

use super::connection::Connection;
use super::script::{sweep, swept};
use crate::job::{DEADLINE_GRACE, Desk, Ended, Job};
use crate::spool::{SPOOL_BYTES, Tally};

/// How long to wait, once the tree is gone, for the rest of its output and for word of its end.
const DRAIN: Duration = Duration::from_secs(5);

/// The longest grace that is asked of the other machine.
const MAX_GRACE: Duration = Duration::from_secs(30);

type Sweep = Pin<Box<dyn Future<Output = Result<String, SandboxError>> + Send>>;

/// The part of a job that runs here: to be awaited by its owner. Dropped half way, it closes the
/// channel, and the watcher on the other machine ends the tree.
pub(super) struct Runner {
    pub(super) job: Arc<Job>,
    pub(super) desk: Desk,
    pub(super) channel: Channel<Msg>,
    pub(super) connection: Arc<Connection>,
    /// The process that leads its session there.
    pub(super) leader: u32,
    pub(super) timeout: Duration,
    /// What came together with the word that it has started.
    pub(super) printed: Vec<u8>,
}

/// What is known of a job while it is followed.
#[derive(Default)]
struct Course {
    tally: Tally,
    code: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    over: bool,
    silent: bool,
    lost: bool,
    killed: u32,
    survivors: Vec<u32>,
    notices: Vec<String>,
}

impl Runner {
    /// Follows the job to its end.
    pub(super) async fn run(mut self) {
        let begun = Instant::now();
        let mut course = Course::default();
        let printed = std::mem::take(&mut self.printed);
        self.keep(&mut course, Stream::Stdout, &printed);
        let deadline = sleep(self.timeout);
        tokio::pin!(deadline);
        let drained = sleep(Duration::from_secs(86_400 * 365));
        tokio::pin!(drained);
        let mut sweeping: Option<Sweep> = None;
        let mut asked_to_end = false;
        let mut swept_once = false;
        while !(swept_once && course.over && course.silent) {
            tokio::select! {
                biased;
                Some(grace) = self.desk.requests.recv(), if !asked_to_end && !course.over => {
                    asked_to_end = true;
                    sweeping = Some(self.sweep(grace));
                }
                () = &mut deadline, if !course.timed_out && !asked_to_end && !course.over => {
                    course.timed_out = true;
                    asked_to_end = true;
                    sweeping = Some(self.sweep(DEADLINE_GRACE));
                }
                said = take(&mut sweeping), if sweeping.is_some() => {
                    sweeping = None;
                    swept_once = true;
                    course.learn(said, asked_to_end);
                    drained.as_mut().reset(tokio::time::Instant::now() + DRAIN);
                }
                () = &mut drained, if swept_once => break,
                message = self.channel.wait(), if !course.silent => match message {
                    Some(ChannelMsg::Data { data }) => {
                        self.keep(&mut course, Stream::Stdout, &data);
                    }
                    Some(ChannelMsg::ExtendedData { data, .. }) => {
                        self.keep(&mut course, Stream::Stderr, &data);
                    }
                    Some(ChannelMsg::ExitStatus { exit_status }) => {
                        course.code = i32::try_from(exit_status).ok();
                        course.over = true;
                    }
                    Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                        course.signal = Some(number(&signal_name));
                        course.over = true;
                    }
                    Some(_) => {}
                    None => {
                        course.silent = true;
                        course.lost = !course.over;
                        course.over = true;
                    }
                },
            }
            // Children that it left behind hold its output open: they go first.
            if course.over && !swept_once && sweeping.is_none() {
                sweeping = Some(self.sweep(Duration::ZERO));
            }
        }
        // What cannot be said any more is noticed there by the end of the connection.
        let _ = self.channel.close().await;
        let tally = course.tally;
        let ended = course.ended(begun.elapsed());
        self.desk.state.send_modify(|state| {
            state.tally = tally;
            state.ended = Some(ended);
        });
    }

    fn sweep(&self, grace: Duration) -> Sweep {
        let tenths = grace.min(MAX_GRACE).as_millis().div_ceil(100);
        let line = sweep(self.job.id().as_str(), self.leader, tenths);
        let connection = Arc::clone(&self.connection);
        Box::pin(async move { connection.ask(line).await })
    }

    fn keep(&self, course: &mut Course, stream: Stream, bytes: &[u8]) {
        if let Err(error) = self.job.spool.append(&mut course.tally, stream, bytes) {
            // The disk is full, say. The command goes on; its output from here on is counted.
            course.tally.dropped += bytes.len() as u64;
            if course.notices.is_empty() {
                course
                    .notices
                    .push(format!("output could not be kept: {error}"));
            }
        }
        let tally = course.tally;
        self.desk.state.send_modify(|state| state.tally = tally);
    }
}

/// Waits for a sweep, for ever where there is none.
async fn take(sweeping: &mut Option<Sweep>) -> Result<String, SandboxError> {
    match sweeping {
        Some(sweep) => sweep.await,
        None => std::future::pending().await,
    }
}

impl Course {
    /// What ending its tree has shown. The command itself is no child left behind.
    fn learn(&mut self, said: Result<String, SandboxError>, asked_to_end: bool) {
        let read = said.map(|said| swept(&said));
        match read {
            Ok(Some((killed, survivors))) => {
                self.killed = if asked_to_end {
                    killed.saturating_sub(1)
                } else {
                    killed
                };
                if !survivors.is_empty() {
                    self.notices
                        .push(format!("{} processes outlived SIGKILL", survivors.len()));
                }
                self.survivors = survivors;
            }
            Ok(None) | Err(_) => self.notices.push(
                "the other machine did not say whether its processes are gone; it ends them by \
                 itself once the connection is closed"
                    .to_owned(),
            ),
        }
    }

    fn ended(self, duration: Duration) -> Ended {
        let mut notices = self.notices;
        if self.lost {
            notices.insert(
                0,
                "the connection to the other machine was lost; how the command ended is not known"
                    .to_owned(),
            );
        }
        if self.tally.dropped > 0 {
            notices.push(format!(
                "only the first {} bytes of output were kept (limit {} MiB); {} more were not",
                self.tally.written,
                SPOOL_BYTES / (1024 * 1024),
                self.tally.dropped
            ));
        }
        let mut exit = Exit {
            code: self.code,
            signal: self.signal,
            timed_out: self.timed_out,
            duration,
            killed_children: self.killed,
            stdout_bytes: self.tally.stdout,
            stderr_bytes: self.tally.stderr,
            dropped_bytes: self.tally.dropped,
            ..Exit::default()
        };
        exit.notices = notices;
        Ended {
            exit,
            survivors: self.survivors,
        }
    }
}

/// The number that a signal has on Linux; 0 for one without a name there.
fn number(signal: &Sig) -> i32 {
    match signal {
        Sig::HUP => 1,
        Sig::INT => 2,
        Sig::QUIT => 3,
        Sig::ILL => 4,
        Sig::ABRT => 6,
        Sig::FPE => 8,
        Sig::KILL => 9,
        Sig::USR1 => 10,
        Sig::SEGV => 11,
        Sig::PIPE => 13,
        Sig::ALRM => 14,
        Sig::TERM => 15,
        Sig::Custom(_) => 0,
    }
}
