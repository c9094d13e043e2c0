//! An answer in one piece if it comes soon, else at the end of a stream.
//!
//! A client gives an answer up whose head does not come, and what is between them a connection on
//! which nothing happens: a stream has a head at once, and is heard of from time to time.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
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

pub(super) const EVENTS: &str = "text/event-stream";

/// How long an answer in one piece may take.
const SOON: Duration = Duration::from_millis(250);

/// How long a stream is silent.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Answers that take long at once, whether their clients read or not.
const MOST_LONG: usize = 1_024;

/// Answers that take long and are made by themselves, whether their clients read or not. They end
/// with the gateway.
#[derive(Default)]
pub(super) struct Long {
    tasks: Mutex<JoinSet<()>>,
    /// How many there were when the last began.
    many: AtomicUsize,
}

impl Long {
    /// Goes on with this work: what comes of it, and how it is ended.
    fn take<T: Send + 'static>(&self, work: Work<T>) -> (oneshot::Receiver<T>, AbortHandle) {
        let (tell, told) = oneshot::channel();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        let handle = tasks.spawn(async move {
            // Nobody may be there any more.
            let _ = tell.send(work.await);
        });
        self.many.store(tasks.len(), Ordering::Relaxed);
        (told, handle)
    }

    /// Does this beside.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.take(Box::pin(work)));
    }

    /// Whether there are as many as may be.
    pub(super) fn is_full(&self) -> bool {
        if self.many.load(Ordering::Relaxed) < MOST_LONG {
            return false;
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        self.many.store(tasks.len(), Ordering::Relaxed);
        tasks.len() >= MOST_LONG
    }
}

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A message of the protocol; none where nothing is to be answered.
pub(super) type Message = Option<Vec<u8>>;

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
    work: impl Future<Output = Message> + Send + 'static,
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
        (Ok(Some(message)), _) => return whole(message),
        // It cannot be that there is neither work nor what came of it.
        (Ok(None), _) | (Err(_), None) => return unanswered(),
    };
    let (told, call) = long.take(work);
    streamed(told, (without == WithoutClient::Ends).then_some(call))
}

/// What somebody else answers, who may hold even the head back until there is something to say. It
/// has a head soon, and is heard of until they say something. It ends with its client.
pub(super) async fn headed(
    work: impl Future<Output = Answer> + Send + 'static,
    long: &Arc<Long>,
) -> Answer {
    let mut work: Work<Answer> = Box::pin(work);
    match tokio::time::timeout(SOON, &mut work).await {
        Ok(answer) => answer,
        Err(_) => {
            let rest = async move { as_rest(work.await).await };
            let (told, asking) = long.take(Box::pin(rest));
            streamed(told, Some(asking))
        }
    }
}

/// A stream that says that it lives until there is what is to be told.
fn streamed<T: Told>(told: oneshot::Receiver<T>, ends: Option<AbortHandle>) -> Answer {
    let mut beat = tokio::time::interval(HEARTBEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stream = Stream {
        told: Coming::Awaited(told),
        ends,
        beat,
    };
    events(stream.boxed())
}

/// An answer in one piece.
pub(super) fn whole(message: Vec<u8>) -> Answer {
    said("application/json", Full::from(message).boxed())
}

/// The answer to a request that was called off: a stream that ends without a message.
fn unanswered() -> Answer {
    events(Full::default().boxed())
}

fn events(body: BoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = said(EVENTS, body);
    answer
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
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
    work: Option<Work<Message>>,
    /// Where it goes on without its client.
    long: Option<&'a Arc<Long>>,
}

impl Soon<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Message> {
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

/// What is told at the end of a stream, as the rest of its body.
trait Told: Send + Unpin + 'static {
    fn rest(self) -> BoxBody<Bytes, Infallible>;
}

impl Told for Message {
    fn rest(self) -> BoxBody<Bytes, Infallible> {
        // A message of JSON has no end of line in it.
        let event = self.map(|message| [b"data: ".as_slice(), &message, b"\n\n"].concat());
        Full::from(event.unwrap_or_default()).boxed()
    }
}

impl Told for Answer {
    fn rest(self) -> BoxBody<Bytes, Infallible> {
        self.into_body()
    }
}

/// An answer as the rest of a stream whose head is out. A message says the same there.
async fn as_rest(answer: Answer) -> Answer {
    let is = |kind: &str| {
        let of = answer.headers().get(header::CONTENT_TYPE);
        of.is_some_and(|of| of.as_bytes().starts_with(kind.as_bytes()))
    };
    if is(EVENTS) {
        return answer;
    }
    let message = match (is("application/json"), answer.into_body().collect().await) {
        (true, Ok(body)) => Some(body.to_bytes().to_vec()),
        // No message of the protocol: the stream ends without one.
        (false, Ok(_)) => None,
        (_, Err(never)) => match never {},
    };
    Response::new(message.rest())
}

/// What is told in the end.
enum Coming<T> {
    Awaited(oneshot::Receiver<T>),
    Here(BoxBody<Bytes, Infallible>),
}

/// Says that it lives until there is what is to be told.
struct Stream<T> {
    told: Coming<T>,
    ends: Option<AbortHandle>,
    beat: Interval,
}

impl<T> Drop for Stream<T> {
    fn drop(&mut self) {
        if let Some(call) = &self.ends {
            call.abort();
        }
    }
}

impl<T: Told> Body for Stream<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        loop {
            match &mut this.told {
                Coming::Here(rest) => return Pin::new(rest).poll_frame(cx),
                Coming::Awaited(told) => match Pin::new(told).poll(cx) {
                    Poll::Ready(Ok(told)) => this.told = Coming::Here(told.rest()),
                    // The gateway has ended.
                    Poll::Ready(Err(_)) => this.told = Coming::Here(Full::default().boxed()),
                    Poll::Pending => {
                        ready!(this.beat.poll_tick(cx));
                        return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b":\n\n")))));
                    }
                },
            }
        }
    }
}
