//! What can go wrong, and the exit that goes with it.

use outfitter_auth::TokenError;
use outfitter_core::Code;
use serde_json::{Value, json};

/// An error of this program, for people and in a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The word of the table.
    pub code: Code,
    /// One lowercase fragment.
    pub message: String,
    /// More of it, for programs.
    pub details: Option<Value>,
}

impl Fault {
    /// An error.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
        }
    }

    /// A command line that cannot be understood.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message)
    }

    /// An argument that cannot be used.
    #[must_use]
    pub fn invalid(argument: &str, message: impl Into<String>) -> Self {
        Self {
            details: Some(json!({ "path": format!("/{argument}") })),
            ..Self::new(Code::InvalidArguments, message)
        }
    }

    /// What is not there, or not the caller's: nobody is told which.
    #[must_use]
    pub fn no_event(id: &str) -> Self {
        Self::new(Code::NotFound, format!("there is no event {id}"))
    }

    /// Its exit.
    #[must_use]
    pub fn exit(&self) -> u8 {
        exit_of(self.code)
    }
}

impl From<TokenError> for Fault {
    fn from(error: TokenError) -> Self {
        Self::new(error.code(), format!("failed to {error}"))
    }
}

/// The exit of a project CLI for the codes that this one has; 1 for anything else.
#[must_use]
pub fn exit_of(code: Code) -> u8 {
    match code {
        Code::InvalidArguments | Code::Usage => 2,
        Code::Unauthenticated => 3,
        Code::NotPermitted => 4,
        Code::NotFound => 5,
        Code::Conflict => 6,
        Code::Unavailable => 8,
        Code::Failed
        | Code::UnknownTool
        | Code::NotPresented
        | Code::NeedsApproval
        | Code::Denied
        | Code::Busy
        | Code::RateLimited
        | Code::Timeout
        | Code::Cancelled
        | Code::Interrupted
        | Code::TooLarge
        | Code::ProtocolError
        | Code::Limit
        | Code::Internal => 1,
    }
}
