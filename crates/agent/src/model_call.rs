//! One model call: asked, streamed, put together.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt as _;
use outfitter_core::{
    CallId, Cancel, Clock, DeltaKind, EventBody, MessageId, ModelError, ModelProvider, ModelRequest,
};
use outfitter_model::{Assembled, TurnAssembler};
use outfitter_tools::{ArgumentsCarry, Redactor};
use tokio::task::JoinSet;

use crate::writer::Writer;

/// What came of a model call.
pub(crate) struct Reply {
    /// The id its deltas were shown under.
    pub(crate) message: MessageId,
    /// What came, whole or in part.
    pub(crate) assembled: Assembled,
    /// Why it is only a part.
    pub(crate) failed: Option<ModelError>,
}

/// A model call that is about to be made.
pub(crate) struct Asked {
    pub(crate) model: Arc<dyn ModelProvider>,
    pub(crate) request: ModelRequest,
    /// The call ids that the session has used.
    pub(crate) taken: Arc<HashSet<CallId>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) cancel: Cancel,
    pub(crate) writer: Arc<Writer>,
    /// What of the arguments must not be shown.
    pub(crate) redactor: Redactor,
}

impl Asked {
    /// Asks the model and shows its reply as it comes.
    ///
    /// In a task of its own, which runs where the connection is read. A run that is not in a task
    /// itself, as under `block_on`, would be woken on another thread for every piece, and that
    /// costs more than all the rest of a turn.
    pub(crate) async fn reply(self) -> Reply {
        let (message, clock) = (MessageId::mint(&*self.clock), self.clock.clone());
        let mut asking = JoinSet::new();
        asking.spawn(ask(self, message.clone()));
        match asking.join_next().await {
            Some(Ok(reply)) => reply,
            Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime is on its way down.
            Some(Err(_)) | None => Reply {
                message,
                assembled: TurnAssembler::new("", |_| false, clock).finish_partial(),
                failed: Some(ModelError::Cancelled),
            },
        }
    }
}

async fn ask(asked: Asked, message: MessageId) -> Reply {
    let Asked {
        model,
        request,
        taken,
        clock,
        cancel,
        writer,
        redactor,
    } = asked;
    let provider = &*model.info().provider;
    let mut assembler = TurnAssembler::new(provider, move |id| taken.contains(id), clock);
    let mut shower = Shower {
        writer: &writer,
        message: &message,
        redactor: &redactor,
        pending: None,
        carries: Vec::new(),
    };
    let failed = match model.stream(request, cancel.clone()).await {
        Err(error) => Some(error),
        Ok(mut stream) => loop {
            let delta = tokio::select! {
                biased;
                () = cancel.cancelled() => break Some(ModelError::Cancelled),
                delta = stream.next() => delta,
            };
            match delta {
                None => break None,
                Some(Err(error)) => break Some(error),
                Some(Ok(delta)) => {
                    if let Some(shown) = assembler.push(delta) {
                        shower.show(shown.kind, shown.call, shown.text);
                    }
                }
            }
        },
    };
    shower.finish();
    let (assembled, failed) = match failed {
        Some(error) => (assembler.finish_partial(), Some(error)),
        None => {
            let assembled = assembler.finish();
            let cut_off = assembled.stop.is_none().then_some(ModelError::Truncated);
            (assembled, cut_off)
        }
    };
    Reply {
        message,
        assembled,
        failed,
    }
}

/// Shows deltas; while the reader has no room, those of one kind are merged. Arguments are shown
/// without their secrets: what may be one is held back until it has come whole.
struct Shower<'a> {
    writer: &'a Writer,
    message: &'a MessageId,
    redactor: &'a Redactor,
    pending: Option<(DeltaKind, Option<CallId>, String)>,
    /// The calls whose arguments come, which may be several at once, and what of them is held back.
    carries: Vec<(Option<CallId>, ArgumentsCarry)>,
}

impl Shower<'_> {
    fn show(&mut self, kind: DeltaKind, call: Option<CallId>, text: String) {
        if kind != DeltaKind::ToolArguments {
            return self.pass(kind, call, text);
        }
        let known = self.carries.iter_mut().find(|(of, _)| *of == call);
        let text = match known {
            Some((_, carry)) => carry.push(&text),
            None => {
                let mut carry = self.redactor.arguments_carry();
                let text = carry.push(&text);
                self.carries.push((call.clone(), carry));
                text
            }
        };
        self.pass(kind, call, text);
    }

    fn pass(&mut self, kind: DeltaKind, call: Option<CallId>, text: String) {
        if text.is_empty() {
            return;
        }
        let text = match self.pending.take() {
            Some((was, of, mut held)) if (was, &of) == (kind, &call) => {
                held.push_str(&text);
                held
            }
            Some((was, of, held)) => {
                self.writer.show(self.event(was, of, held));
                text
            }
            None => text,
        };
        if let Some(EventBody::Delta {
            kind,
            text,
            tool_call_id,
            ..
        }) = self.writer.try_show(self.event(kind, call, text))
        {
            self.pending = Some((kind, tool_call_id, text));
        }
    }

    fn finish(&mut self) {
        for (call, mut carry) in std::mem::take(&mut self.carries) {
            self.pass(DeltaKind::ToolArguments, call, carry.finish());
        }
        if let Some((kind, call, text)) = self.pending.take() {
            self.writer.show(self.event(kind, call, text));
        }
    }

    fn event(&self, kind: DeltaKind, tool_call_id: Option<CallId>, text: String) -> EventBody {
        EventBody::Delta {
            message_id: self.message.clone(),
            kind,
            text,
            tool_call_id,
        }
    }
}
