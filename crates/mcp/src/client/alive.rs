//! What keeps a server alive: it is started, waited for and started again.

use std::sync::Arc;
use std::time::Duration;

use outfitter_core::Cancel;

use super::attempt::{End, live};
use super::handshake::{Era, Known};
use super::link::Live;
use super::shared::Shared;

/// How long is waited before the first new start; each further one waits twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often a server is started again by itself. After that it is started when a call wants it.
const MAX_STARTS: u32 = 6;

/// A server that lived this long is healthy: its end begins a new count.
const STEADY: Duration = Duration::from_secs(60);

/// Keeps a server running until it is stopped.
pub(super) async fn keep_alive(shared: &Shared, stop: &Cancel) {
    let mut known = Known::Nothing;
    let mut pause = FIRST_PAUSE;
    let mut starts = 0;
    if shared.is_idle() && !shared.woken(stop).await {
        return shared.stopped();
    }
    loop {
        let (why, down): (_, fn(Arc<str>) -> Live) = match live(shared, known, stop).await {
            End::Stopped => break,
            End::Idle => {
                shared.idle();
                if !shared.woken(stop).await {
                    break;
                }
                continue;
            }
            End::ProbeKilled(why) => {
                tracing::debug!(server = %shared.link.server.name, why, "ended when it was asked for its era; it is started again");
                known = Known::Era(Era::Legacy);
                shared.again();
                continue;
            }
            End::Failed(why) => {
                // What was known may have been wrong, or the program another one now.
                known = Known::Nothing;
                (why, Live::Down)
            }
            End::Nonsense(why) => {
                known = Known::Nothing;
                // It is no server, and the next start of it is none either: a call may try.
                starts = MAX_STARTS;
                (why, Live::Nonsense)
            }
            End::Died(why) => {
                known = shared.lock().era.map_or(Known::Nothing, Known::Era);
                if shared.lived() >= STEADY {
                    (pause, starts) = (FIRST_PAUSE, 0);
                }
                (why, Live::Down)
            }
        };
        tracing::warn!(server = %shared.link.server.name, why, "an MCP server does not run");
        if let Some(kept) = shared.kept_last().await {
            shared.idle_as_it_was(kept, &why);
            if !shared.woken(stop).await {
                break;
            }
            continue;
        }
        shared.down(&why, down);
        starts += 1;
        let rest = async {
            // What is known of a lazy server is enough until it is wanted.
            let enough = shared.is_lazy() && !shared.lock().tools.is_empty();
            if starts < MAX_STARTS && !enough {
                tokio::time::sleep(pause).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = shared.link.wanted.notified() => {}
            () = rest => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
        shared.again();
    }
    shared.stopped();
}
