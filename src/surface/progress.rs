//! Progress of a call, by the names that tools know it by elsewhere.

use outfitter_core::{Stream, ToolContext};

/// Shows a piece of what a tool does while it runs. Merged by time and size; never stored, never
/// read by a model. Where nobody watches it does nothing, so it is safe everywhere.
///
/// ```
/// use outfitter::{Stream, ToolContext, emit_tool_progress, emit_tool_progress_closed};
///
/// let cx = ToolContext::detached();
/// emit_tool_progress(&cx, "half way\n", Stream::Stdout);
/// emit_tool_progress_closed(&cx);
/// ```
pub fn emit_tool_progress(cx: &ToolContext, text: &str, stream: Stream) {
    cx.progress.emit(stream, text.as_bytes());
}

/// Ends the progress of a call before the call itself ends: what is gathered is shown, then the
/// closing event. It ends by itself with the call in any case.
pub fn emit_tool_progress_closed(cx: &ToolContext) {
    cx.progress.close();
}
