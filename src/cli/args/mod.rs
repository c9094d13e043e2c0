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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Options and arguments that take any text of their kind.
    const ANY: [&str; 12] = [
        "args",
        "bind",
        "config",
        "id",
        "model",
        "name",
        "output",
        "prompt",
        "question",
        "save",
        "session",
        "workspace",
    ];

    /// Those that take any text, but some words mean something else: all of these.
    const WORDS: [(&str, &[&str]); 4] = [
        ("skills", &["auto"]),
        ("tools", &["empty for none"]),
        ("value", &["true", "false", "session", "always"]),
        ("workflow", &["off", "lexical", "model"]),
    ];

    fn each(command: &clap::Command, path: &str, look: &mut dyn FnMut(&str, &clap::Command)) {
        look(path, command);
        for inner in command.get_subcommands() {
            each(inner, &format!("{path} {}", inner.get_name()), look);
        }
    }

    /// Whoever adds an option decides here whether it has choices; its help then has all of them.
    #[test]
    fn an_option_with_choices_did_not_list_them_in_its_help() {
        let mut wrong = Vec::new();
        each(&Cli::command(), "outfitter", &mut |path, command| {
            for arg in command
                .get_arguments()
                .filter(|arg| arg.get_action().takes_values())
            {
                let id = arg.get_id().as_str();
                let choices = arg.get_possible_values();
                let about = format!(
                    "{} {} {}",
                    arg.get_help().map(ToString::to_string).unwrap_or_default(),
                    arg.get_long_help()
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                    choices
                        .iter()
                        .map(clap::builder::PossibleValue::get_name)
                        .collect::<Vec<_>>()
                        .join(" "),
                );
                let words = WORDS
                    .iter()
                    .find(|(name, _)| *name == id)
                    .map(|(_, words)| *words);
                let right = match (words, choices.is_empty()) {
                    (Some(words), _) => words.iter().all(|word| about.contains(word)),
                    (None, false) => !arg.is_hide_possible_values_set(),
                    (None, true) => ANY.contains(&id),
                };
                if !right {
                    wrong.push(format!("{path} {id}: {about}"));
                }
            }
        });
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// A word that is none of the choices is answered with all of them.
    #[test]
    fn an_unknown_word_was_answered_without_the_choices() {
        let mut seen = 0;
        each(&Cli::command(), "outfitter", &mut |path, command| {
            for arg in command.get_arguments() {
                let (Some(long), choices) = (arg.get_long(), arg.get_possible_values()) else {
                    continue;
                };
                if choices.is_empty() || !arg.get_action().takes_values() {
                    continue;
                }
                let words = path.split(' ').map(str::to_owned);
                let words = words.chain([format!("--{long}=nosuchword")]);
                let error = Cli::command().try_get_matches_from(words).unwrap_err();
                let text = error.render().to_string();
                for choice in &choices {
                    assert!(text.contains(choice.get_name()), "{path} --{long}: {text}");
                }
                seen += 1;
            }
        });
        assert!(seen > 10, "{seen}");
    }
}
