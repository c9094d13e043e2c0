//! A call that does not get to run.

use std::sync::Arc;

use outfitter_core::{Ask, CallId, ErrorInfo, Outcome, RawCall, ToolName, ToolSpec};
use serde_json::Value;

use super::{Ending, Ran};
use crate::Redactor;
use crate::presets::OfTool;
use crate::redact::Printed;

/// What a call is, at every stage.
pub(crate) struct Head {
    pub(crate) id: CallId,
    /// The name as it was called by.
    pub(crate) name: String,
    /// The tool's own name, where that is another.
    pub(crate) resolved: Option<ToolName>,
    /// The text of the arguments.
    pub(crate) raw: Arc<str>,
    /// The arguments as they were written, where presets were put to them.
    pub(crate) written: Option<Value>,
    /// The presets that were put to them.
    pub(crate) presets: Option<Arc<OfTool>>,
}

impl Head {
    /// Remembers the tool's own name, where it was called by another.
    pub(crate) fn resolve(&mut self, spec: Option<&ToolSpec>) {
        let name = spec.map(|spec| &spec.name);
        self.resolved = name.filter(|name| name.as_str() != self.name).cloned();
    }

    /// What is recorded of the arguments: what was written.
    pub(crate) fn recorded<'a>(&'a self, args: &'a Value) -> &'a Value {
        self.written.as_ref().unwrap_or(args)
    }
}

/// A stage's "no", or its "not yet".
pub(crate) struct Refusal {
    head: Head,
    /// The arguments, or their text where they are malformed.
    args: Value,
    ending: Ending,
}

/// What a stage gives. Refusals are rare and large, hence the box.
pub(crate) type Stage<T> = Result<T, Box<Refusal>>;

impl Refusal {
    pub(crate) fn new(head: Head, args: Value, error: ErrorInfo) -> Box<Self> {
        let ending = Ending::Over(Box::new(Outcome::default().failing(error)));
        Box::new(Self { head, args, ending })
    }

    /// Not until a person has said yes.
    pub(crate) fn until(head: Head, args: Value, ask: Box<Ask>) -> Box<Self> {
        Box::new(Self {
            head,
            args,
            ending: Ending::Wait(ask),
        })
    }

    pub(crate) fn of_call(call: RawCall, error: ErrorInfo) -> Box<Self> {
        let args = call.arguments.shown();
        let head = Head {
            id: call.id,
            name: call.name,
            resolved: None,
            raw: call.arguments.raw,
            written: None,
            presets: None,
        };
        Self::new(head, args, error)
    }

    /// Joins the path again after the stage that would have run the call.
    pub(crate) fn into_ran(self, redactor: &Redactor) -> Ran {
        let args = match self.head.recorded(&self.args) {
            Value::String(malformed) => redactor.malformed(malformed),
            args => redactor.shown(args),
        };
        Ran {
            args,
            redactor: redactor.of_call(&self.args, Printed::No),
            head: self.head,
            ending: self.ending,
        }
    }
}
