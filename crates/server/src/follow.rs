//! A run's events from a number on: those in the log, then those that come.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use outfitter_core::{Event, EventBody, RunId, Scope, Seq, SessionId, StoreError};

use crate::app::App;
use crate::entries::{self, PAGE};
use crate::stream::{Broken, NDJSON, Seat, line, response};

/// How often the log is looked at for a run that another process makes.
const LOOK: Duration = Duration::from_millis(500);

/// What is asked for.
pub(crate) struct Replay {
    pub(crate) app: Arc<App>,
    pub(crate) scope: Scope,
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
    /// Events with lower numbers are not told.
    pub(crate) from: u64,
}

/// A run's events: replayed, then followed until it is over.
pub(crate) fn replay(replay: Replay) -> Response {
    // The seat is taken before the log is read: nothing falls between the two.
    let live = replay.app.live.get(&replay.scope, &replay.run);
    let following = Following {
        seat: live.and_then(Seat::beside),
        place: Seq(1),
        reading: true,
        ready: VecDeque::new(),
        told: replay.from.saturating_sub(1),
        over: false,
        replay,
    };
    response(
        NDJSON,
        stream::unfold(following, async |mut following| {
            let line = following.next().await?;
            Some((line, following))
        }),
    )
}

struct Following {
    replay: Replay,
    seat: Option<Seat>,
    /// Where the log is read on.
    place: Seq,
    /// Whether there is more of it.
    reading: bool,
    ready: VecDeque<Arc<Event>>,
    /// The number of the last event that is told or ready.
    told: u64,
    /// Whether nothing comes after what is ready.
    over: bool,
}

impl Following {
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(line(&event));
            }
            if self.over {
                return None;
            }
            if self.reading {
                if let Err(error) = self.read().await {
                    self.over = true;
                    return Some(Err(Broken::other(error)));
                }
                continue;
            }
            match &self.seat {
                Some(seat) => match seat.next().await {
                    Some(event) => self.tell(event),
                    // The seat was given up, or the run broke down: the log knows more.
                    None => {
                        self.seat = None;
                        self.reading = true;
                    }
                },
                // Another process makes the run.
                None => {
                    tokio::select! {
                        () = tokio::time::sleep(LOOK) => self.reading = true,
                        () = self.replay.app.live.stop().cancelled() => return None,
                    }
                }
            }
        }
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let Replay {
            app,
            scope,
            session,
            run,
            ..
        } = &self.replay;
        let page = app.log.read(scope, session, self.place, PAGE).await?;
        let events: Vec<Event> = page
            .entries
            .iter()
            .filter(|entry| entry.run == *run)
            .filter_map(|entry| entries::event(session, entry))
            .collect();
        self.reading = page.next.is_some();
        self.place = page.next.unwrap_or(page.head.plus(1));
        for event in events {
            // The end is told when the session is free again, which the seat knows.
            let is_end = matches!(event.body, EventBody::RunFinished { .. });
            if !(is_end && self.seat.is_some()) {
                self.tell(Arc::new(event));
            }
        }
        Ok(())
    }

    fn tell(&mut self, event: Arc<Event>) {
        self.over = matches!(event.body, EventBody::RunFinished { .. });
        if event.seq.0 > self.told {
            self.told = event.seq.0;
            self.ready.push_back(event);
        }
    }
}
