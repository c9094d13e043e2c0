//! What happens while a call runs, for the client that made it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outfitter_core::{CallId, Cancel, Event, EventBody, EventSink, Message};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;

/// How much progress may wait for a client that reads slowly.
const CAPACITY: usize = 32;

/// Sees the events of one call: its progress goes on to the client, its message is kept.
pub(crate) struct Watch {
    call: CallId,
    /// Stops when the client wants no answer any more.
    pub(crate) cancel: Cancel,
    seen: Mutex<Seen>,
}

struct Seen {
    progress: Option<mpsc::Sender<String>>,
    message: Option<Arc<Message>>,
}

/// The way of the progress to the client.
pub(crate) struct Forward {
    wanted: Option<(ProgressToken, mpsc::Receiver<String>)>,
}

impl Watch {
    /// For a call whose client gave a token, or none and wants no progress.
    pub(crate) fn new(call: CallId, token: Option<ProgressToken>) -> (Arc<Self>, Forward) {
        let (progress, wanted) = match token {
            Some(token) => {
                let (sender, receiver) = mpsc::channel(CAPACITY);
                (Some(sender), Some((token, receiver)))
            }
            None => (None, None),
        };
        let seen = Mutex::new(Seen {
            progress,
            message: None,
        });
        let watch = Self {
            call,
            cancel: Cancel::new(),
            seen,
        };
        (Arc::new(watch), Forward { wanted })
    }

    /// Nothing more is shown.
    pub(crate) fn close(&self) {
        self.lock().progress = None;
    }

    /// The tool's message, which is what a model reads.
    pub(crate) fn message(&self) -> Option<Arc<Message>> {
        self.lock().message.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Watch {
    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    fn send(&self, event: Arc<Event>) {
        match &event.body {
            EventBody::ToolProgress {
                tool_call_id, text, ..
            } if *tool_call_id == self.call && !text.is_empty() => {
                if let Some(progress) = &self.lock().progress {
                    // There is room, or the sender was told that there is none.
                    let _ = progress.try_send(text.clone());
                }
            }
            EventBody::Message(message) => {
                let output = message.output.as_ref();
                if output.is_some_and(|output| output.tool_call_id == self.call) {
                    self.lock().message = Some(message.clone());
                }
            }
            _ => {}
        }
    }

    fn has_room(&self) -> bool {
        self.lock()
            .progress
            .as_ref()
            .is_none_or(|progress| progress.capacity() > 0)
    }
}

impl Forward {
    /// Sends progress on until there is no more of it.
    pub(crate) async fn run(self, peer: Option<&Peer<RoleServer>>) {
        let (Some((token, mut progress)), Some(peer)) = (self.wanted, peer) else {
            return;
        };
        let mut count = 0.0;
        while let Some(text) = progress.recv().await {
            count += 1.0;
            let told = ProgressNotificationParam::new(token.clone(), count).with_message(text);
            // A client that is gone reads no progress either.
            let _ = peer.notify_progress(told).await;
        }
    }
}
