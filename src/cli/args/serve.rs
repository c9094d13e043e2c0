//! `serve`.

use clap::Args;
use serde_json::Value;

use crate::config::FlagValue;

/// `serve`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  outfitter serve
  outfitter serve --bind 127.0.0.1:0 --json      any free port; prints where
  curl -N localhost:8470/v1/runs -H 'content-type: application/json' -d '{\"input\":\"hello\"}'

Callers have the role of [permissions] http_role. Only this machine may call.
SIGHUP makes it read its configuration again, whole or not at all.")]
pub struct ServeArgs {
    /// Where to listen: a loopback address and a port [default: 127.0.0.1:8470]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub bind: Option<String>,
}

impl ServeArgs {
    /// What the options say about keys of the configuration.
    #[must_use]
    pub fn flags(&self) -> Vec<FlagValue> {
        let bind = self.bind.as_ref().map(|bind| FlagValue {
            key: "server.bind",
            flag: "--bind",
            value: Value::from(bind.as_str()),
        });
        bind.into_iter().collect()
    }
}
