//! `[commands.NAME]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::{FilePath, ProgramName};

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
    #[schemars(extend("uniqueItems" = true))]
    pub only: Vec<String>,
    /// Whether it is asked what it offers only when one of its commands is called for the first
    /// time. What it offers is kept below the data directory until then; without that it is asked
    /// once.
    pub lazy: bool,
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
            lazy: false,
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
