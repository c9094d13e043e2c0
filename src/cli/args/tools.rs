//! `tools`.

use clap::{Args, Subcommand};

use super::{SessionOptions, ToolArguments};

/// `tools`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter tools list
  outfitter tools show grep
  outfitter tools call calculator --args '{\"expression\": \"2 * 21\"}'
  outfitter tools call file_write --args @call.json --role user")]
pub struct ToolsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ToolsCommand,
}

/// What `tools` does.
#[derive(Debug, Clone, Subcommand)]
pub enum ToolsCommand {
    /// List the tools you may use
    List {
        /// The options of the session.
        #[command(flatten)]
        options: SessionOptions,
    },
    /// Print what a tool does, takes and gives
    Show {
        /// Its name
        name: String,
        /// The options of the session.
        #[command(flatten)]
        options: SessionOptions,
    },
    /// Call a tool as a model would, through the same pipeline
    Call(CallArgs),
}

/// `tools call`.
#[derive(Debug, Clone, Args)]
pub struct CallArgs {
    /// The tool's name
    pub name: String,

    /// The arguments: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<ToolArguments>,

    /// The options of the session.
    #[command(flatten)]
    pub options: SessionOptions,
}
