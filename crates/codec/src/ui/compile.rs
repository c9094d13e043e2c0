//! Hints and a result become a schema.

use outfitter_core::{ToolOutput, UiHints};
use serde::Deserialize as _;
use serde_json::Value;

use super::budget::Budget;
use super::generic;
use super::hints::Hints;
use super::schema::{DiagnosticCode, Node, UiSchema, Version};

/// Groups inside groups.
const DEPTH: usize = 6;

/// How deep hints may be nested as JSON, so that reading them is bounded too.
const JSON_DEPTH: usize = 32;

/// The schema of a call's output; none where the tool gave no hints, or there is no result that
/// they could be about.
#[must_use]
pub fn compile(output: &ToolOutput) -> Option<UiSchema> {
    let hints = output.ui_hints.as_ref()?;
    let result = output.result.as_ref()?;
    Some(compile_hints(hints, result))
}

/// The schema of hints and the result that they are about. Total: hints that cannot be used give a
/// generic view of the result, with a diagnostic.
#[must_use]
pub fn compile_hints(hints: &UiHints, result: &Value) -> UiSchema {
    let mut compiler = Compiler {
        result,
        budget: Budget::new(),
    };
    let root = compiler.root(&hints.0);
    let mut budget = compiler.budget;
    if budget.starved() {
        let message = "the result is more than one view may show";
        budget.fault(DiagnosticCode::Truncated, "", message);
    }
    UiSchema {
        v: Version,
        root,
        diagnostics: budget.diagnostics,
    }
}

/// What is compiled, and what is left to be shown.
pub(super) struct Compiler<'a> {
    pub(super) result: &'a Value,
    pub(super) budget: Budget,
}

impl Compiler<'_> {
    fn root(&mut self, hints: &Value) -> Node {
        let node = if deeper_than(hints, JSON_DEPTH) {
            self.fault(DiagnosticCode::TooMany, "", "the hints are nested too deep");
            None
        } else {
            self.node(hints, "", DEPTH)
        };
        node.unwrap_or_else(|| {
            self.budget.node();
            generic::view(self.result, &mut self.budget)
        })
    }

    pub(super) fn fault(&mut self, code: DiagnosticCode, path: &str, message: &str) {
        self.budget.fault(code, path, message);
    }

    /// One template; none where it cannot be used, which a diagnostic says.
    pub(super) fn node(&mut self, hints: &Value, path: &str, depth: usize) -> Option<Node> {
        if depth == 0 || !self.budget.node() {
            let message = "there are too many templates, or they are nested too deep";
            self.fault(DiagnosticCode::TooMany, path, message);
            return None;
        }
        match Hints::deserialize(hints) {
            Ok(hints) => self.template(hints, path, depth),
            Err(error) => {
                self.fault(DiagnosticCode::Invalid, path, &error.to_string());
                None
            }
        }
    }
}

/// Whether a value is nested deeper than `most`. It looks no deeper than that.
fn deeper_than(value: &Value, most: usize) -> bool {
    let inside = |value: &Value| most == 0 || deeper_than(value, most - 1);
    match value {
        Value::Array(items) => items.iter().any(inside),
        Value::Object(map) => map.values().any(inside),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
