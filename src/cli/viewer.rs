//! A run shown while it is made.

use std::sync::Arc;

use outfitter_agent::EventQueue;
use outfitter_core::{Cancel, Code, Event};

use super::Invocation;
use super::failure::{Failure, Stop};
use super::output::Output;
use crate::render::{Answer, Detail, Renderer, To, View};

impl Invocation<'_> {
    /// How much is shown.
    pub(crate) fn detail(&self) -> Detail {
        if self.global.verbose {
            Detail::Full
        } else {
            Detail::Calm
        }
    }

    /// A viewer of a run that happens now: lines for programs, or text for people.
    pub(crate) fn viewer(&self) -> Viewer {
        let answer = View::live(self.out.stdout, self.out.stderr, self.detail()).answer;
        self.viewer_of(answer)
    }

    /// A viewer that writes what the model says at this time.
    pub(crate) fn viewer_of(&self, answer: Answer) -> Viewer {
        let view = View {
            answer,
            ..View::live(self.out.stdout, self.out.stderr, self.detail())
        };
        Viewer {
            out: self.out,
            shape: if self.global.json {
                Shape::Lines(Vec::new())
            } else {
                Shape::People(Box::new(Renderer::new(view)))
            },
        }
    }
}

/// Shows events as they come.
pub(crate) struct Viewer {
    out: Output,
    shape: Shape,
}

enum Shape {
    Lines(Vec<u8>),
    People(Box<Renderer>),
}

impl Viewer {
    /// Shows one event.
    pub(crate) fn show(&mut self, event: &Event) -> Result<(), Stop> {
        match &mut self.shape {
            Shape::Lines(line) => {
                line.clear();
                outfitter_codec::encode_event(event, line)
                    .map_err(|error| Failure::of(Code::Internal, &error))?;
                self.out.bytes(line)
            }
            Shape::People(renderer) => {
                for piece in renderer.event(event) {
                    match piece.to {
                        To::Data => self.out.data(&piece.text)?,
                        To::People => self.out.tell(&piece.text),
                    }
                }
                Ok(())
            }
        }
    }
}

/// Makes a run and shows its events from a thread of its own, so that a reader who does not read
/// stops only what is shown. When nobody reads any more the run is cancelled.
pub(crate) async fn watch<T>(
    viewer: Viewer,
    cancel: &Cancel,
    run: impl AsyncFnOnce(Arc<EventQueue>) -> T,
) -> (T, Viewer, Result<(), Stop>) {
    let queue = EventQueue::new();
    let (events, stop) = (queue.clone(), cancel.clone());
    let runtime = tokio::runtime::Handle::current();
    let shown = tokio::task::spawn_blocking(move || {
        let mut viewer = viewer;
        let mut result = Ok(());
        while let Some(event) = runtime.block_on(events.next()) {
            if result.is_ok() {
                result = viewer.show(&event);
                if result.is_err() {
                    stop.cancel();
                }
            }
        }
        (viewer, result)
    });
    let end = run(queue.clone()).await;
    queue.close();
    match shown.await {
        Ok((viewer, result)) => (end, viewer, result),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
