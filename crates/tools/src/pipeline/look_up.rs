//! Look up: what is there under the name, for this caller.

use outfitter_core::{Code, ErrorInfo};
use serde_json::Value;

use super::{Head, Parsed, Refusal, Stage};
use crate::ToolView;
use crate::registered::Registered;
use crate::view::LookUp;

/// A call of a tool that this session may use.
pub(crate) struct Resolved<'v> {
    pub(crate) head: Head,
    pub(crate) args: Value,
    pub(crate) tool: &'v Registered,
    /// Whether its schema is before the model.
    pub(crate) presented: bool,
}

pub(crate) fn look_up<'v>(parsed: Parsed, view: &'v ToolView) -> Stage<Resolved<'v>> {
    let Parsed { mut head, args } = parsed;
    let (tool, presented) = match view.look_up(&head.name) {
        LookUp::Callable(tool) => (tool, true),
        LookUp::NotPresented(tool) => (tool, false),
        LookUp::NotPermitted => {
            let error = not_permitted(&head.name);
            return Err(Refusal::new(head, args, error));
        }
        LookUp::Unknown => {
            let error = unknown(&head.name, view);
            return Err(Refusal::new(head, args, error));
        }
    };
    head.resolve(Some(&tool.spec));
    Ok(Resolved {
        head,
        args,
        tool,
        presented,
    })
}

/// Says nothing of the tool: not even its description is for this caller.
pub(super) fn not_permitted(name: &str) -> ErrorInfo {
    ErrorInfo::new(
        Code::NotPermitted,
        format!("{name} may not be called in this session"),
    )
}

pub(super) fn unknown(name: &str, view: &ToolView) -> ErrorInfo {
    if let Some((source, why)) = view.source_that_is_not_there(name) {
        let why = format!("{name} cannot be called: {source} has no such tool now: {why}");
        return ErrorInfo::new(Code::Unavailable, why)
            .with_hint("its tools join when it answers; `outfitter doctor` says how it stands");
    }
    let error = ErrorInfo::new(
        Code::UnknownTool,
        format!("there is no tool named {name:?}"),
    );
    let close = view.close_names(name);
    if close.is_empty() {
        error.with_hint("call one of the tools of this request by its exact name")
    } else {
        error.with_hint(format!("did you mean {}?", close.join(" or ")))
    }
}
