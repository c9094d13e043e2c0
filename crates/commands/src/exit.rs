//! The exit of a project's program.

use outfitter_core::Code;

/// The exit that goes with an error of this code; none for codes that no program can give.
#[must_use]
pub fn exit_of(code: Code) -> Option<u8> {
    match code {
        Code::Failed => Some(1),
        Code::InvalidArguments | Code::Usage => Some(2),
        Code::Unauthenticated => Some(3),
        Code::NotPermitted | Code::NeedsApproval | Code::Denied => Some(4),
        Code::UnknownTool | Code::NotFound => Some(5),
        Code::Conflict | Code::Busy => Some(6),
        Code::RateLimited => Some(7),
        Code::Unavailable => Some(8),
        // These are said of a program, not by it.
        Code::NotPresented
        | Code::Timeout
        | Code::Cancelled
        | Code::Interrupted
        | Code::TooLarge
        | Code::ProtocolError
        | Code::Limit
        | Code::Internal => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_the_documents_print() {
        let rows: Vec<String> = Code::ALL
            .into_iter()
            .filter_map(|code| Some(format!("{} {code}", exit_of(code)?)))
            .collect();
        insta::assert_snapshot!(rows.join("\n"), @r"
        5 unknown_tool
        5 not_found
        2 invalid_arguments
        2 usage
        3 unauthenticated
        4 not_permitted
        4 needs_approval
        4 denied
        6 conflict
        6 busy
        7 rate_limited
        8 unavailable
        1 failed
        ");
    }
}
