//! Opening a session.

use std::path::PathBuf;
use std::sync::Arc;

use outfitter_agent::{Session, SystemPrompt};
use outfitter_core::{Attended, Grant, Principal, Role, Scope, Selection, SessionFacts, SessionId};
use outfitter_tools::{ToolProxy, ToolView};

use super::{BuildError, Needed, Outfitter, prompt};

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
    /// The first words of the person, where they are known: skills are found by them.
    pub prompt: Option<String>,
}

impl Outfitter {
    /// Opens a session for the person at this machine.
    ///
    /// # Errors
    /// [`BuildError`] when the workspace cannot be used or the sandbox not be set up.
    pub async fn open(&self, options: SessionOptions) -> Result<Session, BuildError> {
        self.open_for(options, Needed::Everything).await
    }

    /// Opens a session for something that needs no more than this.
    ///
    /// # Errors
    /// As [`Outfitter::open`].
    pub async fn open_for(
        &self,
        options: SessionOptions,
        needed: Needed<'_>,
    ) -> Result<Session, BuildError> {
        self.settle(needed).await?;
        let who = Arc::new(local_principal(options.role));
        let proxy = self.proxy(options.role);
        let mut told = self.told_of_skills(&proxy.grant().skills, options.prompt.as_deref());
        told.not_ready = self.not_ready();
        Ok(Session {
            proxy,
            sandbox: self
                .sandbox(&Scope::from(&*who), &options.id, &options.workspace)
                .await?,
            id: options.id,
            who,
            attended: options.attended,
            told,
        })
    }
}

impl Outfitter {
    /// What a session of this role may use.
    fn proxy(&self, role: Role) -> ToolProxy {
        self.registry()
            .seal(Grant::full(role), Selection::default())
    }

    /// What a model would be told in a new session of the person at this machine, before their
    /// first words: the system prompt, and what is loaded from the start.
    #[must_use]
    pub fn told_first(&self) -> (SystemPrompt, Option<Arc<str>>) {
        let config = self.config();
        let proxy = self.proxy(config.permissions.local_role);
        let told = self.told_of_skills(&proxy.grant().skills, None);
        let common = prompt::common(&config);
        let prompt = SystemPrompt::of(&common, &told, config.agent.mode);
        (prompt, told.opening)
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
            suggested: None,
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
