//! The options that the commands around a session share.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use outfitter_core::{Mode, Role, SessionId};
use serde_json::Value;

use super::values::ModelName;
use crate::config::FlagValue;

/// The options of `run`, `chat` and `tools`.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Session")]
pub struct SessionOptions {
    /// The session: 1 to 128 characters of A-Z a-z 0-9 . _ : -, and not . or ..
    #[arg(long, value_name = "ID")]
    pub session: Option<SessionId>,

    /// The role you act with
    #[arg(long, value_name = "ROLE", value_parser = role_parser())]
    pub role: Option<Role>,

    /// How much of what is granted may be used: everything, only tools that read, or no tool
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    pub mode: Option<Mode>,

    /// The model, as `openai/gpt-5`; only the first slash separates
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub model: Option<ModelName>,

    /// The skills in context from the first request on; `auto` takes those that fit the prompt
    #[arg(long, value_name = "A,B,…|auto")]
    pub skills: Option<String>,

    /// What happens to calls that a person would have to approve
    #[arg(long, value_name = "ask|never", value_parser = ["ask", "never"])]
    pub approval: Option<String>,

    /// Where the agent works [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// The tools that may be used: names and globs, as `file_*,grep`; empty for none
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,
}

fn role_parser() -> impl clap::builder::TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.map(Role::as_str)).map(|word| {
        Role::ALL
            .into_iter()
            .find(|role| role.as_str() == word)
            .unwrap_or_default()
    })
}

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str))
        .map(|word| Mode::of(&word).unwrap_or_default())
}

impl SessionOptions {
    /// What the options say about keys of the configuration.
    #[must_use]
    pub fn flags(&self) -> Vec<FlagValue> {
        let set = |key, flag, value| FlagValue { key, flag, value };
        let mut flags = Vec::new();
        if let Some(role) = self.role {
            flags.push(set(
                "permissions.local_role",
                "--role",
                Value::from(role.as_str()),
            ));
        }
        if let Some(mode) = self.mode {
            flags.push(set("agent.mode", "--mode", Value::from(mode.as_str())));
        }
        if let Some(model) = &self.model {
            let ModelName { provider, name } = model.clone();
            flags.push(set("model.provider", "--model", provider.into()));
            flags.push(set("model.name", "--model", name.into()));
        }
        if let Some(skills) = &self.skills {
            let value = match skills.trim() {
                "auto" => Value::from("auto"),
                names => names
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .collect(),
            };
            flags.push(set("skills.load", "--skills", value));
        }
        if let Some(approval) = &self.approval {
            let value = Value::from(approval.as_str());
            flags.push(set("permissions.approval", "--approval", value));
        }
        if let Some(tools) = &self.tools {
            let names = tools.iter().map(|name| name.trim());
            let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
            flags.push(set("tools.available", "--tools", names.into()));
        }
        flags
    }
}
