//! What goes with a session that is deleted.

use std::time::Duration;

use async_trait::async_trait;
use outfitter_agent::{Belongings, LeftBehind, Mark};
use outfitter_core::{SandboxError, Scope, SessionId};

use super::{Served, lock};

/// How long a command of a session that is deleted may take to end by itself.
const JOB_GRACE: Duration = Duration::from_secs(2);

/// As the whole's, but commands of its sessions run here.
#[async_trait]
impl Belongings for Served {
    async fn mark(&self, scope: &Scope, session: &SessionId) -> Result<(), String> {
        self.whole.mark(scope, session).await
    }

    async fn marked(&self, scope: &Scope, session: &SessionId) -> Option<Mark> {
        self.whole.marked(scope, session).await
    }

    async fn end_jobs(&self, scope: &Scope, session: &SessionId) -> Vec<String> {
        let mut left = Vec::new();
        let sandbox = lock(&self.sessions).sandbox(&(scope.clone(), session.clone()));
        let Some(sandbox) = sandbox else { return left };
        for job in sandbox.jobs().into_iter().filter(|job| job.running) {
            match sandbox.kill(&job.id, JOB_GRACE).await {
                Ok(killed) if killed.survivors.is_empty() => {}
                Ok(killed) => {
                    let pids = killed.survivors;
                    left.push(format!("processes of it could not be ended: {pids:?}"));
                }
                // It has ended by itself.
                Err(SandboxError::NotFound(_)) => {}
                Err(error) => left.push(format!(
                    "its command {} could not be ended: {}",
                    job.id,
                    outfitter_core::chain(&error)
                )),
            }
        }
        left
    }

    async fn empty(&self, scope: &Scope, session: &SessionId) -> LeftBehind {
        lock(&self.sessions).forget(&(scope.clone(), session.clone()));
        self.whole.empty(scope, session).await
    }

    async fn unmark(&self, scope: &Scope, session: &SessionId) -> Vec<String> {
        self.whole.unmark(scope, session).await
    }
}
