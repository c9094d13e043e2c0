//! `approvals list`, `approvals revoke`.

use std::process::ExitCode;

use outfitter_codec::ApprovalList;
use outfitter_core::{ApprovalId, Code};
use schemars::JsonSchema;
use serde::Serialize;

use super::Invocation;
use super::args::ApprovalsCommand;
use super::documents;
use super::failure::{Failure, Stop};
use super::stopping::runtime;
use crate::outfit::Outfitter;
use crate::render::tables;

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
        return documents::write(at, &ApprovalList::of(&all));
    }
    at.out.data(&tables::approvals(&all, at.out.stdout))
}

async fn revoke(at: &Invocation<'_>, whole: &Outfitter, id: &ApprovalId) -> Result<(), Stop> {
    let store = whole.standing().store;
    if !store.revoke(&whole.local_scope(), id).await? {
        let failure = Failure::new(Code::NotFound, format!("find the approval {id}"));
        let hint = "`outfitter approvals list` lists them";
        return Err(failure.with_hint(hint).into());
    }
    if at.global.json {
        let revoked = id.as_str();
        return documents::write(at, &Revoked { v: 1, revoked });
    }
    at.out.tell(&format!("took the approval {id} back\n"));
    Ok(())
}
