//! `[sandbox] ssh`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::{FilePath, VariableName};

/// An account of another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields, default)]
pub struct Ssh {
    /// The name or address of the machine. Needed.
    pub host: String,
    /// The port that its SSH server listens at.
    #[schemars(range(min = 1, max = 65_535))]
    pub port: u16,
    /// The account there. Needed.
    pub user: String,
    /// The file of the private key, Ed25519, ECDSA or RSA. Either this or `agent` is needed.
    #[schemars(with = "Option<FilePath>")]
    pub key_file: Option<PathBuf>,
    /// The name of the variable that has the passphrase of the key, where it has one.
    #[schemars(with = "Option<VariableName>")]
    pub passphrase_env: Option<String>,
    /// The socket of an SSH agent whose keys are shown, at most five.
    #[schemars(with = "Option<FilePath>")]
    pub agent: Option<PathBuf>,
    /// The file of keys of known hosts, as `ssh` has it. Needed: a host whose key is not in it is
    /// refused, and none is ever added.
    #[schemars(with = "FilePath")]
    pub known_hosts: PathBuf,
    /// The folder there that is the workspace, an absolute path. Needed. A session of the server
    /// has a folder of its own in it.
    pub workspace: String,
    /// How many seconds connecting may take; it is tried four times.
    #[schemars(range(min = 1, max = 300))]
    pub connect_timeout_seconds: u32,
    /// After how many seconds of silence the machine is asked whether it is there; it is given up
    /// after three questions without an answer.
    #[schemars(range(min = 1, max = 3600))]
    pub keepalive_seconds: u32,
}

impl Default for Ssh {
    fn default() -> Self {
        Self {
            host: String::new(),
            port: 22,
            user: String::new(),
            key_file: None,
            passphrase_env: None,
            agent: None,
            known_hosts: PathBuf::new(),
            workspace: String::new(),
            connect_timeout_seconds: 20,
            keepalive_seconds: 15,
        }
    }
}
