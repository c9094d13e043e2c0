//! Why a run could not be made, as opposed to a run that failed.

use outfitter_core::{
    AppendError, Code, ErrorInfo, InterruptId, JournalError, SessionId, StoreError, chain,
};

/// Why there is no run, or why its end could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The last turn has its answer, or there is none.
    #[error("continue the session {0}: it has no unfinished turn")]
    NothingToContinue(SessionId),
    /// Another run of this process works on the session.
    #[error("use the session {0}: a run is under way")]
    Busy(SessionId),
    /// An answer was not taken.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// A workflow was asked for that there is not.
    #[error("follow the workflow {name:?}: there is none of that name")]
    UnknownWorkflow {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The session cannot be read.
    #[error("read the session")]
    Store(#[from] StoreError),
    /// What happened could not be recorded; the session stands as it was recorded last.
    #[error("record the run")]
    Journal(#[from] JournalError),
}

impl RunError {
    /// The error as clients read it, with its causes.
    #[must_use]
    pub fn to_info(&self) -> ErrorInfo {
        let code = match self {
            Self::NothingToContinue(_) => Code::Usage,
            Self::Busy(_) => Code::Busy,
            Self::UnknownWorkflow { .. } => Code::InvalidArguments,
            Self::Answer(error) => error.code(),
            Self::Store(error) | Self::Journal(JournalError(AppendError::Store(error))) => {
                match error {
                    StoreError::NotFound(_) => Code::NotFound,
                    _ => Code::Unavailable,
                }
            }
            Self::Journal(JournalError(
                AppendError::Conflict { .. } | AppendError::Fenced { .. },
            )) => Code::Conflict,
        };
        let info = ErrorInfo::new(code, format!("failed to {}", chain(self)));
        match self {
            Self::NothingToContinue(_) => info.with_hint("give a prompt to begin a new turn"),
            Self::UnknownWorkflow { known, .. } => info.with_hint(match known.as_slice() {
                [] => "[[workflows]] has none".to_owned(),
                known => format!("there is {}; or off, lexical, model", known.join(", ")),
            }),
            Self::Answer(AnswerError::Unfit { why, .. }) => ErrorInfo {
                message: info.message,
                ..(**why).clone()
            },
            Self::Busy(_) | Self::Answer(_) | Self::Store(_) | Self::Journal(_) => info,
        }
    }
}

/// Why an answer was not taken. The question stands as it stood.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// No such question in this session, or not for this person.
    #[error("find the question {0}")]
    NotFound(InterruptId),
    /// It does not wait any more.
    #[error("answer {0}: it has been answered already")]
    Settled(InterruptId),
    /// Its time is up.
    #[error("answer {0}: its time was up")]
    Expired(InterruptId),
    /// The answer is not of the form that was asked for.
    #[error("answer {id}: {}", why.message)]
    Unfit {
        /// Which question.
        id: InterruptId,
        /// Every fault.
        why: Box<ErrorInfo>,
    },
}

impl AnswerError {
    /// The code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::NotFound,
            Self::Settled(_) | Self::Expired(_) => Code::Conflict,
            Self::Unfit { why, .. } => why.code,
        }
    }
}
