//! A command that runs, wherever it does: what its job is told of it, and what is asked of it.

use std::time::Duration;

use bytes::Bytes;
use outfitter_core::{Refusal, Refused};
use outfitter_process::{ChildError, Ending, Limit, Reached, Remainder, Spawned, Stream};
use rustix::process::Signal;
use tokio::task::JoinSet;

use crate::network::proxy::Refusals;
use crate::ssh::RemoteCommand;

/// A command that has been started. Dropped, it takes its whole tree with it.
pub(crate) enum Running {
    /// A process of this machine.
    Here(Box<Started>),
    /// A process of another machine.
    There(Box<RemoteCommand>),
}

/// Something that happened to a command.
pub(crate) enum Happened {
    /// It printed this.
    Printed(Stream, Bytes),
    /// It is over, and all that it printed was told.
    Over(Box<Over>),
}

/// How a command ended.
#[derive(Debug, Default)]
pub(crate) struct Over {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// What ran it is gone, and how it ended is not known.
    pub(crate) interrupted: bool,
    pub(crate) killed_children: u32,
    pub(crate) survivors: Vec<u32>,
    pub(crate) refusals: Vec<Refusal>,
    /// What a control group counted: nothing else says that it was reached.
    pub(crate) counted: Vec<Limit>,
    pub(crate) notices: Vec<String>,
}

impl Running {
    /// What happens next. May be let go of and asked again: nothing is lost.
    pub(crate) async fn next(&mut self) -> Happened {
        match self {
            Self::Here(started) => started.next().await,
            Self::There(command) => command.next().await,
        }
    }

    /// Whether the command itself has ended, and only what it left behind is waited for.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            Self::Here(_) => false,
            Self::There(command) => command.has_ended(),
        }
    }

    /// Asks for the end of its tree: TERM, the grace, then KILL.
    pub(crate) fn end(&mut self, grace: Duration) {
        match self {
            Self::Here(started) => started.end(grace),
            Self::There(command) => command.end(grace),
        }
    }
}

/// A child that has been started, and its way to the network while it runs.
pub(crate) struct Started {
    spawned: Spawned,
    refusals: Refusals,
    /// Held so that it ends with the job.
    _ways: JoinSet<()>,
    is_printing: bool,
    asked_to_end: bool,
    notices: Vec<String>,
    over: Option<Over>,
}

impl Started {
    pub(crate) fn new(spawned: Spawned, refusals: Refusals, ways: JoinSet<()>) -> Self {
        Self {
            spawned,
            refusals,
            _ways: ways,
            is_printing: true,
            asked_to_end: false,
            notices: Vec::new(),
            over: None,
        }
    }

    async fn next(&mut self) -> Happened {
        while self.over.is_none() {
            tokio::select! {
                // Output last: a command that never stops printing must still be ended. What is in
                // the pipes when it has ended is taken below.
                biased;
                exit = self.spawned.child.wait() => self.over = Some(self.told(exit)),
                piece = self.spawned.output.next(), if self.is_printing => match piece {
                    Ok(Some((stream, bytes))) => return Happened::Printed(stream, bytes),
                    Ok(None) => self.is_printing = false,
                    Err(error) => {
                        self.is_printing = false;
                        self.notices.push(error.to_string());
                    }
                },
            }
        }
        if self.is_printing {
            if let Ok(Some((stream, bytes))) = self.spawned.output.try_next() {
                return Happened::Printed(stream, bytes);
            }
            self.is_printing = false;
        }
        let mut over = self.over.take().unwrap_or_default();
        over.notices.splice(0..0, self.notices.drain(..));
        Happened::Over(Box::new(over))
    }

    fn end(&mut self, grace: Duration) {
        self.asked_to_end = true;
        if let Err(error) = self.spawned.child.request_kill(grace) {
            self.notices.push(error.to_string());
        }
    }

    fn told(&self, exit: Result<outfitter_process::Exit, ChildError>) -> Over {
        let mut over = Over {
            refusals: self.refusals.told(),
            ..Over::default()
        };
        match exit {
            Ok(exit) => {
                over.refusals
                    .extend(exit.reached.into_iter().map(limit_reached));
                over.counted = exit.counted;
                over.notices = exit.notes;
                match exit.ending {
                    Ending::Code(code) => over.code = Some(code),
                    Ending::Signal(signal) => over.signal = Some(signal),
                }
                over.killed_children = exit.killed_children;
                over.survivors = exit.survivors;
            }
            Err(error) => {
                if self.asked_to_end {
                    // It was to end, and what had not ended by then was killed.
                    over.signal = Some(Signal::KILL.as_raw());
                } else {
                    // How the command ended nobody knows: that it ended well least of all.
                    over.interrupted = true;
                }
                over.notices.push(error.to_string());
                if let ChildError::SupervisorLost {
                    remainder: Remainder::Survivors(left),
                } = error
                {
                    over.survivors = left;
                }
            }
        }
        over
    }
}

fn limit_reached(reached: Reached) -> Refusal {
    let (rule, key) = match reached.limit {
        Limit::Memory => ("memory_mb", Some("[sandbox] memory_mb")),
        Limit::Processes => ("processes", Some("[sandbox] processes")),
        Limit::Time => ("cpu_seconds", Some("[sandbox] cpu_seconds")),
        // A constant: it stops what runs away.
        Limit::FileSize => ("file_bytes", None),
    };
    Refusal {
        refused: Refused::Rule(rule),
        allow: key.map(ToOwned::to_owned),
        why: reached.said,
    }
}
