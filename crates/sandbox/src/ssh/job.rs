//! One command on the other machine: its channel, followed to the end.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use outfitter_core::{JobId, SandboxError};
use outfitter_process::Stream;
use russh::client::Msg;
use russh::{Channel, ChannelMsg, Sig};
use tokio::time::{Sleep, sleep, timeout};

use super::connection::Connection;
use super::script::{sweep, swept};
use crate::running::{Happened, Over};

/// How long to wait, once the tree is gone, for the rest of its output and for word of its end.
const DRAIN: Duration = Duration::from_secs(5);

/// How long the other machine may take beyond the grace to say that a tree is gone: it kills for two
/// seconds. It may never: an account can stop its own server.
pub(super) const ANSWER: Duration = Duration::from_secs(5);

/// How long a message may take to be on its way, where nothing depends on it.
const PARTING: Duration = Duration::from_secs(1);

/// The longest grace that is asked of the other machine.
const MAX_GRACE: Duration = Duration::from_secs(30);

type Sweep = Pin<Box<dyn Future<Output = Result<String, SandboxError>> + Send>>;

/// A command that runs there. Dropped half way, it closes the channel, and the watcher on the other
/// machine ends the tree.
pub(crate) struct RemoteCommand {
    channel: Channel<Msg>,
    connection: Arc<Connection>,
    job: JobId,
    /// The process that leads its session there.
    leader: u32,
    /// What came together with the word that it has started.
    printed: Bytes,
    sweeping: Option<Sweep>,
    drained: Option<Pin<Box<Sleep>>>,
    /// When it has had time enough to say that its tree is gone.
    patience: Option<Pin<Box<Sleep>>>,
    asked_to_end: bool,
    was_swept: bool,
    has_ended: bool,
    is_silent: bool,
    over: Over,
}

impl RemoteCommand {
    pub(super) fn new(
        channel: Channel<Msg>,
        connection: Arc<Connection>,
        job: JobId,
        leader: u32,
        (printed, notices): (Bytes, Vec<String>),
    ) -> Self {
        Self {
            channel,
            connection,
            job,
            leader,
            printed,
            sweeping: None,
            drained: None,
            patience: None,
            asked_to_end: false,
            was_swept: false,
            has_ended: false,
            is_silent: false,
            over: Over {
                notices,
                ..Over::default()
            },
        }
    }

    /// One of which it is not known whether it has started: it was given all that it needs.
    pub(super) fn unheard(channel: Channel<Msg>, connection: Arc<Connection>, job: JobId) -> Self {
        let mut command = Self::new(channel, connection, job, 0, (Bytes::new(), Vec::new()));
        command.has_ended = true;
        command.was_swept = true;
        command.is_silent = true;
        command.over.interrupted = true;
        command.over.notices.push(UNHEARD.to_owned());
        command
    }

    /// Whether the command itself has ended; what it left behind may not have.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Asks for the end of its tree, once.
    pub(crate) fn end(&mut self, grace: Duration) {
        if !self.asked_to_end && !self.has_ended {
            self.asked_to_end = true;
            self.sweeping = Some(self.sweep(grace));
            self.patience = Some(Box::pin(sleep(grace.min(MAX_GRACE) + ANSWER)));
        }
    }

    /// What happens next.
    pub(crate) async fn next(&mut self) -> Happened {
        if !self.printed.is_empty() {
            let printed = std::mem::take(&mut self.printed);
            return Happened::Printed(Stream::Stdout, printed);
        }
        while !(self.was_swept && self.has_ended && self.is_silent) {
            // Children that it left behind hold its output open: they go first.
            if self.has_ended && !self.was_swept && self.sweeping.is_none() {
                self.sweeping = Some(self.sweep(Duration::ZERO));
            }
            tokio::select! {
                biased;
                said = or_never(&mut self.sweeping) => {
                    self.sweeping = None;
                    self.patience = None;
                    self.was_swept = true;
                    self.learn(said);
                    self.drained = Some(Box::pin(sleep(DRAIN)));
                }
                () = or_never(&mut self.patience) => {
                    self.over.notices.push(SILENT.to_owned());
                    break;
                }
                () = or_never(&mut self.drained) => {
                    // Who is known to be there still is told as that.
                    if self.over.survivors.is_empty() {
                        self.over.notices.push(held_open());
                    }
                    break;
                }
                message = self.channel.wait(), if !self.is_silent => match message {
                    Some(ChannelMsg::Data { data }) => {
                        return Happened::Printed(Stream::Stdout, data);
                    }
                    Some(ChannelMsg::ExtendedData { data, .. }) => {
                        return Happened::Printed(Stream::Stderr, data);
                    }
                    Some(ChannelMsg::ExitStatus { exit_status }) => {
                        self.over.code = i32::try_from(exit_status).ok();
                        self.has_ended = true;
                    }
                    Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                        self.over.signal = Some(number(&signal_name));
                        self.has_ended = true;
                    }
                    Some(_) => {}
                    None => {
                        self.is_silent = true;
                        if !self.has_ended {
                            self.has_ended = true;
                            self.over.interrupted = true;
                            self.over.notices.push(LOST.to_owned());
                        }
                    }
                },
            }
        }
        // What cannot be said any more is noticed there by the end of the connection.
        let _ = timeout(PARTING, self.channel.close()).await;
        Happened::Over(Box::new(std::mem::take(&mut self.over)))
    }

    fn sweep(&self, grace: Duration) -> Sweep {
        let hundredths = grace.min(MAX_GRACE).as_millis().div_ceil(10);
        let line = sweep(self.job.as_str(), self.leader, hundredths);
        let connection = Arc::clone(&self.connection);
        Box::pin(async move { connection.ask(line).await })
    }

    /// What ending its tree has shown. The command itself is no child left behind.
    fn learn(&mut self, said: Result<String, SandboxError>) {
        match said.map(|said| swept(&said)) {
            Ok(Some((killed, survivors))) => {
                self.over.killed_children = if self.asked_to_end {
                    killed.saturating_sub(1)
                } else {
                    killed
                };
                self.over.survivors = survivors;
            }
            Ok(None) | Err(_) => self.over.notices.push(UNKNOWN.to_owned()),
        }
    }
}

const LOST: &str =
    "the connection to the other machine was lost; how the command ended is not known";

const UNHEARD: &str = "the other machine did not say whether the command has started; it may have, how far it came is \
     not known, and what it has started may go on there";

const SILENT: &str = "the other machine did not say that the command has ended when it was asked to end it; what runs \
     there may go on";

/// Said where the output does not end with all that was found.
fn held_open() -> String {
    format!(
        "its output is held open on the other machine, {} s after all that was found of it had been \
         ended: something that left its session, its parents and its environment (`OUTFITTER_JOB`) \
         may live on there",
        DRAIN.as_secs()
    )
}

const UNKNOWN: &str = "the other machine did not say whether its processes are gone; it ends them \
    by itself once the connection is closed";

/// Waits for what there is, for ever where there is nothing. Kept in its place, so that it goes on
/// where somebody let go of it.
async fn or_never<F: Future + Unpin>(waiting: &mut Option<F>) -> F::Output {
    match waiting {
        Some(waiting) => waiting.await,
        None => std::future::pending().await,
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
