//! Events without a message, for clients that know them only.
//!
//! The library begins each stream with an event that has an id and no data, so that a client which
//! lost the stream may come back for the rest. That is of 2025-11-25; clients of what was before
//! read every event as a message, and report this one as broken.

use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, header};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use serde::Deserialize;

use super::late::{Answer, EVENTS};
use super::plain::VERSION_HEADER;

/// The first revision that has such events. Revisions are dates, and are in order as texts are.
const FIRST: &str = "2025-11-25";

/// Whether a client knows events without a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Priming {
    Known,
    Unknown,
}

#[derive(Deserialize)]
struct Hello<'a> {
    #[serde(borrow)]
    params: Wanted<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted<'a> {
    #[serde(borrow)]
    protocol_version: Cow<'a, str>,
}

impl Priming {
    /// Of a client, by its header. One that sends none is of a revision that had no such header.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let version = headers.get(VERSION_HEADER);
        Self::since(version.and_then(|version| version.to_str().ok()))
    }

    /// Of a client that begins a session, by the revision it asks for.
    pub(super) fn of_hello(message: &[u8]) -> Self {
        let hello = serde_json::from_slice::<Hello<'_>>(message).ok();
        Self::since(hello.as_ref().map(|hello| &*hello.params.protocol_version))
    }

    fn since(version: Option<&str>) -> Self {
        match version {
            Some(version) if version >= FIRST => Self::Known,
            Some(_) | None => Self::Unknown,
        }
    }

    /// The answer as the client can read it.
    pub(super) fn in_answer(self, answer: Answer) -> Answer {
        let kind = answer.headers().get(header::CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENTS.as_bytes()));
        match self {
            Self::Unknown if is_stream => answer.map(|body| Messages(body).boxed()),
            Self::Unknown | Self::Known => answer,
        }
    }
}

/// A stream of events with those that have no message left out. The library gives each event as a
/// frame of its own.
struct Messages(BoxBody<Bytes, Infallible>);

impl Body for Messages {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        loop {
            let frame = ready!(Pin::new(&mut self.0).poll_frame(cx));
            let is_empty =
                |frame: &Frame<Bytes>| frame.data_ref().is_some_and(|data| no_data(data));
            match frame {
                Some(Ok(frame)) if is_empty(&frame) => {}
                frame => return Poll::Ready(frame),
            }
        }
    }
}

/// Whether an event has no data. What keeps the connection alive is no event.
fn no_data(event: &[u8]) -> bool {
    let mut lines = event.split(|byte| *byte == b'\n');
    let is_field = |line: &[u8], name: &[u8]| line.starts_with(name);
    let has_data = lines.clone().any(|line| {
        let data = line.strip_prefix(b"data:");
        data.is_some_and(|data| !data.trim_ascii().is_empty())
    });
    let has_field = lines.any(|line| {
        [&b"data:"[..], b"id:", b"retry:"]
            .iter()
            .any(|name| is_field(line, name))
    });
    has_field && !has_data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_without_data_is_known_by_its_fields() {
        for empty in ["data: \nid: 0/0\nretry: 3000\n\n", "data:\n\n", "id: 1\n\n"] {
            assert!(no_data(empty.as_bytes()), "{empty:?}");
        }
        for told in ["data: {}\nid: 1/0\n\n", ":\n\n", ": retry:\n\n", "", "\n"] {
            assert!(!no_data(told.as_bytes()), "{told:?}");
        }
    }

    #[test]
    fn a_client_is_of_the_revision_it_names_and_of_an_old_one_if_it_names_none() {
        let of = |version: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(VERSION_HEADER, http::HeaderValue::from_static(version));
            Priming::of(&headers)
        };
        assert_eq!(of("2025-11-25"), Priming::Known);
        assert_eq!(of("2026-07-28"), Priming::Known);
        assert_eq!(of("2025-06-18"), Priming::Unknown);
        assert_eq!(Priming::of(&HeaderMap::new()), Priming::Unknown);
        let hello = br#"{"params":{"protocolVersion":"2025-11-25"}}"#;
        assert_eq!(Priming::of_hello(hello), Priming::Known);
        let hello = br#"{"params":{"protocolVersion":"2025-03-26"}}"#;
        assert_eq!(Priming::of_hello(hello), Priming::Unknown);
        assert_eq!(Priming::of_hello(b"{}"), Priming::Unknown);
    }
}
