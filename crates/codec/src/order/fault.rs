//! The rules, as what breaks them.

/// A broken rule, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} of run {run:?}: {kind}")]
pub struct OrderFault {
    /// In which run; empty where that is not known.
    pub run: String,
    /// At which event.
    pub seq: u64,
    /// Which rule.
    pub kind: OrderFaultKind,
}

/// A rule of the order, as what breaks it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderFaultKind {
    /// Not an event line.
    #[error("this is no event line")]
    NotALine,
    /// Another run or session in the middle of one.
    #[error("this is of another run or session")]
    OtherRun,
    /// A number that does not rise as it must.
    #[error("seq should be {expected}")]
    Seq {
        /// The number that was due; for a replay, the least.
        expected: u64,
    },
    /// The first event is not `run_started`.
    #[error("a run begins with run_started")]
    NotStarted,
    /// A second `run_started`.
    #[error("a run begins once")]
    StartedTwice,
    /// No `run_finished`.
    #[error("the run has no run_finished")]
    NotFinished,
    /// Anything after `run_finished`.
    #[error("run_finished is last")]
    AfterFinish,
    /// A delta or progress from the log.
    #[error("deltas and progress are never replayed")]
    EphemeralReplayed,
    /// A delta that adds nothing.
    #[error("a delta is never empty")]
    EmptyDelta,
    /// A delta of a message that is whole.
    #[error("message {message} is whole, nothing adds to it")]
    DeltaAfterMessage {
        /// Which message.
        message: String,
    },
    /// One message twice.
    #[error("message {message} was there before")]
    MessageTwice {
        /// Which message.
        message: String,
    },
    /// Something of a call that has not begun.
    #[error("call {call} has no tool_call before this")]
    UnknownCall {
        /// Which call.
        call: String,
    },
    /// One call begun twice.
    #[error("call {call} began before")]
    CallTwice {
        /// Which call.
        call: String,
    },
    /// Progress after the closing one, after the result, or while the call waits.
    #[error("call {call} prints nothing more")]
    AfterClosed {
        /// Which call.
        call: String,
    },
    /// A closing progress with text, or one without that closes nothing.
    #[error(
        "call {call}: the closing progress has no text, and another has one or says what was lost"
    )]
    ClosingText {
        /// Which call.
        call: String,
    },
    /// A closing progress of a call that printed nothing.
    #[error("call {call} printed nothing, so there is nothing to close")]
    ClosedUnopened {
        /// Which call.
        call: String,
    },
    /// A call that goes on printing when its result, its wait or the end of the run comes.
    #[error("call {call} is not closed")]
    NotClosed {
        /// Which call.
        call: String,
    },
    /// Two waits of one call in one run.
    #[error("call {call} waits already")]
    WaitsTwice {
        /// Which call.
        call: String,
    },
    /// Two results of one call.
    #[error("call {call} has its result already")]
    ResultTwice {
        /// Which call.
        call: String,
    },
    /// A call without a result at the end of the run.
    #[error("call {call} has no result")]
    NoResult {
        /// Which call.
        call: String,
    },
}
