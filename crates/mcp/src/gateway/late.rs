//! An answer in one piece if it comes soon, else at the end of a stream.
//!
//! A client gives an answer up whose head does not come, and what is between them a connection on
//! which nothing happens: a stream has a head at once, and is heard of from time to time.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body::{Body, Frame};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Interval, MissedTickBehavior};

/// An answer over HTTP.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// How long an answer in one piece may take.
const SOON: Duration = Duration::from_millis(250);

/// How long a stream is silent.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Calls that take long and are made by themselves, whether their clients read or not. They end
/// with the gateway.
#[derive(Default)]
pub(super) struct Long(Mutex<JoinSet<()>>);

impl Long {
    /// Goes on with this work: what comes of it, and how it is ended.
    fn take(&self, work: Work) -> (oneshot::Receiver<Vec<u8>>, AbortHandle) {
        let (tell, told) = oneshot::channel();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while all.try_join_next().is_some() {}
        let handle = all.spawn(async move {
            // Nobody may be there any more.
            let _ = tell.send(work.await);
        });
        (told, handle)
    }
}

type Work = Pin<Box<dyn Future<Output = Vec<u8>> + Send>>;

/// What becomes of a call whose client goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutClient {
    /// It goes on: its client may only have lost the connection.
    GoesOn,
    /// It ends.
    Ends,
}

/// The answer that comes of this work.
pub(super) async fn answer(
    work: impl Future<Output = Vec<u8>> + Send + 'static,
    long: &Arc<Long>,
    without: WithoutClient,
) -> Answer {
    let mut soon = Soon {
        work: Some(Box::pin(work)),
        long: (without == WithoutClient::GoesOn).then_some(long),
    };
    let in_time = tokio::time::timeout(SOON, std::future::poll_fn(|cx| soon.poll(cx))).await;
    let work = match (in_time, soon.work.take()) {
        (Err(_), Some(work)) => work,
        (Ok(message), _) => return whole(message),
        // It cannot be that there is neither work nor what came of it.
        (Err(_), None) => return whole(Vec::new()),
    };
    let (told, call) = long.take(work);
    let mut beat = tokio::time::interval(HEARTBEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stream = Stream {
        told,
        ends: (without == WithoutClient::Ends).then_some(call),
        beat,
        ended: false,
    };
    let mut answer = said("text/event-stream", stream.boxed());
    answer
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// An answer in one piece.
pub(super) fn whole(message: Vec<u8>) -> Answer {
    said("application/json", Full::from(message).boxed())
}

fn said(kind: &'static str, body: BoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    answer
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Work that may end soon.
struct Soon<'a> {
    work: Option<Work>,
    /// Where it goes on without its client.
    long: Option<&'a Arc<Long>>,
}

impl Soon<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Vec<u8>> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let message = ready!(work.as_mut().poll(cx));
        self.work = None;
        Poll::Ready(message)
    }
}

impl Drop for Soon<'_> {
    fn drop(&mut self) {
        if let (Some(work), Some(long), Ok(_)) =
            (self.work.take(), self.long, Handle::try_current())
        {
            long.take(work);
        }
    }
}

/// Says that it lives until there is the message.
struct Stream {
    told: oneshot::Receiver<Vec<u8>>,
    ends: Option<AbortHandle>,
    beat: Interval,
    ended: bool,
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(call) = &self.ends {
            call.abort();
        }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        let frame = match Pin::new(&mut this.told).poll(cx) {
            Poll::Ready(Ok(message)) => {
                this.ended = true;
                // A message of JSON has no end of line in it.
                [b"data: ".as_slice(), &message, b"\n\n"].concat().into()
            }
            // The gateway has ended.
            Poll::Ready(Err(_)) => {
                this.ended = true;
                return Poll::Ready(None);
            }
            Poll::Pending => {
                ready!(this.beat.poll_tick(cx));
                Bytes::from_static(b":\n\n")
            }
        };
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}
