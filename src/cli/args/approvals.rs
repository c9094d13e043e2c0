//! `approvals`.

use clap::{Args, Subcommand};
use outfitter_core::ApprovalId;

/// `approvals`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter approvals list
  outfitter approvals revoke apr_01…

An approval is listed here when it was given with `always`. It ends by itself after [permissions]
always_days.")]
pub struct ApprovalsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ApprovalsCommand,
}

/// What `approvals` does.
#[derive(Debug, Clone, Subcommand)]
pub enum ApprovalsCommand {
    /// List what you approved for longer than a session, the last given first
    List,
    /// Take an approval back: you are asked again
    Revoke {
        /// Its id
        id: ApprovalId,
    },
}
