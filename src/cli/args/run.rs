//! `demo`, `run`, `chat`, `doctor`.

use clap::Args;
use serde_json::Value;

use super::SessionOptions;
use crate::config::FlagValue;

/// `demo`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Example:
  outfitter demo          a scripted model leads the real loop through the real tools")]
pub struct DemoArgs {}

/// `run`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter run why does the build fail
  outfitter run --tools 'file_*,grep' -- list what is still to do
  git diff | outfitter run -                     the prompt from stdin
  outfitter run --session fix-42                 go on with a turn that was cut off
  outfitter run --workflow release version 2.0   take the steps of a workflow
  outfitter run --json say hello | jq .type      events, one a line

The answer goes to stdout; what the agent does is shown on stderr.")]
pub struct RunArgs {
    /// What the agent shall do; `-` reads it from stdin; none continues an unfinished turn
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,

    /// The workflow of the turn: the name of one of [[workflows]], off, lexical or model
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,

    /// The options of the session.
    #[command(flatten)]
    pub options: SessionOptions,
}

/// What the agent shall do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// Continue what is unfinished.
    None,
    /// What stdin says.
    Stdin,
    /// This.
    Text(String),
}

impl RunArgs {
    /// What the options say about keys of the configuration.
    #[must_use]
    pub fn flags(&self) -> Vec<FlagValue> {
        let mut flags = self.options.flags();
        flags.extend(workflow_flag(self.workflow.as_deref()));
        flags
    }

    /// What the agent shall do: the words with spaces between them.
    #[must_use]
    pub fn prompt(&self) -> Prompt {
        match self.prompt.as_slice() {
            [] => Prompt::None,
            [one] if one == "-" => Prompt::Stdin,
            words => Prompt::Text(words.join(" ")),
        }
    }
}

fn workflow_flag(workflow: Option<&str>) -> Option<FlagValue> {
    workflow.map(|name| FlagValue {
        key: "agent.workflow",
        flag: "--workflow",
        value: Value::from(name),
    })
}

/// `chat`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter chat                        the session `cli`
  outfitter chat --session planning     another one

An empty line or Ctrl-D ends it; Ctrl-C stops the answer that is being written.
SIGHUP makes it read its configuration again, whole or not at all.")]
pub struct ChatArgs {
    /// The workflow of each turn: the name of one of [[workflows]], off, lexical or model
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,

    /// The options of the session.
    #[command(flatten)]
    pub options: SessionOptions,
}

impl ChatArgs {
    /// What the options say about keys of the configuration.
    #[must_use]
    pub fn flags(&self) -> Vec<FlagValue> {
        let mut flags = self.options.flags();
        flags.extend(workflow_flag(self.workflow.as_deref()));
        flags
    }
}

/// `doctor`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Example:
  outfitter doctor        what works here and what does not, each with a reason and a hint")]
pub struct DoctorArgs {}
