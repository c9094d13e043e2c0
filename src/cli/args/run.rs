//! `demo`, `run`, `chat`, `doctor`.

use clap::Args;

use super::SessionOptions;

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
  outfitter run --json say hello | jq .type      events, one a line

The answer goes to stdout; what the agent does is shown on stderr.")]
pub struct RunArgs {
    /// What the agent shall do; `-` reads it from stdin; none continues an unfinished turn
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,

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

/// `chat`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter chat                        the session `cli`
  outfitter chat --session planning     another one

An empty line or Ctrl-D ends it; Ctrl-C stops the answer that is being written.")]
pub struct ChatArgs {
    /// The options of the session.
    #[command(flatten)]
    pub options: SessionOptions,
}

/// `doctor`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Example:
  outfitter doctor        what works here and what does not, each with a reason and a hint")]
pub struct DoctorArgs {}
