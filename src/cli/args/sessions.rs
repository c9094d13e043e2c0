//! `sessions`.

use clap::{Args, Subcommand};
use outfitter_core::SessionId;

/// `sessions`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter sessions list
  outfitter sessions show fix-42              the conversation, as a person reads it
  outfitter sessions replay fix-42 --json     the events, as they were told
  outfitter sessions delete fix-42")]
pub struct SessionsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SessionsCommand,
}

/// What `sessions` does.
#[derive(Debug, Clone, Subcommand)]
pub enum SessionsCommand {
    /// List your sessions, the last changed first
    List,
    /// Print the messages of a session
    Show {
        /// Its id
        id: SessionId,
    },
    /// Print the events of a session again
    Replay {
        /// Its id
        id: SessionId,
    },
    /// Delete a session with all that belongs to it
    Delete {
        /// Its id
        id: SessionId,
    },
}
