//! Calls that the library answers. It ends its streams at once when it is told to stop, with an
//! answer on its way or not: it is told when the answers are out.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use tokio::sync::Notify;

use super::late::Answer;

/// How many of them there are.
#[derive(Default)]
pub(super) struct Answering {
    many: AtomicUsize,
    fewer: Notify,
}

impl Answering {
    /// One more, until its answer is out or not wanted any more.
    pub(super) fn begin(self: &Arc<Self>) -> UnderWay {
        self.many.fetch_add(1, Ordering::AcqRel);
        UnderWay(self.clone())
    }

    pub(super) fn is_none(&self) -> bool {
        self.many.load(Ordering::Acquire) == 0
    }

    /// Ends when there is none.
    pub(super) async fn until_none(&self) {
        loop {
            let fewer = self.fewer.notified();
            tokio::pin!(fewer);
            fewer.as_mut().enable();
            if self.is_none() {
                return;
            }
            fewer.await;
        }
    }
}

/// One that is under way, until this is dropped.
pub(super) struct UnderWay(Arc<Answering>);

impl UnderWay {
    /// It is under way as long as this answer is.
    pub(super) fn with(self, answer: Answer) -> Answer {
        answer.map(|body| Told { body, _one: self }.boxed())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.many.fetch_sub(1, Ordering::AcqRel);
        self.0.fewer.notify_waiters();
    }
}

/// The body of an answer, with what says that it is under way.
struct Told {
    body: BoxBody<Bytes, Infallible>,
    _one: UnderWay,
}

impl Body for Told {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
