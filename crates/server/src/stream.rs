//! Streams: one event, one frame of the body, so that it can be one write.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::{HeaderName, HeaderValue, header};
use outfitter_codec::encode_event;
use outfitter_core::{Event, EventBody};

use crate::app::{App, Started};
use crate::live::{LiveRun, Mailbox};
use crate::problem::Problem;

/// The media type of event lines.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// What a body may break off with: the other end sees that it is not whole.
pub(crate) type Broken = std::io::Error;

/// A place among those who follow a run. Dropping it gives it up.
pub(crate) struct Seat {
    live: Arc<LiveRun>,
    mailbox: Arc<Mailbox>,
    /// Whether the run is for this reader only.
    ends_run: bool,
}

impl Seat {
    /// The seat of who started the run.
    pub(crate) fn first(app: &App, started: Started) -> Self {
        Self {
            live: started.live,
            mailbox: started.mailbox,
            ends_run: app.config.cancel_on_disconnect,
        }
    }

    /// The seat of who comes to a run that somebody else started; none once it is over.
    pub(crate) fn beside(live: Arc<LiveRun>) -> Option<Self> {
        let mailbox = live.hub.follow()?;
        Some(Self {
            live,
            mailbox,
            ends_run: false,
        })
    }

    pub(crate) async fn next(&self) -> Option<Arc<Event>> {
        self.mailbox.next().await
    }

    /// Why the events break off without a last one.
    pub(crate) fn failure(&self) -> Option<Problem> {
        self.live.hub.failure()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.live.hub.leave(&self.mailbox);
        if self.ends_run {
            // A run that is over does not hear it.
            self.live.cancel.cancel();
        }
    }
}

/// The events of a run as lines, while it is made.
pub(crate) fn lines(seat: Seat) -> Response {
    let lines = stream::unfold(Some(seat), async |seat| {
        let seat = seat?;
        match seat.next().await {
            Some(event) => {
                let over = matches!(event.body, EventBody::RunFinished { .. });
                Some((line(&event), (!over).then_some(seat)))
            }
            // The reader must not take this for the end of the run.
            None => Some((Err(Broken::other("the events break off here")), None)),
        }
    });
    response(NDJSON, lines)
}

pub(crate) fn line(event: &Event) -> Result<Bytes, Broken> {
    let mut line = Vec::new();
    encode_event(event, &mut line).map_err(Broken::other)?;
    Ok(line.into())
}

pub(crate) fn response(
    kind: &'static str,
    frames: impl Stream<Item = Result<Bytes, Broken>> + Send + 'static,
) -> Response {
    let mut response = Body::from_stream(frames).into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
