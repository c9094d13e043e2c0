//! `[mcp]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use outfitter_core::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::{FilePath, ProgramName, RoleWord};

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
    /// Whether it is started only when one of its tools is called for the first time. What it offers
    /// is kept below the data directory until then; without that it is started once to be asked.
    pub lazy: bool,
    /// Its tools that are used: names, and globs with `*` and `?`.
    #[schemars(extend("uniqueItems" = true))]
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
            lazy: false,
            tools: vec!["*".to_owned()],
            min_role: Role::User,
            connect_timeout_seconds: 20,
            call_timeout_seconds: 120,
            concurrency: 8,
        }
    }
}
