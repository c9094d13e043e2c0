//! `[web]`.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::IpText;

/// The tools that fetch from the web.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Web {
    /// Whether anything is fetched.
    pub enabled: bool,
    /// Whether only public addresses are reached, at every redirect: not this machine, private
    /// networks or the metadata services of clouds. Where this program itself listens is never
    /// reached.
    pub block_private: bool,
    /// The addresses of the metadata services of clouds, and link-local ones, that are reached
    /// where `block_private` is off; others of them are refused then, too.
    #[schemars(with = "Vec<IpText>", extend("uniqueItems" = true))]
    pub metadata: Vec<IpAddr>,
    /// How many bytes of a page are read, unpacked.
    #[schemars(range(min = 1024, max = 67_108_864))]
    pub max_bytes: u32,
    /// How many seconds a page may take where the call does not say.
    #[schemars(range(min = 1, max = 300))]
    pub timeout_seconds: u32,
    /// What servers are told who is asking. Without it, our name and version.
    #[schemars(length(min = 1, max = 500), regex(pattern = r"^[\x20-\x7e]+$"))]
    pub user_agent: Option<String>,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            enabled: true,
            block_private: true,
            metadata: Vec::new(),
            max_bytes: 5_242_880,
            timeout_seconds: 30,
            user_agent: None,
        }
    }
}
