//! The keys about what is connected: callers over HTTP, skills, MCP servers, project programs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use outfitter_core::Role;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::sections::{Address, FilePath, ProgramName, RoleWord};

/// What is served over HTTP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address and the port: a loopback one.
    #[schemars(with = "Address")]
    pub bind: String,
    /// Origins of web pages that may call, beside those of this machine.
    pub allowed_origins: Vec<String>,
    /// Whether a run ends when nobody listens to it any more.
    pub cancel_on_disconnect: bool,
    /// How many seconds a silent stream of events stays silent.
    #[schemars(range(min = 1, max = 3600))]
    pub heartbeat_seconds: u32,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            bind: "127.0.0.1:8470".to_owned(),
            allowed_origins: Vec::new(),
            cancel_on_disconnect: true,
            heartbeat_seconds: 15,
        }
    }
}

/// Instruction packs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Skills {
    /// The directories they are in.
    #[schemars(with = "Vec<FilePath>")]
    pub dirs: Vec<PathBuf>,
    /// The skills that may be used: names, and globs with `*` and `?`. An empty list gives none.
    pub available: Vec<String>,
    /// The skills that are in context from the first request on; `auto` takes those that fit the
    /// first prompt.
    pub load: Load,
}

impl Default for Skills {
    fn default() -> Self {
        Self {
            dirs: vec![PathBuf::from("skills")],
            available: vec!["*".to_owned()],
            load: Load::default(),
        }
    }
}

/// The skills that are in context from the first request on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Load {
    /// These.
    Names(Vec<String>),
    /// Those that fit the first prompt.
    Auto,
}

impl Default for Load {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

const AUTO: &str = "auto";

impl Serialize for Load {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Names(names) => names.serialize(serializer),
            Self::Auto => serializer.serialize_str(AUTO),
        }
    }
}

impl<'de> Deserialize<'de> for Load {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(word) if word == AUTO => Ok(Self::Auto),
            list => serde_json::from_value(list)
                .map(Self::Names)
                .map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for Load {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Load".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "array", "items": { "type": "string" } },
                { "const": AUTO },
            ]
        })
    }
}

/// Servers whose tools are used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mcp {
    /// Whether any are.
    pub enabled: bool,
    /// A server that is started and spoken to over its standard input and output. Its tools are
    /// called `NAME__tool`.
    pub servers: BTreeMap<String, McpServer>,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            enabled: true,
            servers: BTreeMap::new(),
        }
    }
}

/// A server that is started and spoken to over its standard input and output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpServer {
    /// The program: a name that is looked for in `PATH`, or a path.
    #[schemars(with = "Option<ProgramName>")]
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, beside `PATH`, `HOME`, `LANG` and `TZ`.
    #[schemars(extend("writeOnly" = true))]
    pub env: BTreeMap<String, String>,
    /// Where it is started.
    #[schemars(with = "Option<FilePath>")]
    pub cwd: Option<PathBuf>,
    /// A server that ships with the program, instead of `command`: `notes`.
    pub builtin: Option<String>,
    /// Whether it is used.
    pub enabled: bool,
    /// Its tools that are used: names, and globs with `*` and `?`.
    pub tools: Vec<String>,
    /// The least role that may call them.
    #[schemars(with = "RoleWord")]
    pub min_role: Role,
    /// How many seconds it may take to start.
    #[schemars(range(min = 1, max = 3600))]
    pub connect_timeout_seconds: u32,
    /// How many seconds a call may take without a sign of progress.
    #[schemars(range(min = 1, max = 86_400))]
    pub call_timeout_seconds: u32,
    /// How many calls it is given at once.
    #[schemars(range(min = 1, max = 1024))]
    pub concurrency: u32,
}

impl Default for McpServer {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            builtin: None,
            enabled: true,
            tools: vec!["*".to_owned()],
            min_role: Role::User,
            connect_timeout_seconds: 20,
            call_timeout_seconds: 120,
            concurrency: 8,
        }
    }
}

/// A program of the project whose commands become one tool, `project_cli`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Program {
    /// The program, which must be named: a name that is looked for in `PATH`, or a path. `planner`
    /// is the one that ships with us.
    #[schemars(with = "ProgramName")]
    pub program: String,
    /// Arguments before the command.
    pub args: Vec<String>,
    /// The directory of its skills, beside what it says itself.
    #[schemars(with = "Option<FilePath>")]
    pub skills_dir: Option<PathBuf>,
    /// Its environment, beside what every command gets.
    #[schemars(extend("writeOnly" = true))]
    pub env: BTreeMap<String, String>,
    /// How many seconds a command may take.
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout_seconds: u32,
    /// How many bytes a command may print.
    #[schemars(range(min = 1024, max = 67_108_864))]
    pub max_output_bytes: u32,
    /// What a command is given to prove for whom it is called.
    pub credential: Credential,
    /// Its commands that are used, as `calendar *`. Empty means all.
    pub only: Vec<String>,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            program: String::new(),
            args: Vec::new(),
            skills_dir: None,
            env: BTreeMap::new(),
            timeout_seconds: 30,
            max_output_bytes: 1_048_576,
            credential: Credential::Call,
            only: Vec::new(),
        }
    }
}

/// What a command is given to prove for whom it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub enum Credential {
    /// A token for this one call.
    #[default]
    Call,
    /// Nothing.
    None,
}
