//! Opening a session.

use std::path::PathBuf;
use std::sync::Arc;

use outfitter_agent::{Session, Told};
use outfitter_core::{Attended, Grant, Principal, Role, Selection, SessionFacts, SessionId};
use outfitter_tools::{ToolProxy, ToolView};

use super::{BuildError, Outfitter};

/// Which session, for whom, where.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Its id.
    pub id: SessionId,
    /// The role of who acts.
    pub role: Role,
    /// The directory that tools work in.
    pub workspace: PathBuf,
    /// Whether somebody can answer.
    pub attended: Attended,
}

impl Outfitter {
    /// Opens a session for the person at this machine.
    ///
    /// # Errors
    /// [`BuildError`] when the workspace cannot be used or the sandbox not be set up.
    pub async fn open(&self, options: SessionOptions) -> Result<Session, BuildError> {
        let who = Arc::new(local_principal(options.role));
        Ok(Session {
            proxy: self.proxy(options.role),
            sandbox: self.sandbox(&options.id, &options.workspace).await?,
            id: options.id,
            who,
            attended: options.attended,
            told: Told::default(),
        })
    }
}

impl Outfitter {
    /// What a session of this role may use.
    fn proxy(&self, role: Role) -> ToolProxy {
        self.registry()
            .seal(Grant::full(role), Selection::default())
    }

    /// What the person at this machine may use now, without a session.
    #[must_use]
    pub fn view(&self, attended: Attended) -> Arc<ToolView> {
        let role = self.config().permissions.local_role;
        self.proxy(role).view(&SessionFacts {
            who: Arc::new(local_principal(role)),
            session: SessionId::mint(&**self.clock()),
            attended,
            expanded: Default::default(),
            skills: Default::default(),
        })
    }
}

/// The person at this machine.
fn local_principal(role: Role) -> Principal {
    Principal {
        tenant: LOCAL.into(),
        subject: LOCAL.into(),
        role,
        channel: "cli".into(),
        stream: None,
    }
}

/// The tenant and the subject of the person at this machine.
pub(super) const LOCAL: &str = "local";
