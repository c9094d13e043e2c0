//! The closed table of error codes.

use serde::{Deserialize, Serialize};

/// What went wrong, in one word that means the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No tool of that name, or not one of yours.
    UnknownTool,
    /// No such thing, or not yours.
    NotFound,
    /// Allowed, but not in this request; the error says how to get it.
    NotPresented,
    /// The arguments do not fit the schema.
    InvalidArguments,
    /// The command line or the configuration is wrong.
    Usage,
    /// No, an expired or a forged credential.
    Unauthenticated,
    /// The policy or the role forbids it.
    NotPermitted,
    /// It would need an approval that nobody can give here.
    NeedsApproval,
    /// A person, or the rule for when nobody answers, said no.
    Denied,
    /// Changed meanwhile.
    Conflict,
    /// Already running.
    Busy,
    /// Try later.
    RateLimited,
    /// An upstream, a backend or a model is not there.
    Unavailable,
    /// The deadline passed.
    Timeout,
    /// Stopped by a person.
    Cancelled,
    /// Found half done after a crash.
    Interrupted,
    /// Over a stated bound.
    TooLarge,
    /// The other side broke its protocol.
    ProtocolError,
    /// The work itself says no.
    Failed,
    /// Turns, tokens or cost used up.
    Limit,
    /// Our fault.
    Internal,
}

impl Code {
    /// Every code, in the order of the table.
    pub const ALL: [Self; 21] = [
        Self::UnknownTool,
        Self::NotFound,
        Self::NotPresented,
        Self::InvalidArguments,
        Self::Usage,
        Self::Unauthenticated,
        Self::NotPermitted,
        Self::NeedsApproval,
        Self::Denied,
        Self::Conflict,
        Self::Busy,
        Self::RateLimited,
        Self::Unavailable,
        Self::Timeout,
        Self::Cancelled,
        Self::Interrupted,
        Self::TooLarge,
        Self::ProtocolError,
        Self::Failed,
        Self::Limit,
        Self::Internal,
    ];

    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::NotFound => "not_found",
            Self::NotPresented => "not_presented",
            Self::InvalidArguments => "invalid_arguments",
            Self::Usage => "usage",
            Self::Unauthenticated => "unauthenticated",
            Self::NotPermitted => "not_permitted",
            Self::NeedsApproval => "needs_approval",
            Self::Denied => "denied",
            Self::Conflict => "conflict",
            Self::Busy => "busy",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::TooLarge => "too_large",
            Self::ProtocolError => "protocol_error",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Internal => "internal",
        }
    }

    /// The exit status of `outfitter` when this ends it.
    #[must_use]
    pub fn exit(self) -> u8 {
        match self {
            Self::UnknownTool | Self::NotFound => 5,
            Self::NotPresented | Self::NotPermitted | Self::NeedsApproval | Self::Denied => 4,
            Self::InvalidArguments | Self::Usage => 2,
            Self::Unauthenticated => 3,
            Self::Timeout => 124,
            Self::Cancelled | Self::Interrupted => 130,
            Self::Conflict
            | Self::Busy
            | Self::RateLimited
            | Self::Unavailable
            | Self::TooLarge
            | Self::ProtocolError
            | Self::Failed
            | Self::Limit
            | Self::Internal => 1,
        }
    }

    /// Whether the same call may succeed later without being changed.
    #[must_use]
    pub fn retryable(self) -> bool {
        matches!(
            self,
            Self::Busy | Self::RateLimited | Self::Unavailable | Self::Timeout
        )
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_the_documents_print() {
        let rows: Vec<String> = Code::ALL
            .iter()
            .map(|code| format!("{code} exit {} retryable {}", code.exit(), code.retryable()))
            .collect();
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn serde_and_as_str_agree() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
