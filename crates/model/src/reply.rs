//! The body of a reply, read as deltas: one deadline for the next piece and one for the whole, one
//! bound on what comes and one on what is said, one place that decides what a stream's end means.

use std::collections::VecDeque;
use std::mem;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use outfitter_core::{Cancel, ModelDelta, ModelError, ModelStream};
use outfitter_net::reqwest::Response;
use outfitter_net::reqwest::header::CONTENT_TYPE;
use secrecy::SecretString;
use tokio::time::timeout;

use crate::http::{Opened, PhaseTimeouts, fit, is_html};
use crate::limits::{
    DRAIN_BYTES, DRAIN_TIME, END_GRACE, MAX_EVENT_BYTES, MAX_REPLY_BYTES, MAX_SAID_BYTES,
};
use crate::patience::{Patience, said, says_something};
use crate::sse::{SseEvent, SseParser};

/// Deltas on their way out.
pub(crate) type Deltas = VecDeque<ModelDelta>;

/// Whether a reply goes on after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It does.
    More,
    /// The reason to stop was given; what may still come is the usage and the end mark.
    Settled,
    /// The end mark came.
    Ended,
}

/// Reads one wire. The errors it makes hold the provider's words as they are.
pub(crate) trait Decoder: Send {
    /// Takes one event.
    fn event(&mut self, event: &SseEvent, out: &mut Deltas) -> Result<Flow, ModelError>;

    /// Takes a reply that came as one JSON document instead of a stream. It is settled if it has a
    /// reason to stop.
    fn whole(&mut self, body: &str, out: &mut Deltas) -> Result<Flow, ModelError>;

    /// How many bytes it has taken of what no reader sees: signatures, and what is kept for the
    /// provider.
    fn kept(&self) -> u64;

    /// The reply is over: gives what was held back, and the stop at last.
    fn finish(&mut self, out: &mut Deltas);
}

/// The deltas of a response.
pub(crate) fn read(
    opened: Opened,
    decoder: Box<dyn Decoder>,
    timeouts: PhaseTimeouts,
    secret: Option<SecretString>,
    cancel: Cancel,
) -> Result<ModelStream, ModelError> {
    let Opened { response, facts } = opened;
    let page = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/html"));
    if page {
        return Err(web_page());
    }
    let reader = Reader {
        response: Some(response),
        decoder,
        body: Body::Unknown(Vec::new()),
        events: Vec::new(),
        ready: VecDeque::from([ModelDelta::Started(facts)]),
        failure: None,
        flow: Flow::More,
        settled: false,
        received: 0,
        said: 0,
        patience: Patience::new(timeouts.idle),
        timeouts,
        secret,
        cancel,
    };
    let deltas = stream::unfold(reader, |mut reader| async move {
        reader.next().await.map(|item| (item, reader))
    });
    // A stream that ended may be asked again.
    Ok(Box::pin(deltas.fuse()))
}

fn web_page() -> ModelError {
    ModelError::Protocol {
        message: "the answer is a web page, not a reply; base_url may be wrong".to_owned(),
    }
}

/// What the body turned out to be, by its first byte that is not white space: servers send
/// streams as JSON and JSON as streams, so the content type is not asked.
enum Body {
    Unknown(Vec<u8>),
    Stream(SseParser),
    Json(Vec<u8>),
    Over,
}

enum Piece {
    Bytes(Bytes),
    End,
    Broken,
    Late(ModelError),
    Cancelled,
}

struct Reader {
    /// Dropping it closes the connection.
    response: Option<Response>,
    decoder: Box<dyn Decoder>,
    body: Body,
    events: Vec<SseEvent>,
    ready: Deltas,
    failure: Option<ModelError>,
    flow: Flow,
    /// Whether a reason to stop was ever given.
    settled: bool,
    /// Bytes of the body.
    received: u64,
    /// Bytes of what readers see.
    said: u64,
    patience: Patience,
    timeouts: PhaseTimeouts,
    secret: Option<SecretString>,
    cancel: Cancel,
}

impl Reader {
    async fn next(&mut self) -> Option<Result<ModelDelta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            if let Some(error) = self.failure.take() {
                return Some(Err(error));
            }
            if matches!(self.body, Body::Over) {
                return None;
            }
            if let Err(error) = self.advance().await {
                self.fail(error);
            }
        }
    }

    async fn advance(&mut self) -> Result<(), ModelError> {
        match self.piece().await {
            Piece::Bytes(bytes) => {
                self.take(&bytes)?;
                if self.flow == Flow::Ended {
                    self.drain().await;
                    return self.conclude();
                }
                Ok(())
            }
            Piece::End => self.end(),
            // A reply that gave its reason to stop is whole, however its connection ends.
            Piece::Broken | Piece::Late(_) if self.flow != Flow::More => self.conclude(),
            Piece::Broken => Err(ModelError::Truncated),
            Piece::Late(late) => Err(late),
            Piece::Cancelled => Err(ModelError::Cancelled),
        }
    }

    async fn piece(&mut self) -> Piece {
        let Some(response) = &mut self.response else {
            return Piece::Broken;
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Piece::Cancelled,
            piece = self.patience.wait(response.chunk()) => match piece {
                Ok(Ok(Some(bytes))) => Piece::Bytes(bytes),
                Ok(Ok(None)) => Piece::End,
                Ok(Err(_)) => Piece::Broken,
                Err(late) => Piece::Late(late),
            },
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.received += bytes.len() as u64;
        if self.received > MAX_REPLY_BYTES {
            return Err(ModelError::TooLarge {
                limit: MAX_REPLY_BYTES,
            });
        }
        match &mut self.body {
            Body::Unknown(head) => {
                head.extend_from_slice(bytes);
                self.recognise()
            }
            Body::Stream(parser) => {
                parser
                    .push(bytes, &mut self.events)
                    .map_err(|over| ModelError::TooLarge {
                        limit: over.limit as u64,
                    })?;
                self.decode()
            }
            Body::Json(document) => {
                document.extend_from_slice(bytes);
                // White space keeps a connection alive and says nothing.
                if !bytes.trim_ascii().is_empty() {
                    self.patience.renew(self.timeouts.idle);
                }
                Ok(())
            }
            Body::Over => Ok(()),
        }
    }

    fn recognise(&mut self) -> Result<(), ModelError> {
        let Body::Unknown(head) = &mut self.body else {
            return Ok(());
        };
        match head.trim_ascii_start().first() {
            None => Ok(()),
            Some(b'{' | b'[') => {
                self.body = Body::Json(mem::take(head));
                Ok(())
            }
            Some(_) if is_html(head) => Err(web_page()),
            Some(_) => {
                let head = mem::take(head);
                self.body = Body::Stream(SseParser::new(MAX_EVENT_BYTES));
                // Its bytes were counted when they came.
                self.received -= head.len() as u64;
                self.take(&head)
            }
        }
    }

    fn decode(&mut self) -> Result<(), ModelError> {
        for event in mem::take(&mut self.events) {
            self.event(&event)?;
            if self.flow == Flow::Ended {
                break;
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &SseEvent) -> Result<(), ModelError> {
        let (before, kept) = (self.ready.len(), self.decoder.kept());
        let flow = self.decoder.event(event, &mut self.ready)?;
        let anything = flow != self.flow
            || self.decoder.kept() > kept
            || self.ready.range(before..).any(says_something);
        self.flow = flow;
        self.settled |= flow == Flow::Settled;
        if anything {
            self.patience.renew(match flow {
                Flow::More => self.timeouts.idle,
                Flow::Settled | Flow::Ended => self.timeouts.idle.min(END_GRACE),
            });
        }
        self.count(before)
    }

    /// Counts what was said from `before` on, and takes it back if it is too much.
    fn count(&mut self, before: usize) -> Result<(), ModelError> {
        self.said += self.ready.range(before..).map(said).sum::<u64>();
        if self.said + self.decoder.kept() > MAX_SAID_BYTES {
            self.ready.truncate(before);
            return Err(ModelError::TooLarge {
                limit: MAX_SAID_BYTES,
            });
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), ModelError> {
        match mem::replace(&mut self.body, Body::Over) {
            Body::Unknown(_) => return Err(ModelError::Truncated),
            Body::Json(document) => {
                let text = String::from_utf8_lossy(&document);
                let before = self.ready.len();
                self.flow = self.decoder.whole(&text, &mut self.ready)?;
                self.settled |= self.flow == Flow::Settled;
                self.count(before)?;
            }
            Body::Stream(parser) => {
                if let Some(event) = parser.finish() {
                    match self.event(&event) {
                        Ok(()) => {}
                        // It was cut off rather than left without its last line end.
                        Err(ModelError::Protocol { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                if self.flow == Flow::More {
                    return Err(ModelError::Truncated);
                }
            }
            Body::Over => return Ok(()),
        }
        self.conclude()
    }

    /// The reply is over. One that said nothing and gave no reason to stop was none.
    fn conclude(&mut self) -> Result<(), ModelError> {
        if !self.settled && self.said + self.decoder.kept() == 0 {
            return Err(ModelError::Protocol {
                message: "it ended without a word and without a reason to stop".to_owned(),
            });
        }
        self.decoder.finish(&mut self.ready);
        self.body = Body::Over;
        self.response = None;
        Ok(())
    }

    fn fail(&mut self, error: ModelError) {
        self.body = Body::Over;
        self.response = None;
        self.failure = Some(match error {
            ModelError::Provider { message } => ModelError::Provider {
                message: fit(&message, self.secret.as_ref()),
            },
            ModelError::Protocol { message } => ModelError::Protocol {
                message: fit(&message, self.secret.as_ref()),
            },
            other => other,
        });
    }

    /// Reads to the end of the body after the end mark. The last chunk of a chunked body often
    /// comes in a write of its own, and a connection whose body was not read to its end cannot be
    /// used again.
    async fn drain(&mut self) {
        let Some(response) = &mut self.response else {
            return;
        };
        let rest = async {
            let mut left = DRAIN_BYTES;
            while let Ok(Some(bytes)) = response.chunk().await {
                left = left.saturating_sub(bytes.len());
                if left == 0 {
                    return;
                }
            }
            // Lets the connection's own task put it back before the next request looks for one.
            tokio::task::yield_now().await;
        };
        // Too late only means that the connection is closed instead.
        let _ = timeout(DRAIN_TIME, rest).await;
    }
}
