//! `[server]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::Address;

/// What is served over HTTP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address and the port: a loopback one.
    #[schemars(with = "Address")]
    pub bind: String,
    /// Origins of web pages that may call, beside those of this machine.
    #[schemars(extend("uniqueItems" = true))]
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
