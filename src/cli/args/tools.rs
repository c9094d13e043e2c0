//! `tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{SessionOptions, ToolArguments};

/// `tools`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter tools list
  outfitter tools show grep
  outfitter tools show grep --format mcp
  outfitter tools call calculator --args '{\"expression\": \"2 * 21\"}'
  outfitter tools call file_write --args @call.json --role user
  outfitter tools call render_html2png --args '{\"path\": \"page.html\"}' --save pictures")]
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
    Show(ShowArgs),
    /// Call a tool as a model would, through the same pipeline
    Call(CallArgs),
}

/// `tools show`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter tools show grep
  outfitter tools show grep --format openai        as it stands in a request to a model")]
pub struct ShowArgs {
    /// Its name
    pub name: String,

    /// Print it as others have it: in a request of OpenAI's or Anthropic's, or in a list of MCP
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ToolFormat>,

    /// The options of the session.
    #[command(flatten)]
    pub options: SessionOptions,
}

/// How others have a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolFormat {
    /// In a request of chat completions
    Openai,
    /// In a request of the messages API
    Anthropic,
    /// In a list of tools of MCP
    Mcp,
}

/// `tools call`.
#[derive(Debug, Clone, Args)]
pub struct CallArgs {
    /// The tool's name
    pub name: String,

    /// The arguments: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<ToolArguments>,

    /// Write what the call keeps, as pictures and long results, into this folder
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// The options of the session.
    #[command(flatten)]
    pub options: SessionOptions,
}
