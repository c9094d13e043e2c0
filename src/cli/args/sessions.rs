//! `sessions`.

use clap::{Args, Subcommand};
use outfitter_core::{InterruptId, SessionId};

use super::SessionOptions;

/// `sessions`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter sessions list
  outfitter sessions show fix-42              the conversation, as a person reads it
  outfitter sessions replay fix-42 --json     the events, as they were told
  outfitter sessions answer int_01… yes       a question that a run left open
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
    /// Answer a question, or approve a call, and go on with its turn
    Answer(AnswerArgs),
    /// Delete a session with all that belongs to it
    Delete {
        /// Its id
        id: SessionId,
    },
}

/// `sessions answer`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter sessions answer int_01… \"the blue one\"
  outfitter sessions answer int_01… true           approves the call that waits
  outfitter sessions answer int_01… session        and all like it in this session")]
pub struct AnswerArgs {
    /// The id of the question, as its event names it
    #[arg(value_name = "QUESTION_ID")]
    pub question: InterruptId,

    /// The answer: text, or JSON where the question wants something else; to an approval: true or
    /// false, session (yes to all like it in this session), always (until it expires)
    #[arg(allow_hyphen_values = true)]
    pub value: String,

    /// The options of the session.
    #[command(flatten)]
    pub options: SessionOptions,
}
