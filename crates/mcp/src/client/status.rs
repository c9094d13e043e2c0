//! How a server stands, for people and for the API.

use outfitter_core::UnixMs;
use serde::Serialize;

use super::Era;

/// How a server stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// How it is spoken to.
    pub transport: Transport,
    /// Which era of the protocol it speaks; left out until it has spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<Era>,
    /// How it is.
    pub status: ServerState,
    /// Since when it is so.
    pub since: UnixMs,
    /// What went wrong last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// How many tools it offers.
    pub tools: usize,
    /// How often it was started again.
    pub restarts: u32,
    /// Whether it is started only at its first call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lazy: bool,
    /// How its tools differed from those that were kept of it, when it was started last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A child of ours, over its standard streams.
    Stdio,
}

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// It does not run yet: the first call of one of its tools starts it.
    Idle,
    /// It is being started.
    Starting,
    /// It answers.
    Ready,
    /// It answers, but not all of what it offers can be used.
    Degraded,
    /// It does not run. A call starts it again.
    Down,
    /// The operator turned it off.
    Disabled,
}
