//! The keys: their types, defaults, bounds and documentation.
//!
//! This file is the one place where a key is declared. The JSON Schema, the table in the
//! documentation, the checks of values and `config explain` are made from it.

pub use super::connections::{Credential, Load, Mcp, McpServer, Program, Server, Skills};
use std::collections::BTreeMap;
use std::path::PathBuf;

use outfitter_core::Role;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

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
}

/// Which model answers, and how it is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// The provider; `openai` with a `base_url` is any service that speaks its chat completions.
    /// Without one, the first of `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` and
    /// `OLLAMA_HOST` that is set decides.
    #[schemars(with = "Option<ProviderWord>")]
    pub provider: Option<String>,
    /// The model's name at its provider. Without one, the provider's default.
    pub name: Option<String>,
    /// Where the provider listens. Without it, where it usually does.
    #[schemars(with = "Option<Url>")]
    pub base_url: Option<String>,
    /// The name of the environment variable that has the key. Without one, the provider's usual.
    #[schemars(with = "Option<VariableName>")]
    pub api_key_env: Option<String>,
    /// How many seconds a request waits for its reply to begin, and then for each next piece that
    /// says something: comments and empty pieces do not count. Connecting may take half of it, and
    /// at most 10 seconds; a whole reply may take 30 times as long, or 10 minutes where that is more.
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout_seconds: u32,
    /// How often a request is tried again while nothing of its reply has been shown.
    #[schemars(range(min = 0, max = 20))]
    pub max_retries: u32,
    /// How many milliseconds pass before it is tried again the first time. It doubles each time.
    #[schemars(range(min = 0, max = 600_000))]
    pub retry_delay_ms: u32,
    /// The most milliseconds that pass before it is tried again.
    #[schemars(range(min = 0, max = 600_000))]
    pub max_retry_delay_ms: u32,
    /// The file with the turns of the `scripted` provider.
    #[schemars(with = "Option<FilePath>")]
    pub script: Option<PathBuf>,
    /// How many tokens a request and its reply may have together. Without it, what is known of the
    /// model.
    #[schemars(range(min = 1))]
    pub context_tokens: Option<u64>,
    /// Whose tokens are counted where a limit is in tokens. For models with another vocabulary the
    /// counts are estimates.
    pub tokenizer: Tokenizer,
    /// Whether the model can see pictures. Without it, what is known of the model.
    pub vision: Option<bool>,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            provider: None,
            name: None,
            base_url: None,
            api_key_env: None,
            timeout_seconds: 120,
            max_retries: 2,
            retry_delay_ms: 500,
            max_retry_delay_ms: 8000,
            script: None,
            context_tokens: None,
            tokenizer: Tokenizer::O200kBase,
            vision: None,
        }
    }
}

/// A vocabulary of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// The vocabulary of OpenAI's present models.
    #[serde(rename = "o200k_base")]
    O200kBase,
}

/// The loop around the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// What the model is told before anything else. Without it, a short text of ours.
    pub system_prompt: Option<String>,
    /// How many model calls one turn may take.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_turns: u32,
    /// How many calls of one reply run at once.
    #[schemars(range(min = 1, max = 256))]
    pub max_tool_concurrency: u32,
    /// How many tokens one turn may use, in and out. Without it there is no limit.
    #[schemars(range(min = 1))]
    pub max_total_tokens: Option<u64>,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            system_prompt: None,
            max_turns: 40,
            max_tool_concurrency: 10,
            max_total_tokens: None,
        }
    }
}

/// Which tools there are, and how much of a result a model reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// The tools that may be used: names, and globs with `*` and `?`. An empty list gives none.
    pub available: Vec<String>,
    /// How many tokens of one result a model reads. A longer one is kept whole as an artifact.
    #[schemars(range(min = 100, max = 10_000_000))]
    pub max_result_tokens: u32,
    /// How many seconds a call may take where its tool does not say.
    #[schemars(range(min = 1, max = 86_400))]
    pub default_timeout_seconds: u32,
    /// Other names that tools answer to when they are called. They are never listed.
    pub aliases: BTreeMap<String, String>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            available: vec!["*".to_owned()],
            max_result_tokens: 12_000,
            default_timeout_seconds: 120,
            aliases: [("read", "file_read"), ("write", "file_write")]
                .map(|(alias, name)| (alias.to_owned(), name.to_owned()))
                .into(),
        }
    }
}

/// Who may do what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// The role of the person at this machine.
    #[schemars(with = "RoleWord")]
    pub local_role: Role,
    /// The role of a caller over HTTP.
    #[schemars(with = "RoleWord")]
    pub http_role: Role,
    /// What happens to a call that a person would have to approve: `ask` asks them where they are
    /// there, and denies it elsewhere; `never` denies it everywhere.
    pub approval: Approval,
}

/// What happens to a call that a person would have to approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// They are asked, where they are there.
    #[default]
    Ask,
    /// It is denied.
    Never,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            local_role: Role::Admin,
            http_role: Role::Guest,
            approval: Approval::Ask,
        }
    }
}

/// Where commands run and what they can touch.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// What runs commands: `local` confines them; `passthrough` does not, and then every command
    /// needs an approval.
    pub backend: Backend,
    /// Whether commands reach the network.
    pub network: bool,
    /// The least confinement a command must have: `partial`, `full`, or `none`. Where this machine
    /// cannot give it, commands are refused.
    pub require: Require,
    /// The names of environment variables that commands get beside the usual ones.
    #[schemars(with = "Vec<VariableName>")]
    pub env: Vec<String>,
    /// Paths that commands may read beside the workspace, system directories and toolchains.
    #[schemars(with = "Vec<FilePath>")]
    pub read: Vec<PathBuf>,
    /// Paths that commands may write beside the workspace.
    #[schemars(with = "Vec<FilePath>")]
    pub write: Vec<PathBuf>,
}

/// What runs commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// Processes of this machine, confined.
    #[default]
    Local,
    /// Processes of this machine, not confined.
    Passthrough,
}

impl Backend {
    /// The word, as it stands in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Passthrough => "passthrough",
        }
    }
}

/// The least confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub enum Require {
    /// Any, also none.
    None,
    /// Some.
    #[default]
    Partial,
    /// All of it.
    Full,
}

/// The tools that run commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shell {
    /// Whether there are any.
    pub enabled: bool,
    /// How many seconds any command may take, a background job too.
    #[schemars(range(min = 1, max = 86_400))]
    pub max_timeout_seconds: u32,
    /// How many characters of each output stream a result has. The whole goes to an artifact.
    #[schemars(range(min = 200, max = 10_000_000))]
    pub max_output_chars: u32,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            enabled: true,
            max_timeout_seconds: 1800,
            max_output_chars: 8000,
        }
    }
}

/// The tools that read and write files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Files {
    /// How many bytes of a file one call reads.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_read_bytes: u32,
    /// Whether an admin's file tools reach beyond the workspace.
    pub admin_open: bool,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            max_read_bytes: 262_144,
            admin_open: false,
        }
    }
}

/// What running tools print, while they run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Progress {
    /// Whether it is shown.
    pub enabled: bool,
    /// How many milliseconds of it are merged into one event. 0 merges nothing.
    #[schemars(range(min = 0, max = 60_000))]
    pub flush_interval_ms: u32,
    /// How many bytes make an event before that time is over.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub flush_bytes: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            enabled: true,
            flush_interval_ms: 50,
            flush_bytes: 16_384,
        }
    }
}

/// Where sessions are kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// The log of the sessions: `sqlite:PATH`, or `memory:`, which is gone when the program ends.
    /// Without it, `outfitter.db` in `data_dir`.
    #[schemars(with = "Option<StoreText>")]
    pub url: Option<String>,
    /// Where everything else that is kept lives. Without it, `outfitter` in the person's data
    /// directory.
    #[schemars(with = "Option<FilePath>")]
    pub data_dir: Option<PathBuf>,
}

macro_rules! text_with_format {
    ($($(#[$doc:meta])* $name:ident $format:literal,)+) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": $format })
            }
        }
    )+};
}

text_with_format! {
    /// A path. A relative one starts at the directory of the file it stands in, else at the current
    /// one.
    FilePath "path",
    /// The name of a program, or its path.
    ProgramName "program",
    /// An IP address and a port.
    Address "address",
    /// The name of an environment variable.
    VariableName "variable",
    /// A URL of http or https.
    Url "http-url",
    /// Where the log is.
    StoreText "store-url",
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $words:expr,)+) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let words: Vec<&str> = $words;
                json_schema!({ "type": "string", "enum": words })
            }
        }
    )+};
}

words! {
    /// The words of [`Role`], which itself knows nothing of schemas.
    RoleWord = Role::ALL.map(Role::as_str).into(),
    /// The names of the one table of providers.
    ProviderWord = outfitter_model::PROVIDERS.iter().map(|provider| provider.name).collect(),
}
