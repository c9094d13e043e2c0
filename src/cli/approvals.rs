//! `approvals list`, `approvals revoke`.

use std::process::ExitCode;

use outfitter_core::{ApprovalId, Code, StandingApproval};
use schemars::JsonSchema;
use serde::Serialize;

use super::Invocation;
use super::args::ApprovalsCommand;
use super::documents;
use super::failure::{Failure, Stop};
use super::session::runtime;
use crate::outfit::Outfitter;
use crate::render::tables;

/// What you approved for longer than a session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ApprovalList")]
pub(crate) struct Approvals {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    v: u32,
    /// Those that hold, the last given first.
    approvals: Vec<Row>,
}

/// One approval.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StandingApproval")]
pub(crate) struct Row {
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

/// An approval that was taken back.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ApprovalRevoked")]
pub(crate) struct Revoked<'a> {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    v: u32,
    /// Its id.
    revoked: &'a str,
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

/// Runs `approvals`.
pub(crate) fn run(at: &Invocation<'_>, command: &ApprovalsCommand) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(Vec::new())?;
    runtime()?.block_on(async {
        match command {
            ApprovalsCommand::List => list(at, &whole).await,
            ApprovalsCommand::Revoke { id } => revoke(at, &whole, id).await,
        }?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(at: &Invocation<'_>, whole: &Outfitter) -> Result<(), Stop> {
    let now = whole.clock().now();
    let all = whole.standing().holding(&whole.local_scope(), now).await?;
    if at.global.json {
        let approvals = all.iter().map(Row::from).collect();
        return documents::write(at, &Approvals { v: 1, approvals });
    }
    at.out.data(&tables::approvals(&all, at.out.stdout))
}

async fn revoke(at: &Invocation<'_>, whole: &Outfitter, id: &ApprovalId) -> Result<(), Stop> {
    let store = whole.standing().store;
    if !store.revoke(&whole.local_scope(), id).await? {
        return Err(Failure::new(Code::NotFound, format!("find the approval {id}")).into());
    }
    if at.global.json {
        let revoked = id.as_str();
        return documents::write(at, &Revoked { v: 1, revoked });
    }
    at.out.tell(&format!("took the approval {id} back\n"));
    Ok(())
}
