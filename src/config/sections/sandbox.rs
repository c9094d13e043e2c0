//! `[sandbox]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::{FilePath, VariableName};

/// Where commands run and what they can touch.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// What runs commands: `local` confines them; `bwrap` does it with the program of that name,
    /// which must be there; `passthrough` does not, and then every command needs an approval.
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
    /// Processes of this machine, in namespaces that bubblewrap makes.
    Bwrap,
    /// Processes of this machine, not confined.
    Passthrough,
}

impl Backend {
    /// The word, as it stands in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Bwrap => "bwrap",
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
