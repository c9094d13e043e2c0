//! The stream of a run as server-sent events: one event, one frame.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use outfitter_codec::agui::{AguiEncoder, AguiEvent, sse};
use outfitter_core::{
    Clock, Code, ErrorInfo, Event, EventBody, EventSeq, RunId, SessionId, UnixMs,
};

use crate::app::{App, Started};
use crate::stream::{Broken, Seat, response};

/// A run, as it happens.
pub(super) fn run(app: &Arc<App>, encoder: AguiEncoder, started: Started) -> Response {
    told(Telling {
        encoder,
        seat: Some(Seat::first(app, started)),
        frames: VecDeque::new(),
        heartbeat: app.config.heartbeat,
        clock: app.host.agent().parts().clock.clone(),
    })
}

/// The end of a run that was made before, for a client that asks for it once more.
pub(super) fn again(app: &App, mut encoder: AguiEncoder, end: &EventBody) -> Response {
    let now = app.clock().now();
    let mut events = Vec::new();
    encoder.resynchronise(now, &mut events);
    if let Some(event) = at(now, end) {
        encoder.event(&event, &mut events);
    }
    whole(app, encoder, &events)
}

fn at(now: UnixMs, body: &EventBody) -> Option<Event> {
    Some(Event {
        seq: EventSeq(1),
        at: now,
        session: SessionId::new("again").ok()?,
        run: RunId::new("again").ok()?,
        via: None,
        body: body.clone(),
    })
}

/// No run: why, as the one event that ends the stream.
pub(super) fn refused(app: &App, mut encoder: AguiEncoder, error: &ErrorInfo) -> Response {
    let mut events = Vec::new();
    encoder.finish_abruptly(error, app.clock().now(), &mut events);
    whole(app, encoder, &events)
}

fn whole(app: &App, encoder: AguiEncoder, events: &[AguiEvent]) -> Response {
    let mut telling = Telling {
        encoder,
        seat: None,
        frames: VecDeque::new(),
        heartbeat: app.config.heartbeat,
        clock: app.host.agent().parts().clock.clone(),
    };
    telling.add(events);
    told(telling)
}

struct Telling {
    encoder: AguiEncoder,
    seat: Option<Seat>,
    frames: VecDeque<Result<Bytes, Broken>>,
    heartbeat: Duration,
    clock: Arc<dyn Clock>,
}

fn told(telling: Telling) -> Response {
    response(
        sse::CONTENT_TYPE,
        stream::unfold(telling, async |mut telling| {
            let frame = telling.next().await?;
            Some((frame, telling))
        }),
    )
}

impl Telling {
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Some(frame);
            }
            if self.encoder.is_over() {
                return None;
            }
            let event = match &self.seat {
                Some(seat) => match tokio::time::timeout(self.heartbeat, seat.next()).await {
                    Ok(event) => event,
                    Err(_) => return Some(Ok(Bytes::from_static(sse::HEARTBEAT))),
                },
                None => None,
            };
            let mut events = Vec::new();
            match event {
                Some(event) => self.encoder.event(&event, &mut events),
                None => {
                    let error = self.broken_off();
                    let now = self.clock.now();
                    self.encoder.finish_abruptly(&error, now, &mut events);
                }
            }
            self.add(&events);
        }
    }

    /// Why the events broke off: their end could not be recorded, or they were not read.
    fn broken_off(&self) -> ErrorInfo {
        match self.seat.as_ref().and_then(Seat::failure) {
            Some(problem) => problem.error().clone(),
            None => ErrorInfo::new(Code::Internal, "the run ended without saying how"),
        }
    }

    fn add(&mut self, events: &[AguiEvent]) {
        for event in events {
            let mut frame = Vec::new();
            let encoded = sse::encode(event, &mut frame);
            self.frames
                .push_back(encoded.map(|()| frame.into()).map_err(Broken::other));
        }
    }
}
