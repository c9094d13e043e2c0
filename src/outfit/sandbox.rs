//! The sandbox that the configuration asks for.

use std::path::Path;
use std::sync::Arc;

use outfitter_core::{Sandbox, SandboxInfo, SessionId};
use outfitter_sandbox::Protected;

use super::files_only::FilesOnly;
use super::{BuildError, Outfitter};
use crate::env;

impl Outfitter {
    /// The sandbox of a session.
    pub(super) async fn sandbox(
        &self,
        _session: &SessionId,
        workspace: &Path,
    ) -> Result<Arc<dyn Sandbox>, BuildError> {
        FilesOnly::open(workspace, self.protected()).map_err(|source| BuildError::Workspace {
            path: workspace.display().to_string(),
            source,
        })
    }

    /// What a sandbox would be here.
    ///
    /// # Errors
    /// [`BuildError`] when there is none.
    pub async fn sandbox_info(&self) -> Result<SandboxInfo, BuildError> {
        let session = SessionId::mint(&*self.clock);
        let sandbox = self
            .sandbox(&session, self.environment.current_dir())
            .await?;
        Ok(sandbox.info().clone())
    }

    fn protected(&self) -> Protected {
        let list = match self.environment.directory(env::HOME) {
            Some(home) => Protected::of_home(home),
            None => Protected::of_system(),
        };
        list.and_path(&self.data_dir)
    }
}

/// Files beneath a directory, for tests of tools.
pub(crate) fn files_only(root: &Path) -> Result<Arc<dyn Sandbox>, BuildError> {
    FilesOnly::open(root, Protected::of_system()).map_err(|source| BuildError::Workspace {
        path: root.display().to_string(),
        source,
    })
}
