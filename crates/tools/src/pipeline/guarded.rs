//! A call whose panics stay inside, also those of its destruction.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use outfitter_core::{Code, ErrorInfo, Reply, ToolError, ToolName};

type Work<'a> = Pin<Box<dyn Future<Output = Result<Reply, ToolError>> + Send + 'a>>;

/// What a panic carried.
pub(crate) type Panic = Box<dyn Any + Send>;

/// A running call. It gives its reply, or the panic.
pub(crate) struct Guarded<'a>(Option<Work<'a>>);

impl<'a> Guarded<'a> {
    /// Begins a call; `start` may panic too.
    pub(crate) fn begin(start: impl FnOnce() -> Work<'a>) -> Result<Self, Panic> {
        catch_unwind(AssertUnwindSafe(start)).map(|work| Self(Some(work)))
    }

    fn end(&mut self) -> Result<(), Panic> {
        match self.0.take() {
            Some(work) => catch_unwind(AssertUnwindSafe(|| drop(work))),
            None => Ok(()),
        }
    }
}

impl Future for Guarded<'_> {
    type Output = Result<Result<Reply, ToolError>, Panic>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.0 else {
            return Poll::Pending;
        };
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(reply)) => Poll::Ready(self.end().map(|()| reply)),
            Err(panic) => {
                // The first panic is the one to tell of.
                drop(self.end());
                Poll::Ready(Err(panic))
            }
        }
    }
}

impl Drop for Guarded<'_> {
    fn drop(&mut self) {
        if let Err(panic) = self.end() {
            tracing::error!(
                panic = text(&*panic),
                "a tool panicked while it was stopped"
            );
        }
    }
}

/// The error for a call that panicked. The panic's own words are for operators.
pub(crate) fn panicked(tool: &ToolName, panic: &(dyn Any + Send)) -> ErrorInfo {
    tracing::error!(%tool, panic = text(panic), "a tool panicked");
    ErrorInfo::new(
        Code::Internal,
        format!("{tool} crashed; this is not your fault"),
    )
    .with_hint("try other arguments or another tool")
}

fn text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
