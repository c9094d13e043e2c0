//! For tests of tools: a context with real files and real artifacts beneath one directory.

use std::path::Path;
use std::sync::Arc;

use outfitter_core::{Principal, Role, SystemClock, ToolContext};
use outfitter_store::MemoryArtifacts;

use crate::outfit::BuildError;

/// A context whose files live beneath `root` and whose principal is a user. Commands do not run in
/// it: that takes a supervised program, which a test binary is not.
///
/// # Errors
/// [`BuildError`] when `root` is no directory that can be used.
pub fn context(root: &Path) -> Result<ToolContext, BuildError> {
    let mut cx = ToolContext::detached();
    cx.who = Arc::new(Principal {
        role: Role::User,
        ..(*cx.who).clone()
    });
    cx.sandbox = crate::outfit::files_only(root)?;
    cx.artifacts = Arc::new(MemoryArtifacts::new(Arc::new(SystemClock)));
    Ok(cx)
}
