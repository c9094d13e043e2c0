//! What was approved for longer than a session, as it is listed everywhere.

use outfitter_core::StandingApproval;
use schemars::JsonSchema;
use serde::Serialize;

/// What you approved for longer than a session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ApprovalList {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    v: u32,
    /// Those that hold, the last given first.
    approvals: Vec<Row>,
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "StandingApproval")]
struct Row {
    /// Its id.
    id: String,
    /// The tool.
    tool: String,
    /// What calls it holds for: the commands of a line, paths, or what other calls are about.
    what: Vec<String>,
    /// The workspace that it holds in; `own` for all that are made for one session.
    place: String,
    /// The session it was given in.
    session_id: String,
    /// When it was given, in Unix milliseconds.
    created: u64,
    /// When it ends, in Unix milliseconds.
    expires: u64,
}

impl ApprovalList {
    /// The document of these.
    #[must_use]
    pub fn of(approvals: &[StandingApproval]) -> Self {
        Self {
            v: 1,
            approvals: approvals.iter().map(Row::from).collect(),
        }
    }
}

impl From<&StandingApproval> for Row {
    fn from(approval: &StandingApproval) -> Self {
        Self {
            id: approval.id.to_string(),
            tool: approval.tool.to_string(),
            what: approval.what.clone(),
            place: approval.place.clone(),
            session_id: approval.session.to_string(),
            created: approval.at.0,
            expires: approval.expires.0,
        }
    }
}
