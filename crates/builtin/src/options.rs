//! What the configuration decides about these tools.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use outfitter_net::AllowedHosts;

/// What the configuration decides. The defaults are those of an empty file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuiltinOptions {
    /// `[shell]`
    pub shell: ShellOptions,
    /// `[files]`
    pub files: FilesOptions,
    /// `[web]`
    pub web: WebOptions,
}

/// `[shell]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellOptions {
    /// `enabled`: without it the shell tools do not exist.
    pub enabled: bool,
    /// `timeout_seconds`: how long `run_command` lets a command run that does not say.
    pub timeout: Duration,
    /// `max_timeout_seconds`: how long a command may run at most, in the background too.
    pub max_timeout: Duration,
    /// `max_output_chars`: how much of each stream stands in a result.
    pub max_output_chars: usize,
}

impl Default for ShellOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            timeout: Duration::from_secs(60),
            max_timeout: Duration::from_secs(1800),
            max_output_chars: 8000,
        }
    }
}

/// `[files]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesOptions {
    /// `max_read_bytes`: how much of a file one `file_read` gives at most.
    pub max_read_bytes: u64,
    /// `admin_open`: whether an administrator's file tools reach the whole machine.
    pub admin_open: bool,
}

impl Default for FilesOptions {
    fn default() -> Self {
        Self {
            max_read_bytes: 262_144,
            admin_open: false,
        }
    }
}

/// `[web]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebOptions {
    /// `enabled`: without it nothing is fetched.
    pub enabled: bool,
    /// `block_private`: whether only public addresses are reached.
    pub block_private: bool,
    /// `metadata`: the addresses of metadata services that are reached without `block_private`.
    pub metadata: Vec<IpAddr>,
    /// `[sandbox] network`, where it lists hosts: nothing else is fetched.
    pub hosts: Option<Arc<AllowedHosts>>,
    /// `max_bytes`: how much of one page is read, unpacked.
    pub max_bytes: u64,
    /// `[tools] max_result_tokens`: how long a result of several pages may be.
    pub max_result_tokens: usize,
    /// `timeout_seconds`: how long a page may take that no call gives a time.
    pub timeout: Duration,
    /// `user_agent`: what we call ourselves, where not by our own name.
    pub user_agent: Option<String>,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            block_private: true,
            metadata: Vec::new(),
            hosts: None,
            max_bytes: 5_242_880,
            max_result_tokens: 12_000,
            timeout: Duration::from_secs(30),
            user_agent: None,
        }
    }
}
