//! What came of a call, as MCP says it.

use outfitter_core::{
    CallEnd, CallHostError, Code, ErrorInfo, InterruptKind, Message, Part, PartSource, Projection,
};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use super::queues::{LONGEST_WAIT, MOST_AT_ONCE, NoTurn};

/// The text is what a model of ours would read; the structure is the result, where that is an
/// object; every failure, also a refusal, is a result with `isError` and a code of the one table.
pub(crate) fn result(
    end: Result<CallEnd, CallHostError>,
    message: Option<&Message>,
) -> CallToolResult {
    let output = match end {
        Ok(CallEnd::Output(output)) => output,
        Ok(CallEnd::Waiting(interrupt)) => {
            return refused(&waiting(&interrupt.kind, interrupt.id.as_str()));
        }
        Err(error) => return refused(&not_taken(&error)),
    };
    let mut content = Vec::new();
    match message {
        Some(message) => content.extend(message.parts.iter().filter_map(block)),
        None => content.push(ContentBlock::text(output.projection().0)),
    }
    let mut result = match output.error {
        None => CallToolResult::success(content),
        Some(_) => CallToolResult::error(content),
    };
    result.structured_content = output.result.clone().filter(Value::is_object);
    result
}

fn block(part: &Part) -> Option<ContentBlock> {
    match part {
        Part::Text { text } => Some(ContentBlock::text(text.as_str())),
        Part::Image {
            mime,
            source: PartSource::Base64 { data },
        } => Some(ContentBlock::image(data.as_str(), mime.as_str())),
        // Where they are, the client cannot reach; the text says what they are.
        Part::Image {
            source: PartSource::Artifact { .. } | PartSource::Url { .. },
            ..
        }
        | Part::Reasoning { .. }
        | Part::Refusal { .. }
        | Part::ToolCall(_)
        | Part::File { .. }
        | Part::Provider { .. } => None,
    }
}

/// What is said of a call that did not get its turn.
pub(super) fn no_turn(why: NoTurn) -> CallToolResult {
    let what = match why {
        NoTurn::Full => format!(
            "{MOST_AT_ONCE} calls of this client are under way or wait for their turn; this one was \
             not made"
        ),
        NoTurn::Crowded => "as many calls as may be are under way; it was not made".to_owned(),
        NoTurn::TooLong => format!(
            "the calls before this one took longer than {} s; it was not made",
            LONGEST_WAIT.as_secs()
        ),
    };
    refused(&ErrorInfo::new(Code::Busy, what).with_hint(
        "try again when they are done; calls of one session, and those that name none, are made one \
         after the other",
    ))
}

/// What is said of a call whose server ends before it. A host that is asked for one then says the
/// same.
pub(super) fn stopping() -> CallToolResult {
    refused(&not_taken(&CallHostError::Unavailable(
        "the server is stopping".to_owned(),
    )))
}

fn refused(error: &ErrorInfo) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(
        Projection::of(None, Some(error)).0,
    )])
}

/// There is no way to answer here, so the client is told where there is one.
fn waiting(kind: &InterruptKind, id: &str) -> ErrorInfo {
    let (code, what) = match kind {
        InterruptKind::Approval { .. } => (Code::NeedsApproval, "a person must approve this call"),
        InterruptKind::Question { .. } => (Code::NeedsApproval, "the tool asks a person something"),
        InterruptKind::Delay | InterruptKind::Remote { .. } => (Code::Busy, "the call waits"),
    };
    ErrorInfo::new(code, what).with_hint(format!("it goes on when {id} is answered"))
}

fn not_taken(error: &CallHostError) -> ErrorInfo {
    let code = match error {
        CallHostError::NotFound(_) => Code::NotFound,
        CallHostError::Busy(_) => Code::Busy,
        CallHostError::Journal(_) => Code::Internal,
        CallHostError::Unavailable(_) => Code::Unavailable,
    };
    let info = ErrorInfo::new(code, format!("failed to {error}"));
    match error {
        CallHostError::Busy(_) | CallHostError::Unavailable(_) => info.with_hint("try again later"),
        CallHostError::NotFound(_) | CallHostError::Journal(_) => info,
    }
}
