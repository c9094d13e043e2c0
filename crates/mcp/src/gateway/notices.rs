//! Telling clients that there are other tools now.
//!
//! A client of the legacy era is told in its session, one of the modern era in each subscription
//! that it asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long changes may go on before they are told of together.
const TOGETHER: Duration = Duration::from_millis(100);

/// How long a client may take to be told. One that reads nothing is told of the next change.
const PATIENCE: Duration = Duration::from_secs(1);

/// What tells of changes, and whom.
pub(super) struct Notices {
    changes: watch::Receiver<()>,
    clients: Arc<Mutex<Vec<Peer<RoleServer>>>>,
    /// What tells the clients of the legacy era. It ends with this.
    telling: Mutex<JoinSet<()>>,
}

impl Notices {
    pub(super) fn new(changes: watch::Receiver<()>) -> Self {
        Self {
            changes,
            clients: Arc::default(),
            telling: Mutex::default(),
        }
    }

    /// Tells this client from now on.
    pub(super) fn add(&self, client: Peer<RoleServer>) {
        {
            let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
            clients.retain(|client| !client.is_transport_closed());
            clients.push(client);
        }
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if telling.is_empty() {
            let (mut changes, clients) = (self.changes.clone(), self.clients.clone());
            telling.spawn(async move {
                while next(&mut changes).await {
                    let told: Vec<_> = {
                        let clients = clients.lock();
                        clients.unwrap_or_else(PoisonError::into_inner).clone()
                    };
                    join_all(told.iter().map(tell)).await;
                }
            });
        }
    }

    /// Tells who listens, until they listen no more.
    pub(super) async fn listen(&self, context: &SubscriptionContext) {
        let mut changes = self.changes.clone();
        loop {
            tokio::select! {
                () = context.cancelled() => return,
                more = next(&mut changes) => {
                    if !more {
                        return context.cancelled().await;
                    }
                }
            }
            if context.sink().notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    }
}

/// Waits for the next change and those close to it; false where none can come.
async fn next(changes: &mut watch::Receiver<()>) -> bool {
    if changes.changed().await.is_err() {
        return false;
    }
    tokio::time::sleep(TOGETHER).await;
    changes.mark_unchanged();
    true
}

async fn tell(client: &Peer<RoleServer>) {
    // Who has gone is forgotten when the next one comes.
    let _ = tokio::time::timeout(PATIENCE, client.notify_tool_list_changed()).await;
}
