//! `[sandbox]`.

use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::formats::{FilePath, VariableName};
pub use super::ssh::Ssh;

/// Where commands run and what they can touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// What runs commands: `local` confines them; `bwrap` does it with the program of that name,
    /// which must be there; `ssh` runs them in an account of another machine, which `ssh` names, and
    /// `passthrough` here without confinement. With these two every command needs an approval.
    pub backend: Backend,
    /// What commands reach of the network: nothing (`false`), everything (`true`), or these hosts,
    /// by a proxy that programs find in their environment. A host is `example.com`, `*.example.com`
    /// for all below it, or an address; with `:8443` behind it only that port is reached. A name
    /// that leads into a private network is reached only where its address is here too.
    pub network: Network,
    /// The least confinement a command must have: `partial`, `full`, or `none`. Where this machine
    /// cannot give it, commands are refused.
    pub require: Require,
    /// The names of environment variables that commands get beside the usual ones.
    #[schemars(with = "Vec<VariableName>", extend("uniqueItems" = true))]
    pub env: Vec<String>,
    /// Paths that commands may read beside the workspace, system directories and toolchains. Each
    /// begins with `/` or `~/` and is there.
    #[schemars(with = "Vec<FilePath>", extend("uniqueItems" = true))]
    pub read: Vec<PathBuf>,
    /// Paths that commands may write beside the workspace. Each begins with `/` or `~/` and is
    /// there; none is `/`, or holds our own data.
    #[schemars(with = "Vec<FilePath>", extend("uniqueItems" = true))]
    pub write: Vec<PathBuf>,
    /// How many megabytes of memory (1024 kilobytes of 1024 bytes) a command may use together with
    /// all that it starts; where no control group can be made, each of its processes by itself.
    /// Without it there is no limit.
    #[schemars(range(min = 16, max = 16_777_216))]
    pub memory_mb: Option<u32>,
    /// How many seconds of the processor each process of a command may use. Without it there is no
    /// limit but the time that a command may take.
    #[schemars(range(min = 1, max = 86_400))]
    pub cpu_seconds: Option<u32>,
    /// How many processes and threads a command may have at once. Root is held by it at the level
    /// `full` (from Linux 6.14 on) and where a control group can be made.
    #[schemars(range(min = 8, max = 4_194_304))]
    pub processes: u32,
    /// The account where the backend `ssh` runs commands and has its files. It is told in full, and
    /// goes with that backend only.
    #[schemars(with = "Ssh")]
    pub ssh: Option<Ssh>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            backend: Backend::default(),
            network: Network::default(),
            require: Require::default(),
            env: Vec::new(),
            read: Vec::new(),
            write: Vec::new(),
            memory_mb: None,
            cpu_seconds: None,
            processes: 4096,
            ssh: None,
        }
    }
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
    /// Processes of another machine, in an account there.
    Ssh,
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
            Self::Ssh => "ssh",
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

/// What commands reach of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// Everything or nothing.
    All(bool),
    /// These hosts.
    Hosts(Vec<String>),
}

impl Default for Network {
    fn default() -> Self {
        Self::All(false)
    }
}

impl Serialize for Network {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(all) => all.serialize(serializer),
            Self::Hosts(hosts) => hosts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Bool(all) => Ok(Self::All(all)),
            hosts => serde_json::from_value(hosts)
                .map(Self::Hosts)
                .map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for Network {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Network".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "boolean" },
                { "type": "array", "items": { "type": "string", "format": "host" } },
            ]
        })
    }
}
