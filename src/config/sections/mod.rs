//! The keys: their types, defaults, bounds and documentation. A table is a file.
//!
//! This folder is the one place where a key is declared. The JSON Schema, the table in the
//! documentation, the checks of values and `config explain` are made from it.

mod agent;
mod channels;
mod commands;
mod contacts;
mod files;
mod formats;
mod mcp;
mod model;
mod permissions;
mod plugin_api;
mod progress;
mod sandbox;
mod send;
mod server;
mod shell;
mod skills;
mod ssh;
mod store;
mod tools;
mod web;
mod workflows;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agent::Agent;
pub use channels::{Channel, ChannelKind};
pub use commands::{Credential, Program};
pub use contacts::{Contacts, Search};
pub use files::Files;
pub use mcp::{Mcp, McpServer};
pub use model::{Model, Tokenizer, ToolMode};
pub use permissions::{Approval, Permissions, RuleArguments, RuleRow, Verdict as RuleVerdict};
pub use plugin_api::{Api, ApiMethod, PluginApi};
pub use progress::Progress;
pub use sandbox::{Backend, Network, Require, Sandbox, Ssh};
pub use send::Send;
pub use server::Server;
pub use shell::Shell;
pub use skills::{Load, Skills};
pub use store::Store;
pub use tools::{Suggestion, Tools};
pub use web::Web;
pub use workflows::WorkflowRow;

/// The configuration of Outfitter: the tables and keys of `outfitter.toml`. Every key has a
/// default; an empty file is valid; an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "outfitter.toml")]
pub struct Config {
    /// Which model answers, and how it is called.
    pub model: Model,
    /// The loop around the model.
    pub agent: Agent,
    /// Which tools there are, and how much of a result a model reads.
    pub tools: Tools,
    /// Who may do what.
    pub permissions: Permissions,
    /// Where commands run and what they can touch.
    pub sandbox: Sandbox,
    /// The tools that run commands.
    pub shell: Shell,
    /// The tools that read and write files.
    pub files: Files,
    /// The tools that fetch from the web.
    pub web: Web,
    /// What running tools print, while they run.
    pub progress: Progress,
    /// Where sessions are kept.
    pub store: Store,
    /// What is served over HTTP.
    pub server: Server,
    /// Instruction packs.
    pub skills: Skills,
    /// Servers whose tools are used.
    pub mcp: Mcp,
    /// A program of the project whose commands become one tool, `project_cli`.
    pub commands: BTreeMap<String, Program>,
    /// A way for messages out of a session, for `send_message`.
    pub channels: BTreeMap<String, Channel>,
    /// How messages go out.
    pub send: Send,
    /// Who there is to speak to.
    pub contacts: Contacts,
    /// How much a search finds.
    pub search: Search,
    /// APIs whose operations are tools, `call_API_OPERATION`, for administrators.
    pub plugin_api: PluginApi,
    /// Steps with a name, that a turn may follow: `[agent] workflow` says which.
    pub workflows: Vec<WorkflowRow>,
}
