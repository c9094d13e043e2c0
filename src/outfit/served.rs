//! What a server needs of the whole: sessions by their id, what there is, and sessions held for
//! this process.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use outfitter_agent::{Belongings, LeftBehind, Session, SessionSource, Told};
use outfitter_core::{
    Attended, CallHostError, ErrorInfo, Generation, Grant, Listing, NameSet, Principal, Role,
    Sandbox, SandboxError, Scope, Selection, SessionFacts, SessionId,
};
use outfitter_server::{Caller, Directory, LocalPrincipals, Principals, SessionHold, SessionHolds};
use outfitter_store::{create_private_dir, path_segment};
use outfitter_tools::ToolProxy;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::holds::{HeldForRun, Holds};
use super::lock::Purpose;
use super::{BuildError, Needed, NotHeld, Outfitter, SessionLock};
use crate::config::Config;

/// Sandboxes that are kept for their next run. The one used longest ago goes first, unless a
/// command of it still runs. Each has three files open: many more would use up the 1,024 that
/// programs get by default.
const KEPT_SANDBOXES: usize = 64;

/// How long a command of a session that is deleted may take to end by itself.
const JOB_GRACE: Duration = Duration::from_secs(2);

/// How many more there may be for a while.
const SURPLUS: usize = 16;

/// The whole, as a server sees it.
pub struct Served {
    whole: Arc<Outfitter>,
    sessions: Arc<Mutex<Sessions>>,
    holds: Holds,
    /// What every session is told, and what that was made from.
    told: Mutex<Option<(Generation, Arc<Config>, Told)>>,
}

/// Where a sandbox is, or will be once it is open.
type Place = Arc<OnceCell<Opened>>;

/// A sandbox that is open.
struct Opened {
    sandbox: Arc<dyn Sandbox>,
    /// Its workspace, as it was found then.
    workspace: Option<Identity>,
}

/// What tells a folder from another of its name.
type Identity = (u64, u64);

fn identity(folder: &Path) -> Option<Identity> {
    let found = std::fs::symlink_metadata(folder).ok()?;
    Some((found.dev(), found.ino()))
}

/// What is kept of sessions for their next run.
#[derive(Default)]
struct Sessions {
    kept: HashMap<(Scope, SessionId), Kept>,
    uses: u64,
}

#[derive(Default)]
struct Kept {
    used: u64,
    place: Place,
    /// A proxy keeps its view while nothing changes, which is most of what a call would cost
    /// beyond its own.
    proxy: Option<(Role, ToolProxy)>,
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
                if SessionLock::is_marked(&self.whole.locks(scope), id) {
                    return Err(BuildError::NotHeld(NotHeld::HalfDeleted(id.clone())));
                }
                create_private_dir(&workspace).map_err(|source| BuildError::Data {
                    path: workspace.display().to_string(),
                    source,
                })?;
                let sandbox = self.whole.sandbox(scope, id, &workspace).await?;
                Ok::<_, BuildError>(Opened {
                    sandbox,
                    workspace: identity(&workspace),
                })
            })
            .await?;
        Ok((proxy, opened.sandbox.clone()))
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

impl Sessions {
    fn take(
        &mut self,
        key: (Scope, SessionId),
        role: Role,
        seal: impl FnOnce() -> ToolProxy,
    ) -> (ToolProxy, Place) {
        self.uses += 1;
        let kept = self.kept.entry(key).or_default();
        kept.used = self.uses;
        let proxy = match &kept.proxy {
            Some((of, proxy)) if *of == role => proxy.clone(),
            Some(_) | None => {
                let proxy = seal();
                kept.proxy = Some((role, proxy.clone()));
                proxy
            }
        };
        let place = kept.place.clone();
        self.forget_the_oldest();
        (proxy, place)
    }

    /// The sandbox of a session, where it is open.
    fn sandbox(&self, key: &(Scope, SessionId)) -> Option<Arc<dyn Sandbox>> {
        let opened = self.kept.get(key)?.place.get()?;
        Some(opened.sandbox.clone())
    }

    /// A session whose workspace is not where it was any more was deleted by another process, or
    /// with it: what is open leads nowhere. Says whether it was so.
    fn forget_what_is_gone(&mut self, key: &(Scope, SessionId), workspace: &Path) -> bool {
        let open = self.kept.get(key).and_then(|kept| kept.place.get());
        let is_gone = open.is_some_and(|open| open.workspace != identity(workspace));
        if is_gone {
            self.kept.remove(key);
        }
        is_gone
    }

    /// Many at a time: to find one takes a look at all.
    fn forget_the_oldest(&mut self) {
        if self.kept.len() <= KEPT_SANDBOXES + SURPLUS {
            return;
        }
        let mut idle: Vec<(u64, (Scope, SessionId))> = self
            .kept
            .iter()
            .filter(|(_, kept)| is_idle(&kept.place))
            .map(|(key, kept)| (kept.used, key.clone()))
            .collect();
        idle.sort_unstable_by_key(|(used, _)| *used);
        let surplus = self.kept.len() - KEPT_SANDBOXES;
        for (_, key) in idle.into_iter().take(surplus) {
            self.kept.remove(&key);
        }
    }
}

/// Whether nothing would end with it: it is open, nobody has it, and no command of it runs.
fn is_idle(place: &Place) -> bool {
    let alone = Arc::strong_count(place) == 1;
    let idle = |open: &Opened| {
        let sandbox = &open.sandbox;
        Arc::strong_count(sandbox) == 1 && sandbox.jobs().iter().all(|job| !job.running)
    };
    alone && place.get().is_none_or(idle)
}

fn unavailable(error: &BuildError) -> CallHostError {
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

#[async_trait]
impl Directory for Served {
    fn tools(&self, who: &Principal) -> Vec<Listing> {
        let proxy = self.sealed(who.role);
        let facts = SessionFacts {
            who: Arc::new(who.clone()),
            session: SessionId::mint(&**self.whole.clock()),
            attended: Attended::Yes,
            expanded: Arc::default(),
            suggested: None,
            skills: proxy.grant().skills.clone(),
        };
        proxy.view(&facts).listing()
    }

    fn skills(&self, _: &Principal) -> Vec<Value> {
        let proxy = self.whole.skills().proxy(&NameSet::all());
        proxy
            .listed()
            .map(|skill| {
                json!({
                    "name": skill.name().as_str(),
                    "description": skill.manifest.description,
                })
            })
            .collect()
    }

    fn mcp_servers(&self, _: &Principal) -> Vec<Value> {
        self.whole
            .servers()
            .into_iter()
            .filter_map(|server| serde_json::to_value(server).ok())
            .collect()
    }

    fn diagnostics(&self, _: &Principal) -> Vec<Value> {
        let faults = self.whole.faults().into_iter();
        let faults = faults.filter_map(|fault| serde_json::to_value(fault).ok());
        let idle = self.whole.idle_keys().idle.into_iter();
        let idle = idle.map(|idle| {
            let fault = json!({ "what": idle.key, "why": idle.why });
            json!({ "source": "configuration", "fault": fault })
        });
        faults.chain(idle).collect()
    }

    async fn sandboxed(&self) -> bool {
        self.whole.isolates().await
    }

    async fn jobs(&self, scope: &Scope, session: &SessionId) -> Vec<Value> {
        let jobs = self.whole.session_jobs(scope, session).await.into_iter();
        jobs.filter_map(|job| serde_json::to_value(job).ok())
            .collect()
    }
}

/// As the whole's, but commands of its sessions run here.
#[async_trait]
impl Belongings for Served {
    async fn mark(&self, scope: &Scope, session: &SessionId) -> Result<(), String> {
        self.whole.mark(scope, session).await
    }

    async fn is_marked(&self, scope: &Scope, session: &SessionId) -> bool {
        self.whole.is_marked(scope, session).await
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
        lock(&self.sessions)
            .kept
            .remove(&(scope.clone(), session.clone()));
        self.whole.empty(scope, session).await
    }

    async fn unmark(&self, scope: &Scope, session: &SessionId) -> Vec<String> {
        self.whole.unmark(scope, session).await
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
        if lock(&self.sessions).forget_what_is_gone(&key, &workspace) {
            return Err(CallHostError::Busy(session.clone()));
        }
        Ok(held)
    }

    fn hold_to_delete(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Box<dyn SessionHold>, CallHostError> {
        self.hold_for(Purpose::Deletion, scope, session)
    }
}

impl Served {
    fn hold_for(
        &self,
        purpose: Purpose,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Box<dyn SessionHold>, CallHostError> {
        let open = || self.whole.hold_in(purpose, scope, session);
        let place = (scope.clone(), session.clone());
        match self.holds.take(place, purpose, open) {
            Ok(Ok(lock)) => Ok(Box::new(lock)),
            Ok(Err(NotHeld::InUse(session))) => Err(CallHostError::Busy(session)),
            Ok(Err(half_deleted @ NotHeld::HalfDeleted(_))) => {
                Err(unavailable(&BuildError::NotHeld(half_deleted)))
            }
            Err(error) => Err(CallHostError::Unavailable(error.to_info().message)),
        }
    }
}

impl Outfitter {
    /// Where the workspaces of sessions that are served lie.
    pub(super) fn workspaces(&self) -> std::path::PathBuf {
        self.data_dir.join("files")
    }

    /// The workspace of a session that is served.
    pub(super) fn served_workspace(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> std::path::PathBuf {
        self.workspaces()
            .join(path_segment(scope.tenant.as_str()))
            .join(path_segment(scope.subject.as_str()))
            .join(session.as_str())
    }

    /// The workspace of a session of the person at this machine, if it was made by serving it.
    pub(crate) fn workspace_where_served(&self, session: &SessionId) -> Option<std::path::PathBuf> {
        let workspace = self.served_workspace(&self.local_scope(), session);
        workspace.is_dir().then_some(workspace)
    }
}

/// Everybody who can reach this machine's loopback is the person at it, with the role that the
/// configuration gives callers now.
pub struct ServedPrincipals(Arc<Outfitter>);

impl ServedPrincipals {
    /// The principals of this whole.
    #[must_use]
    pub fn new(whole: Arc<Outfitter>) -> Self {
        Self(whole)
    }

    fn now(&self) -> LocalPrincipals {
        let scope = self.0.local_scope();
        LocalPrincipals {
            tenant: scope.tenant,
            subject: scope.subject,
            role: self.0.config().permissions.http_role,
        }
    }
}

#[async_trait]
impl Principals for ServedPrincipals {
    async fn identify(&self, caller: &Caller<'_>) -> Result<Principal, Box<ErrorInfo>> {
        self.now().identify(caller).await
    }

    fn on_behalf(&self, scope: &Scope) -> Option<Principal> {
        self.now().on_behalf(scope)
    }

    fn known_scopes(&self) -> Vec<Scope> {
        self.now().known_scopes()
    }
}
