//! The commands of a session, for who looks at it.

use outfitter_codec::JobLine;
use outfitter_core::{Scope, SessionId};
use outfitter_sandbox::{Recorded, RecordedState, recorded_jobs};

use super::Outfitter;

impl Outfitter {
    /// The commands of a session that are known, the last started first.
    pub(crate) async fn session_jobs(&self, scope: &Scope, session: &SessionId) -> Vec<JobLine> {
        let dir = self.session_dir(scope, session);
        let found = tokio::task::spawn_blocking(move || recorded_jobs(&dir)).await;
        found.unwrap_or_default().into_iter().map(line).collect()
    }
}

fn line(job: Recorded) -> JobLine {
    let (status, ended) = match job.state {
        RecordedState::Running => ("running", None),
        RecordedState::Ended(how) => ("ended", Some(how)),
        RecordedState::Interrupted => ("lost", None),
    };
    JobLine {
        task_id: job.id.to_string(),
        command: job.command,
        started: job.started.0,
        status,
        ended,
    }
}
