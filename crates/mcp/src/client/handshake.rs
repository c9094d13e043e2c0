//! What is said before a server can be asked for anything.
//!
//! A modern server (2026-07-28 on) answers `server/discover` and wants metadata in each request; a
//! legacy one wants `initialize` first. The specification has a client ask for discovery and take
//! any error, and silence, for a legacy server. A server that is only slow to start is silent too, so
//! after some silence both are asked, and the first that is agreed to counts: servers read in order,
//! so that one of both eras is a modern one. Some legacy servers end when they are asked; those are
//! started again and not asked any more.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::connection::{Abandoned, Connection, Unanswered};

/// How long a server may think about `server/discover` before it is offered `initialize` as well. A
/// legacy server that says nothing to what it does not know makes everybody wait this long.
const HEAD_START: Duration = Duration::from_millis(250);

/// The revision that modern servers are spoken to in.
const MODERN: &str = "2026-07-28";

/// The revision that legacy servers are offered, the last with a handshake.
const LEGACY: &str = "2025-11-25";

/// The revisions with a handshake.
const LEGACY_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY];

/// An era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// With an `initialize` handshake.
    Legacy,
    /// With metadata in each request.
    Modern,
}

/// What is known of a server's era before it has spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing.
    Nothing,
    /// Its era, from an earlier life or because it ended when it was asked.
    Era(Era),
}

/// Agrees with a server on how to speak. The caller bounds how long that may take; a server that
/// ends meanwhile is seen by the caller too.
pub(crate) async fn shake(connection: &Arc<Connection>, known: Known) -> Result<Era, NoEra> {
    match known {
        Known::Era(Era::Legacy) => initialize(connection).await,
        Known::Era(Era::Modern) => discover(connection).await,
        Known::Nothing => {
            let discovered = discover(connection);
            tokio::pin!(discovered);
            match tokio::time::timeout(HEAD_START, &mut discovered).await {
                Ok(Ok(era)) => Ok(era),
                Ok(Err(_)) => initialize_at_least(connection).await,
                Err(_) => tokio::select! {
                    biased;
                    Ok(era) = discovered => Ok(era),
                    agreed = initialize_at_least(connection) => agreed,
                },
            }
        }
    }
}

/// For a server that did not say that it is a modern one.
async fn initialize_at_least(connection: &Arc<Connection>) -> Result<Era, NoEra> {
    match initialize(connection).await {
        // Slow to start, and has no handshake: then it answers by now.
        Err(refused @ NoEra::Unanswered(Unanswered::Fault(_))) => {
            discover(connection).await.map_err(|_| refused)
        }
        other => other,
    }
}

/// Why there is no way to speak to a server.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum NoEra {
    /// It did not say how.
    #[error("{0}")]
    Unanswered(Unanswered),
    /// It said, and that is not how we speak.
    #[error("{0}")]
    Unknown(String),
}

async fn discover(connection: &Arc<Connection>) -> Result<Era, NoEra> {
    let params = Map::from_iter([("_meta".to_owned(), Value::Object(modern_meta()))]);
    let found = connection
        .ask("server/discover", params, Abandoned::IsKept)
        .await
        .map_err(NoEra::Unanswered)?;
    let versions = found["supportedVersions"].as_array();
    if versions.is_some_and(|versions| versions.iter().any(|version| version == MODERN)) {
        connection.speak(Era::Modern);
        listen(connection);
        Ok(Era::Modern)
    } else {
        Err(NoEra::Unknown(format!(
            "it does not speak revision {MODERN} of the protocol"
        )))
    }
}

async fn initialize(connection: &Arc<Connection>) -> Result<Era, NoEra> {
    let params = Map::from_iter([
        ("protocolVersion".to_owned(), LEGACY.into()),
        ("capabilities".to_owned(), json!({})),
        ("clientInfo".to_owned(), client_info()),
    ]);
    let agreed = connection
        .ask("initialize", params, Abandoned::IsKept)
        .await
        .map_err(NoEra::Unanswered)?;
    match agreed["protocolVersion"].as_str() {
        Some(version) if LEGACY_VERSIONS.contains(&version) => {
            connection.speak(Era::Legacy);
            connection.notify("notifications/initialized", &json!({}));
            Ok(Era::Legacy)
        }
        Some(version) => Err(NoEra::Unknown(format!(
            "it speaks revision {version:?} of the protocol, which has no handshake or is unknown"
        ))),
        None => Err(NoEra::Unknown(
            "its answer to initialize names no revision of the protocol".to_owned(),
        )),
    }
}

/// Asks a modern server to be told when its tools change. The reply comes when it ends, so nobody
/// waits for it.
fn listen(connection: &Arc<Connection>) {
    let filter = json!({"toolsListChanged": true});
    let params = Map::from_iter([("notifications".to_owned(), filter)]);
    connection.ask_and_forget("subscriptions/listen", params);
}

/// The metadata of each modern request.
pub(crate) fn modern_meta() -> Map<String, Value> {
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    Map::from_iter([
        (key("protocolVersion"), MODERN.into()),
        (key("clientCapabilities"), json!({})),
        (key("clientInfo"), client_info()),
    ])
}

fn client_info() -> Value {
    json!({"name": "outfitter", "version": env!("CARGO_PKG_VERSION")})
}
