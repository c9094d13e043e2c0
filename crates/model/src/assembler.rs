//! Deltas as one message: ordered parts, calls with ids of their own, and what to show meanwhile.
//!
//! Wires number calls by index, by id, by both or by nothing, repeat names, reuse ids within a
//! reply and over turns. What comes out has one unique id per call, whatever came in. The work is
//! linear in the size of the reply.

mod call;
mod slots;

use std::sync::Arc;

use outfitter_core::{
    CallId, Clock, DeltaKind, ModelDelta, Part, ResponseFacts, StopReason, TokenUsage, ToolCall,
    WarningCode,
};
use serde_json::Value;

use call::CallInPieces;
use slots::{Place, Slots};

/// A piece of the reply that a reader sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What it adds to.
    pub kind: DeltaKind,
    /// The piece; never empty.
    pub text: String,
    /// The call whose arguments it adds to, by the id that the call keeps.
    pub call: Option<CallId>,
}

/// Something about the reply that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyWarning {
    /// What it is about.
    pub code: WarningCode,
    /// One sentence.
    pub message: String,
}

/// A reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// Its parts, in the order of the wire.
    pub parts: Vec<Part>,
    /// Why it stopped; none when it was cut off.
    pub stop: Option<StopReason>,
    /// Its tokens, where the provider said.
    pub usage: Option<TokenUsage>,
    /// What was repaired or left out.
    pub warnings: Vec<ReplyWarning>,
    /// What came before its body.
    pub facts: ResponseFacts,
}

impl Assembled {
    /// The calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text { .. }
            | Part::Reasoning { .. }
            | Part::Refusal { .. }
            | Part::Image { .. }
            | Part::File { .. }
            | Part::Provider { .. } => None,
        })
    }
}

/// A part that is being written.
enum Building {
    Text(String),
    Reasoning {
        text: String,
        signature: Option<String>,
    },
    Refusal(String),
    /// The place of a call among the calls.
    Call(usize),
    Provider(Value),
}

/// Which ids the session has used already.
type Used = Box<dyn Fn(&str) -> bool + Send>;

/// Puts one reply together.
///
/// ```
/// use std::sync::Arc;
/// use outfitter_core::{ModelDelta, Part, StopReason, SystemClock};
/// use outfitter_model::TurnAssembler;
///
/// let mut reply = TurnAssembler::new("openai", |_id| false, Arc::new(SystemClock));
/// let shown = reply.push(ModelDelta::Text("hel".into())).unwrap();
/// assert_eq!(shown.text, "hel");
/// reply.push(ModelDelta::Text("lo".into()));
/// reply.push(ModelDelta::Stopped(StopReason::End));
/// assert_eq!(reply.finish().parts, [Part::Text { text: "hello".into() }]);
/// ```
pub struct TurnAssembler {
    provider: String,
    used: Used,
    clock: Arc<dyn Clock>,
    parts: Vec<Building>,
    calls: Vec<CallInPieces>,
    slots: Slots,
    stop: Option<StopReason>,
    usage: Option<TokenUsage>,
    facts: ResponseFacts,
    warnings: Vec<ReplyWarning>,
}

impl TurnAssembler {
    /// `provider` is what [`outfitter_core::ModelInfo::provider`] says, and marks what only it
    /// understands. `used` tells whether an earlier turn of the session has a call of that id.
    #[must_use]
    pub fn new(
        provider: impl Into<String>,
        used: impl Fn(&str) -> bool + Send + 'static,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            provider: provider.into(),
            used: Box::new(used),
            clock,
            parts: Vec::new(),
            calls: Vec::new(),
            slots: Slots::default(),
            stop: None,
            usage: None,
            facts: ResponseFacts::default(),
            warnings: Vec::new(),
        }
    }

    /// Takes the next delta and gives what a reader sees of it. The arguments of a call are held
    /// until its name is there.
    pub fn push(&mut self, delta: ModelDelta) -> Option<Shown> {
        match delta {
            ModelDelta::Started(facts) => {
                self.facts = facts;
                None
            }
            ModelDelta::Text(text) => self.text(text),
            ModelDelta::Reasoning(text) => self.reasoning(text),
            ModelDelta::ReasoningSignature(signature) => {
                self.sign(signature);
                None
            }
            ModelDelta::Refusal(text) => self.refusal(text),
            ModelDelta::ToolCall(piece) => match self.slots.place(&piece, &self.calls) {
                Place::Call(at) => {
                    if at == self.calls.len() {
                        self.calls.push(CallInPieces::default());
                        self.parts.push(Building::Call(at));
                    }
                    let call = self.calls.get_mut(at)?;
                    call.take(piece);
                    let text = call.unshown()?;
                    let id = self.settle(at);
                    Some(Shown {
                        kind: DeltaKind::ToolArguments,
                        text,
                        call: Some(id),
                    })
                }
                Place::Over => None,
            },
            ModelDelta::Provider(data) => {
                self.parts.push(Building::Provider(data));
                None
            }
            ModelDelta::Usage(usage) => {
                if usage.input_tokens > 0 || usage.output_tokens > 0 {
                    self.usage = Some(usage);
                }
                None
            }
            ModelDelta::Stopped(stop) => {
                self.stop = Some(stop);
                None
            }
        }
    }

    /// The whole reply. Without a stop it was cut off, and [`TurnAssembler::finish_partial`] is
    /// what it is.
    #[must_use]
    pub fn finish(mut self) -> Assembled {
        if self.stop.is_none() {
            return self.finish_partial();
        }
        let calls = self.take_calls(|call| !call.is_nothing());
        let called = calls.iter().any(Option::is_some);
        let stop = match self.stop.take() {
            Some(StopReason::End) if called => Some(StopReason::ToolCalls),
            Some(StopReason::ToolCalls) if !called => Some(StopReason::End),
            stop => stop,
        };
        match stop {
            Some(StopReason::Length) => {
                self.warn(
                    WarningCode::Truncated,
                    "the reply stopped at a length limit".into(),
                );
            }
            Some(StopReason::Refused) => {
                self.warn(
                    WarningCode::Refused,
                    "the provider refused to answer".into(),
                );
            }
            Some(StopReason::End | StopReason::ToolCalls | StopReason::Other(_)) | None => {}
        }
        self.assemble(calls, stop)
    }

    /// What there is of a reply whose stream failed or was cancelled: the text so far, and of the
    /// calls those whose arguments are a whole object. The others could only be run by guessing.
    #[must_use]
    pub fn finish_partial(mut self) -> Assembled {
        let began = !self.parts.is_empty();
        let calls = self.take_calls(|call| !call.is_nothing() && call.is_whole());
        if began {
            self.warn(
                WarningCode::Truncated,
                "the reply was cut off before its end".into(),
            );
        }
        self.assemble(calls, None)
    }

    fn text(&mut self, text: String) -> Option<Shown> {
        let shown = shown(DeltaKind::Text, &text)?;
        match self.parts.last_mut() {
            Some(Building::Text(have)) => have.push_str(&text),
            _ => self.parts.push(Building::Text(text)),
        }
        Some(shown)
    }

    fn reasoning(&mut self, text: String) -> Option<Shown> {
        let shown = shown(DeltaKind::Reasoning, &text)?;
        match self.parts.last_mut() {
            Some(Building::Reasoning {
                text: have,
                signature: None,
            }) => have.push_str(&text),
            _ => self.parts.push(Building::Reasoning {
                text,
                signature: None,
            }),
        }
        Some(shown)
    }

    /// A signature ends the reasoning it is over. One with no reasoning before it is over
    /// reasoning that the provider keeps to itself.
    fn sign(&mut self, new: String) {
        match self.parts.last_mut() {
            Some(Building::Reasoning {
                signature: signature @ None,
                ..
            }) => *signature = Some(new),
            _ => self.parts.push(Building::Reasoning {
                text: String::new(),
                signature: Some(new),
            }),
        }
    }

    fn refusal(&mut self, text: String) -> Option<Shown> {
        let shown = shown(DeltaKind::Text, &text)?;
        match self.parts.last_mut() {
            Some(Building::Refusal(have)) => have.push_str(&text),
            _ => self.parts.push(Building::Refusal(text)),
        }
        Some(shown)
    }

    /// The id that a call keeps from now on: the provider's if it is one and nobody has it.
    fn settle(&mut self, at: usize) -> CallId {
        if let Some(id) = self.calls.get(at).and_then(|call| call.settled.clone()) {
            return id;
        }
        let given = self.calls.get_mut(at).and_then(|call| call.id.take());
        let (given, why) = match given.and_then(|id| CallId::new(id).ok()) {
            None => (None, "without an id"),
            Some(id) if self.taken(&id) => (None, "with an id that another call has"),
            Some(id) => (Some(id), ""),
        };
        let id = given.unwrap_or_else(|| {
            let id = CallId::mint(&*self.clock);
            let name = self.calls.get(at).map_or("", |call| &call.name);
            let message = format!("the provider sent a call of {name:?} {why}; it is {id} here");
            self.warn(WarningCode::RepairedCallId, message);
            id
        });
        if let Some(call) = self.calls.get_mut(at) {
            call.settled = Some(id.clone());
        }
        id
    }

    fn taken(&self, id: &CallId) -> bool {
        let here = |call: &CallInPieces| call.settled.as_ref() == Some(id);
        (self.used)(id.as_str()) || self.calls.iter().any(here)
    }

    fn take_calls(&mut self, keep: impl Fn(&CallInPieces) -> bool) -> Vec<Option<ToolCall>> {
        let kept: Vec<bool> = self.calls.iter().map(keep).collect();
        kept.into_iter()
            .enumerate()
            .map(|(at, kept)| {
                let id = kept.then(|| self.settle(at))?;
                let call = self.calls.get_mut(at)?;
                Some(ToolCall {
                    id,
                    name: std::mem::take(&mut call.name),
                    arguments: std::mem::take(&mut call.arguments).into(),
                })
            })
            .collect()
    }

    fn assemble(mut self, mut calls: Vec<Option<ToolCall>>, stop: Option<StopReason>) -> Assembled {
        if self.slots.dropped() {
            let most = crate::limits::MAX_CALLS;
            self.warn(
                WarningCode::Truncated,
                format!("the reply has more than {most} calls; the rest was left out"),
            );
        }
        if self.facts.retries > 0 {
            let attempt = self.facts.retries.saturating_add(1);
            self.warn(
                WarningCode::Retried,
                format!("the model answered at attempt {attempt}"),
            );
        }
        let provider = self.provider;
        let parts = self.parts.into_iter().filter_map(|part| match part {
            Building::Text(text) => Some(Part::Text { text }),
            Building::Reasoning { text, signature } => Some(Part::Reasoning { text, signature }),
            Building::Refusal(text) => Some(Part::Refusal { text }),
            Building::Call(at) => calls.get_mut(at)?.take().map(Part::ToolCall),
            Building::Provider(data) => Some(Part::Provider {
                provider: provider.clone(),
                data,
            }),
        });
        Assembled {
            parts: parts.collect(),
            stop,
            usage: self.usage,
            warnings: self.warnings,
            facts: self.facts,
        }
    }

    fn warn(&mut self, code: WarningCode, message: String) {
        self.warnings.push(ReplyWarning { code, message });
    }
}

fn shown(kind: DeltaKind, text: &str) -> Option<Shown> {
    (!text.is_empty()).then(|| Shown {
        kind,
        text: text.to_owned(),
        call: None,
    })
}

#[cfg(test)]
mod tests;
