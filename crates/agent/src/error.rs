//! Why a run could not be made, as opposed to a run that failed.

use outfitter_core::{AppendError, Code, ErrorInfo, JournalError, SessionId, StoreError};

use crate::answers::AnswerError;

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
        let mut message = format!("failed to {self}");
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            message = format!("{message}: {error}");
            cause = error.source();
        }
        let info = ErrorInfo::new(code, message);
        match self {
            Self::NothingToContinue(_) => info.with_hint("give a prompt to begin a new turn"),
            Self::Answer(AnswerError::Unfit { why, .. }) => ErrorInfo {
                message: info.message,
                ..(**why).clone()
            },
            Self::Busy(_) | Self::Answer(_) | Self::Store(_) | Self::Journal(_) => info,
        }
    }
}
