//! `init`.

use clap::Args;

/// `init`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Example:
  outfitter init          outfitter.toml and skills/house-rules/SKILL.md, to be changed at will

Files that are there stay as they are.")]
pub struct InitArgs {}
