//! `skills`.

use clap::{Args, Subcommand};

use super::SessionOptions;

/// `skills`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter skills list
  outfitter skills show house-rules
  outfitter skills list --json | jq .diagnostics     what was left out, or looks wrong

A skill is a folder with a SKILL.md in one of the directories of [skills] dirs.")]
pub struct SkillsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SkillsCommand,
}

/// What `skills` does.
#[derive(Debug, Clone, Subcommand)]
pub enum SkillsCommand {
    /// List the skills that may be used
    List {
        /// The options of the session.
        #[command(flatten)]
        options: SessionOptions,
    },
    /// Print a skill with its instructions
    Show {
        /// Its name
        name: String,
        /// The options of the session.
        #[command(flatten)]
        options: SessionOptions,
    },
}
