//! What running calls print, as one activity each: a snapshot, then small patches. AG-UI has no
//! event for it, and a custom event each would stay in a client's history for good.

use std::collections::{HashMap, VecDeque};

use outfitter_core::{CallId, Stream};
use serde_json::json;

use super::event::{AguiBody, PatchOp, ProgressContent, ProgressPiece};

const ACTIVITY: &str = "outfitter.tool_progress";

/// Bytes and pieces of one call that a client holds; the oldest make room.
const WINDOW_BYTES: usize = 32 * 1024;
const WINDOW_PIECES: usize = 256;

/// The calls that print.
#[derive(Debug, Default)]
pub(super) struct Printing(HashMap<CallId, Window>);

/// What a client has of one call.
#[derive(Debug, Default)]
struct Window {
    pieces: VecDeque<usize>,
    bytes: usize,
    omitted: u64,
    closed: bool,
}

/// One piece of progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printed<'a> {
    pub(super) text: &'a str,
    pub(super) stream: Stream,
    pub(super) closed: bool,
    pub(super) dropped: u64,
}

impl Printing {
    pub(super) fn printed(
        &mut self,
        call: &CallId,
        name: &str,
        piece: Printed<'_>,
        out: &mut Vec<AguiBody>,
    ) {
        if let Some(window) = self.0.get_mut(call) {
            if !window.closed {
                out.extend(window.patch(call, piece));
            }
            return;
        }
        let mut window = Window::default();
        let ops = window.take(piece);
        out.push(AguiBody::ActivitySnapshot {
            message_id: id(call),
            activity_type: ACTIVITY,
            content: ProgressContent {
                tool_call_id: call.to_string(),
                tool_name: name.to_owned(),
                pieces: ops.added.into_iter().collect(),
                omitted_bytes: window.omitted,
                closed: window.closed,
            },
        });
        self.0.insert(call.clone(), window);
    }

    /// A call has its result, or waits: it prints nothing more in this run.
    pub(super) fn over(&mut self, call: &CallId, out: &mut Vec<AguiBody>) {
        if let Some(mut window) = self.0.remove(call) {
            out.extend(window.close(call));
        }
    }

    /// Nothing prints any more.
    pub(super) fn end_all(&mut self, out: &mut Vec<AguiBody>) {
        let mut open: Vec<_> = std::mem::take(&mut self.0).into_iter().collect();
        open.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (call, mut window) in open {
            out.extend(window.close(&call));
        }
    }
}

/// What a piece does to a window.
struct Change {
    removed: usize,
    added: Option<ProgressPiece>,
}

impl Window {
    fn take(&mut self, piece: Printed<'_>) -> Change {
        let from = piece.text.len().saturating_sub(WINDOW_BYTES);
        let text = &piece.text[piece.text.ceil_char_boundary(from)..];
        self.omitted += piece.dropped + (piece.text.len() - text.len()) as u64;
        self.closed = piece.closed;
        let mut removed = 0;
        let added = (!text.is_empty()).then(|| {
            while self.bytes + text.len() > WINDOW_BYTES || self.pieces.len() >= WINDOW_PIECES {
                let Some(oldest) = self.pieces.pop_front() else {
                    break;
                };
                self.bytes -= oldest;
                self.omitted += oldest as u64;
                removed += 1;
            }
            self.pieces.push_back(text.len());
            self.bytes += text.len();
            ProgressPiece {
                stream: piece.stream.as_str(),
                text: text.to_owned(),
            }
        });
        Change { removed, added }
    }

    fn patch(&mut self, call: &CallId, piece: Printed<'_>) -> Option<AguiBody> {
        let before = self.omitted;
        let change = self.take(piece);
        let mut patch: Vec<PatchOp> = (0..change.removed)
            .map(|_| PatchOp::Remove {
                path: "/pieces/0".to_owned(),
            })
            .collect();
        if let Some(value) = change.added {
            patch.push(PatchOp::Add {
                path: "/pieces/-".to_owned(),
                value,
            });
        }
        if self.omitted != before {
            patch.push(replace("/omitted_bytes", json!(self.omitted)));
        }
        if self.closed {
            patch.push(replace("/closed", json!(true)));
        }
        (!patch.is_empty()).then(|| delta(call, patch))
    }

    fn close(&mut self, call: &CallId) -> Option<AguiBody> {
        let open = !std::mem::replace(&mut self.closed, true);
        open.then(|| delta(call, vec![replace("/closed", json!(true))]))
    }
}

fn replace(path: &str, value: serde_json::Value) -> PatchOp {
    PatchOp::Replace {
        path: path.to_owned(),
        value,
    }
}

fn delta(call: &CallId, patch: Vec<PatchOp>) -> AguiBody {
    AguiBody::ActivityDelta {
        message_id: id(call),
        activity_type: ACTIVITY,
        patch,
    }
}

fn id(call: &CallId) -> String {
    format!("progress:{call}")
}
