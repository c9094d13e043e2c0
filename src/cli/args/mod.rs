//! The command line as types: one struct a command, the options that several share, and what they
//! say about the configuration.

mod approvals;
mod artifacts;
mod init;
mod options;
mod run;
mod serve;
mod sessions;
mod skills;
mod tools;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use approvals::{ApprovalsArgs, ApprovalsCommand};
pub use artifacts::{ArtifactsArgs, ArtifactsCommand, GetArgs};
pub use init::InitArgs;
pub use options::SessionOptions;
pub use run::{ChatArgs, DemoArgs, DoctorArgs, Prompt, RunArgs};
pub use serve::ServeArgs;
pub use sessions::{AnswerArgs, SessionsArgs, SessionsCommand};
pub use skills::{SkillsArgs, SkillsCommand};
pub use tools::{CallArgs, ShowArgs, ToolFormat, ToolsArgs, ToolsCommand};
pub use values::{ModelName, ToolArguments};

/// Outfits an LLM agent: tools behind one permission boundary, a real sandbox, live progress, one
/// log.
#[derive(Debug, Parser)]
#[command(
    name = "outfitter",
    version,
    subcommand_required = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The configuration file [default: ./outfitter.toml, then the one in your config directory]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub config: Option<PathBuf>,

    /// Print JSON on stdout, errors too
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,

    /// Show more of what happens
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    pub verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See it work: a scripted model, real tools, no key and no network
    Demo(DemoArgs),
    /// Make one run: a prompt in, an answer out
    Run(RunArgs),
    /// Talk in the terminal
    Chat(ChatArgs),
    /// Serve runs, tools and sessions over HTTP: NDJSON, AG-UI, MCP
    Serve(ServeArgs),
    /// List, show or call tools
    Tools(ToolsArgs),
    /// List or show skills
    Skills(SkillsArgs),
    /// List, show, replay, answer or delete sessions
    Sessions(SessionsArgs),
    /// List or write what calls kept: pictures, long results
    Artifacts(ArtifactsArgs),
    /// List or take back what you approved for longer than a session
    Approvals(ApprovalsArgs),
    /// Check, explain or describe the configuration
    Config(ConfigArgs),
    /// Say what works here and what does not
    Doctor(DoctorArgs),
    /// Write an outfitter.toml and a first skill
    Init(InitArgs),
}

/// `config`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  outfitter config check                 is outfitter.toml right? all problems, each with its place
  outfitter config explain               every value in effect, and where it comes from
  outfitter config schema > schema.json  for your editor")]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What `config` does.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Say what is wrong with the configuration
    Check,
    /// Print every key with its value, where it comes from and what it means
    Explain {
        /// Print what a model is told first instead
        #[arg(long)]
        prompt: bool,
    },
    /// Print the JSON Schema of outfitter.toml
    Schema {
        /// Print the tables of the documentation instead
        #[arg(long)]
        markdown: bool,
    },
}
