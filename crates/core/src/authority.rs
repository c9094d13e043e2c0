//! What the session of a call may use, for tools whose work depends on it.

use crate::NameSet;

/// What the session of a call may use. A service of every call, made from the session's view.
pub trait SessionAuthority: Send + Sync {
    /// The skills that are granted.
    fn skills(&self) -> &NameSet;
    /// Whether a tool of this name would answer this session, shown to the model or not.
    fn may_call(&self, tool: &str) -> bool;
}
