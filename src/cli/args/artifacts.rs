//! `artifacts`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use outfitter_core::{ArtifactId, SessionId};

/// `artifacts`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter artifacts list --session fix-42
  outfitter artifacts get art_01… -o page.png
  outfitter artifacts get art_01… > page.png")]
pub struct ArtifactsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ArtifactsCommand,
}

/// What `artifacts` does.
#[derive(Debug, Clone, Subcommand)]
pub enum ArtifactsCommand {
    /// List what calls of your sessions kept: pictures, long results, commands' whole output
    List {
        /// Only those of this session
        #[arg(long, value_name = "ID")]
        session: Option<SessionId>,
    },
    /// Write the bytes of one, to stdout or a file
    Get(GetArgs),
}

/// `artifacts get`.
#[derive(Debug, Clone, Args)]
pub struct GetArgs {
    /// Its id
    pub id: ArtifactId,

    /// The session that it is in, where you know it: it is looked for otherwise
    #[arg(long, value_name = "ID")]
    pub session: Option<SessionId>,

    /// The file to write; `-` for stdout. Its content is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
