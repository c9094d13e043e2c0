//! Where the files of sessions that are served lie.

use std::path::PathBuf;

use outfitter_core::{Scope, SessionId};
use outfitter_store::path_segment;

use crate::outfit::Outfitter;

impl Outfitter {
    /// Where the workspaces of sessions that are served lie.
    pub(in crate::outfit) fn workspaces(&self) -> PathBuf {
        self.data_dir.join("files")
    }

    /// The workspace of a session that is served.
    pub(in crate::outfit) fn served_workspace(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> PathBuf {
        self.workspaces()
            .join(path_segment(scope.tenant.as_str()))
            .join(path_segment(scope.subject.as_str()))
            .join(session.as_str())
    }

    /// The workspace of a session of the person at this machine, if it was made by serving it.
    pub(crate) fn workspace_where_served(&self, session: &SessionId) -> Option<PathBuf> {
        let workspace = self.served_workspace(&self.local_scope(), session);
        workspace.is_dir().then_some(workspace)
    }
}
