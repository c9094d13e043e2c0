//! What has not answered yet, for people.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::begun::{IsOpen as _, is_starting};
use crate::outfit::Outfitter;

/// Something configured that has not answered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// What, for people.
    pub what: String,
    /// The source of its tools.
    pub source: String,
    /// For how long it has been asked.
    pub since: Duration,
}

impl std::fmt::Display for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, since, .. } = self;
        let seconds = since.as_secs();
        write!(
            f,
            "{what}: still connecting after {seconds} s; its tools join once it answers"
        )
    }
}

impl Outfitter {
    /// What has not answered yet, of what was begun.
    #[must_use]
    pub fn pending(&self) -> Vec<Pending> {
        let state = self.connections.lock();
        let servers = state.servers.iter();
        let servers = servers.filter(|(_, server)| is_starting(&server.it));
        let mut pending: Vec<Pending> = servers
            .map(|(name, server)| Pending {
                what: format!("the MCP server {name}"),
                source: name.clone(),
                since: server.at.elapsed(),
            })
            .collect();
        let others = [
            (
                &state.programs,
                "the programs of [commands]",
                outfitter_commands::SOURCE,
            ),
            (
                &state.apis,
                "the APIs of [plugin_api]",
                outfitter_builtin::PLUGIN_APIS,
            ),
        ];
        for (begun, what, source) in others {
            if let Some(begun) = begun.as_ref().filter(|one| one.it.is_open()) {
                pending.push(Pending {
                    what: what.to_owned(),
                    source: source.to_owned(),
                    since: begun.at.elapsed(),
                });
            }
        }
        pending
    }

    /// The same for people; nothing once all has answered.
    pub(in crate::outfit) fn not_ready(&self) -> Vec<String> {
        if self.connections.settled.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let pending = self.pending().into_iter();
        pending.map(|one| one.to_string()).collect()
    }
}
