//! What can go wrong, on the server's side.

use std::fmt;
use std::io;

use crate::spec::Level;
use crate::stage::Stage;

/// A child could not be started. The texts read on after "failed to start the command:".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The specification makes no sense.
    #[error("invalid specification: {0}")]
    Invalid(&'static str),
    /// A pipe, a socket or the supervisor's process could not be made.
    #[error("{what}")]
    Io {
        /// What was being tried.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The supervisor's program ended or spoke nonsense: it does not begin with
    /// [`run_if_supervisor`](crate::run_if_supervisor), or it was killed.
    #[error(
        "the supervisor did not answer; the program must call run_if_supervisor first in its main"
    )]
    NotASupervisor,
    /// The supervisor was killed before the program could run.
    #[error("its supervisor was killed before it could run, and nothing was run")]
    Killed,
    /// The supervisor did not answer in time.
    #[error("the supervisor did not answer within {seconds} s")]
    Unresponsive {
        /// How long we waited.
        seconds: u64,
    },
    /// One step of the set-up failed; nothing ran.
    #[error("{stage}{}", detail_text(.detail))]
    Setup {
        /// Which step.
        stage: Stage,
        /// On what, if it was on something.
        detail: String,
        /// Why.
        source: io::Error,
    },
    /// This confinement cannot be had at this level.
    #[error("confinement at level {level} is not possible here: {reason}")]
    Unsupported {
        /// The level asked for.
        level: Level,
        /// Why not.
        reason: String,
    },
}

fn detail_text(detail: &str) -> String {
    if detail.is_empty() {
        String::new()
    } else {
        format!(" ({detail})")
    }
}

/// What is left of a child and of all that it started, where its supervisor was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remainder {
    /// Nothing.
    Nothing,
    /// These, as this machine numbers them; not even `SIGKILL` has ended them.
    Survivors(Vec<u32>),
    /// Nobody can say: the process that would have ended it was killed, too.
    Unknown,
}

impl fmt::Display for Remainder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("what it had started was ended"),
            Self::Survivors(pids) => {
                let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
                write!(
                    f,
                    "of what it had started not even SIGKILL ended the processes {}",
                    pids.join(", ")
                )
            }
            Self::Unknown => f.write_str(
                "what it had started and what had left its process tree may run on: the process \
                 that would have ended it was killed, too",
            ),
        }
    }
}

/// A running child could not be watched or reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// The supervisor ended without a report: it was killed, from outside or by its command.
    #[error("the supervisor was lost before it could report how the command ended; {remainder}")]
    SupervisorLost {
        /// What became of what it supervised.
        remainder: Remainder,
    },
    /// The control socket or a pipe failed.
    #[error("{what}")]
    Io {
        /// What was being tried.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}
