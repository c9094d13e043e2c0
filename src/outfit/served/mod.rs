//! What a server needs of the whole: sessions by their id, and sessions held for this process.
//!
//! - `sessions`: what is kept of a session between its runs
//! - `workspaces`: where their files lie
//! - `directory`: what there is, as callers are told of it
//! - `belongings`: what goes with a session that is deleted
//! - `principals`: who calls

mod belongings;
mod directory;
mod principals;
mod sessions;
mod workspaces;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use outfitter_agent::{Session, SessionSource, Told};
use outfitter_core::{
    Attended, CallHostError, Generation, Grant, NameSet, Principal, Role, Sandbox, Scope,
    Selection, SessionId,
};
use outfitter_server::{SessionHold, SessionHolds};
use outfitter_store::create_private_dir;
use outfitter_tools::ToolProxy;

use super::holds::{Held, HeldForRun, Holds};
use super::lock::Purpose;
use super::{BuildError, Needed, NotHeld, Outfitter, SessionLock};
use crate::config::Config;
pub use principals::ServedPrincipals;
use sessions::{Opened, Sessions};

/// The whole, as a server sees it.
pub struct Served {
    whole: Arc<Outfitter>,
    sessions: Arc<Mutex<Sessions>>,
    holds: Holds,
    /// What every session is told, and what that was made from.
    told: Mutex<Option<(Generation, Arc<Config>, Told)>>,
}

impl Served {
    /// This whole.
    #[must_use]
    pub fn new(whole: Arc<Outfitter>) -> Self {
        let sessions: Arc<Mutex<Sessions>> = Arc::default();
        let known = sessions.clone();
        Self {
            whole,
            sessions,
            holds: Holds::new(Box::new(move |place| lock(&known).sandbox(place))),
            told: Mutex::default(),
        }
    }

    /// What a session may use, and where its commands run.
    async fn kept(
        &self,
        scope: &Scope,
        id: &SessionId,
        role: Role,
    ) -> Result<(ToolProxy, Arc<dyn Sandbox>), BuildError> {
        let key = (scope.clone(), id.clone());
        let workspace = self.whole.served_workspace(scope, id);
        lock(&self.sessions).forget_what_is_gone(&key, &workspace);
        // Two that come at once get the same sandbox: a second would end the jobs of the first.
        let (proxy, place) = lock(&self.sessions).take(key, role, || self.sealed(role));
        let opened = place
            .get_or_try_init(|| async {
                SessionLock::closed(&self.whole.locks(scope), id).map_err(BuildError::NotHeld)?;
                create_private_dir(&workspace).map_err(|source| BuildError::Data {
                    path: workspace.display().to_string(),
                    source,
                })?;
                let sandbox = self.whole.sandbox(scope, id, &workspace).await?;
                Ok::<_, BuildError>(Opened::in_workspace(sandbox, &workspace))
            })
            .await?;
        Ok((proxy, opened.sandbox().clone()))
    }

    fn sealed(&self, role: Role) -> ToolProxy {
        self.whole
            .registry()
            .seal(Grant::full(role), Selection::default())
    }

    /// What every session is told of the skills, made anew when they or the configuration change.
    fn told(&self) -> Told {
        let not_ready = self.whole.not_ready();
        Told {
            not_ready,
            ..self.told_always()
        }
    }

    fn told_always(&self) -> Told {
        let config = self.whole.config();
        let generation = self.whole.skills().snapshot().generation();
        if let Some((then, from, told)) = &*lock(&self.told)
            && *then == generation
            && Arc::ptr_eq(from, &config)
        {
            return told.clone();
        }
        let told = self.whole.told_of_skills(&NameSet::all(), None);
        *lock(&self.told) = Some((generation, config, told.clone()));
        told
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a caller reads of it. Where our data lies is for the operator's log.
fn unavailable(error: &BuildError) -> CallHostError {
    if let BuildError::Data { source, .. } = error {
        tracing::error!(
            error = error as &dyn std::error::Error,
            "a session could not be opened"
        );
        return CallHostError::Unavailable(format!("use the data directory: {source}"));
    }
    CallHostError::Unavailable(error.to_info().message)
}

#[async_trait]
impl SessionSource for Served {
    async fn open(&self, who: Arc<Principal>, id: &SessionId) -> Result<Session, CallHostError> {
        let (proxy, sandbox) = self
            .kept(&Scope::from(&*who), id, who.role)
            .await
            .map_err(|error| unavailable(&error))?;
        Ok(Session {
            id: id.clone(),
            who,
            proxy,
            sandbox,
            attended: Attended::Yes,
            told: self.told(),
        })
    }

    async fn ready(&self) -> Result<(), CallHostError> {
        self.whole
            .settle(Needed::Everything)
            .await
            .map_err(|error| unavailable(&error))
    }

    async fn ready_for(&self, tool: &str) -> Result<(), CallHostError> {
        self.whole
            .settle(Needed::Tool(tool))
            .await
            .map_err(|error| unavailable(&error))
    }
}

impl SessionHold for HeldForRun {}

impl SessionHolds for Served {
    fn hold(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Box<dyn SessionHold>, CallHostError> {
        let held = self.hold_for(Purpose::Work, scope, session)?;
        let workspace = self.whole.served_workspace(scope, session);
        let key = (scope.clone(), session.clone());
        // It was deleted by another process after it was opened here and before it was held.
        if held.held == Held::Anew && lock(&self.sessions).forget_what_is_gone(&key, &workspace) {
            return Err(CallHostError::Busy(session.clone()));
        }
        Ok(Box::new(held))
    }

    fn hold_to_delete(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Box<dyn SessionHold>, CallHostError> {
        let held = self.hold_for(Purpose::Deletion, scope, session)?;
        Ok(Box::new(held))
    }
}

impl Served {
    fn hold_for(
        &self,
        purpose: Purpose,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<HeldForRun, CallHostError> {
        let open = || self.whole.hold_in(purpose, scope, session);
        let place = (scope.clone(), session.clone());
        match self.holds.take(place, purpose, open) {
            Ok(Ok(held)) => Ok(held),
            Ok(Err(NotHeld::InUse(session))) => Err(CallHostError::Busy(session)),
            Ok(Err(closed @ (NotHeld::HalfDeleted(_) | NotHeld::Strange(_)))) => {
                Err(unavailable(&BuildError::NotHeld(closed)))
            }
            Err(error) => Err(CallHostError::Unavailable(error.to_info().message)),
        }
    }
}
