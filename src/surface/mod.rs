//! The names that the source systems use, as thin equals.

mod children;
mod conversations;
mod progress;
mod sources;
#[cfg(test)]
mod tests;

pub use children::run_if_supervisor;
pub use conversations::{ConversationError, Conversations};
pub use progress::{emit_tool_progress, emit_tool_progress_closed};
