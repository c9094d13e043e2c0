//! A connection, watched: when something last came on it, and what is refused in our name before a
//! request is one.
//!
//! A head that cannot be read never reaches our routes. What reads it answers with a bare status;
//! it is told here as everything else that is refused. What of it is still written together with the
//! end of an answer before it stays as it is.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::StatusCode;
use outfitter_core::{Code, ErrorInfo};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::time::Sleep;

use crate::gate::OURS;
use crate::problem::{PROBLEM, Problem};
use crate::seats::Seat;

/// Bytes that are read and thrown away after a refusal, and how long that may take. A connection
/// that is closed with bytes unread is reset, and who sends them never reads why.
const LINGER_BYTES: usize = 1024 * 1024;
const LINGER: Duration = Duration::from_secs(1);

/// A connection, watched.
pub(crate) struct Watched<I> {
    io: I,
    seat: Arc<Seat>,
    /// Requests whose answers have gone out whole.
    gone_out: u64,
    refusal: Option<Refusal>,
}

/// What is written instead of a bare status.
struct Refusal {
    bytes: Vec<u8>,
    written: usize,
    lingered: usize,
    until: Pin<Box<Sleep>>,
}

impl<I> Watched<I> {
    pub(crate) fn new(io: I, seat: Arc<Seat>) -> Self {
        Self {
            io,
            seat,
            gone_out: 0,
            refusal: None,
        }
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> Watched<I> {
    /// Ends it. Who has sent half of a head is told that the rest is not waited for.
    pub(crate) async fn end(mut self) {
        if self.refusal.is_none() && self.seat.has_half_a_head() {
            self.refusal = Some(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                Code::Timeout,
                "the head of the request did not arrive in time",
            ));
            // Who does not read it does without.
            let _ = tokio::time::timeout(LINGER, self.shutdown()).await;
        }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Watched<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.seat.something_came();
        }
        read
    }
}

impl<I> Watched<I> {
    /// Whether what is written now answers none of the requests that came whole: all those answers
    /// have gone out. How it looks says nothing; an answer may hold the same bytes.
    fn is_of_no_request(&self) -> bool {
        self.seat.answered() == Some(self.gone_out)
    }
}

impl<I: AsyncWrite + Unpin> Watched<I> {
    /// Writes the refusal, whatever of the bare one was to be written.
    fn poll_refuse(&mut self, cx: &mut Context<'_>, bare: usize) -> Poll<io::Result<usize>> {
        if let Some(refusal) = &mut self.refusal {
            while refusal.written < refusal.bytes.len() {
                let rest = &refusal.bytes[refusal.written..];
                match ready!(Pin::new(&mut self.io).poll_write(cx, rest))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    written => refusal.written += written,
                }
            }
        }
        Poll::Ready(Ok(bare))
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Watched<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.refusal.is_none() && self.is_of_no_request() {
            self.refusal = instead_of(buf);
        }
        if self.refusal.is_some() {
            return self.poll_refuse(cx, buf.len());
        }
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.refusal.is_none() && self.is_of_no_request() {
            self.refusal = bufs.first().and_then(|first| instead_of(first));
        }
        if self.refusal.is_some() {
            let bare = bufs.iter().map(|buf| buf.len()).sum();
            return self.poll_refuse(cx, bare);
        }
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // It is called when nothing is left to be written.
        if let Some(answered) = self.seat.answered() {
            self.gone_out = answered;
        }
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        ready!(this.poll_refuse(cx, 0))?;
        ready!(Pin::new(&mut this.io).poll_shutdown(cx))?;
        let Some(refusal) = &mut this.refusal else {
            return Poll::Ready(Ok(()));
        };
        while refusal.lingered < LINGER_BYTES {
            if refusal.until.as_mut().poll(cx).is_ready() {
                break;
            }
            let mut space = [0; 8 * 1024];
            let mut buf = ReadBuf::new(&mut space);
            match ready!(Pin::new(&mut this.io).poll_read(cx, &mut buf)) {
                Ok(()) if !buf.filled().is_empty() => refusal.lingered += buf.filled().len(),
                // They have hung up.
                Ok(()) | Err(_) => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// What to write instead of a refusal without a word of why, which these bytes are.
fn instead_of(bytes: &[u8]) -> Option<Refusal> {
    let status = bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(status).ok()?;
    let (code, why) = match status.as_u16() {
        414 => (Code::TooLarge, "the path and the query are too long"),
        431 => (Code::TooLarge, "the head of the request is too large"),
        400..=499 => (
            Code::InvalidArguments,
            "the head of the request cannot be read",
        ),
        _ => return None,
    };
    Some(Refusal::new(status, code, why))
}

impl Refusal {
    fn new(status: StatusCode, code: Code, why: &str) -> Self {
        let document = Problem::new(status, ErrorInfo::new(code, why)).document();
        let bytes = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {PROBLEM}\r\n{OURS}: nosniff\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{document}",
            document.len()
        );
        Self {
            bytes: bytes.into_bytes(),
            written: 0,
            lingered: 0,
            until: Box::pin(tokio::time::sleep(LINGER)),
        }
    }
}
