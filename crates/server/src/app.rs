//! What all requests share, and how a run is started.

use std::sync::Arc;

use outfitter_agent::{Belongings, Host, Input, RunRequest, Session};
use outfitter_core::{
    ArtifactStore, CallEnd, Clock, EventSink, Log, Principal, RawCall, RunId, Scope, SessionId,
};
use tokio::sync::oneshot;

use crate::deleting::Deleting;
use crate::live::{Begun, Live, LiveRun, Mailbox, Place};
use crate::parts::{Directory, ServerConfig, ServerParts, SessionHolds};
use crate::principals::Principals;
use crate::problem::Problem;
use crate::routes::{ClientRuns, Histories};
use crate::waits::Waits;

/// What all requests share.
pub(crate) struct App {
    pub(crate) host: Host,
    clock: Arc<dyn Clock>,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) artifacts: Arc<dyn ArtifactStore>,
    pub(crate) principals: Arc<dyn Principals>,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) belongings: Arc<dyn Belongings>,
    pub(crate) holds: Option<Arc<dyn SessionHolds>>,
    pub(crate) config: ServerConfig,
    pub(crate) live: Live,
    pub(crate) waits: Waits,
    pub(crate) client_runs: ClientRuns,
    pub(crate) deleting: Deleting,
    pub(crate) histories: Histories,
}

/// A run that has begun.
pub(crate) struct Started {
    pub(crate) run: RunId,
    pub(crate) live: Arc<LiveRun>,
    /// Its events from the first on.
    pub(crate) mailbox: Arc<Mailbox>,
}

/// What became of a direct call.
pub(crate) type Called = Result<CallEnd, Problem>;

/// A direct call under way.
pub(crate) struct Calling {
    pub(crate) live: Arc<LiveRun>,
    begun: Begun,
    /// What becomes of it; nothing when it breaks down.
    pub(crate) told: oneshot::Receiver<Called>,
}

/// A run that somebody waits for. It is cancelled when they go away before it has begun, which may
/// take as long as a model that chooses for it; later that is its seat's to do.
struct Wanted {
    live: Option<Arc<LiveRun>>,
}

impl Wanted {
    fn has_begun(mut self) {
        self.live = None;
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            live.cancel.cancel();
        }
    }
}

impl App {
    pub(crate) fn new(parts: ServerParts) -> Self {
        Self {
            clock: parts.host.agent().parts().clock.clone(),
            host: parts.host,
            log: parts.log,
            artifacts: parts.artifacts,
            principals: parts.principals,
            directory: parts.directory,
            belongings: parts.belongings,
            holds: parts.holds,
            config: parts.config,
            live: Live::new(),
            waits: Waits::default(),
            client_runs: ClientRuns::default(),
            deleting: Deleting::default(),
            histories: Histories::default(),
        }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Starts a run of `session`, and waits until it has begun.
    pub(crate) async fn start(
        self: &Arc<Self>,
        session: Session,
        request: RunRequest,
    ) -> Result<Started, Problem> {
        self.start_with(session, request, ()).await
    }

    /// The same. `kept` is let go of when the run is over, whether or not who asked for it waits.
    pub(crate) async fn start_with(
        self: &Arc<Self>,
        session: Session,
        request: RunRequest,
        kept: impl Send + 'static,
    ) -> Result<Started, Problem> {
        let app = self.clone();
        let place = Place {
            scope: session.scope(),
            session: session.id.clone(),
        };
        let mut mailbox = None;
        let is_words = matches!(request.input, Input::Prompt(_));
        let (live, begun) = self.live.start(place, |live| {
            mailbox = live.hub.follow();
            async move {
                let _kept = kept;
                if let Err(problem) = app.make(&live, session, request).await {
                    live.hub.fail(problem);
                }
            }
        })?;
        let wanted = Wanted {
            live: (is_words && self.config.cancel_on_disconnect).then(|| live.clone()),
        };
        let begun = begun.await;
        wanted.has_begun();
        match (begun, mailbox) {
            (Ok(Ok(run)), Some(mailbox)) => Ok(Started { run, live, mailbox }),
            (Ok(Err(problem)), _) => Err(problem),
            (Ok(Ok(_)) | Err(_), _) => Err(crate::live::stopping()),
        }
    }

    async fn make(
        &self,
        live: &LiveRun,
        session: Session,
        request: RunRequest,
    ) -> Result<(), Problem> {
        let held = self.hold(&live.place)?;
        if let (Some(id), true) = (&request.client_run, held.is_some()) {
            self.histories.new_run(&*self.log, &live.place, id).await?;
        }
        let agent = self.host.agent();
        let end = agent
            .run(&session, request, live.cancel.clone(), live.hub.clone())
            .await
            .map_err(|error| {
                if live.hub.run().is_some() {
                    let error = error.to_info();
                    tracing::error!(%error, session = %session.id, "a run could not record its end");
                }
                Problem::from(&error)
            })?;
        drop(held);
        self.waits
            .set(live.place.clone(), session.who.clone(), end.waiting);
        Ok(())
    }

    /// Makes one call without a model, and waits until it has begun.
    pub(crate) async fn call(
        self: &Arc<Self>,
        session: Session,
        call: RawCall,
    ) -> Result<(RunId, Arc<LiveRun>, oneshot::Receiver<Called>), Problem> {
        let calling = self.begin_call(session, call, None)?;
        match calling.begun.await {
            Ok(Ok(run)) => Ok((run, calling.live, calling.told)),
            Ok(Err(problem)) => Err(problem),
            Err(_) => Err(crate::live::stopping()),
        }
    }

    /// Makes one call without a model, for who waits for nothing but its end. `outside` hears its
    /// events.
    pub(crate) fn begin_call(
        self: &Arc<Self>,
        session: Session,
        call: RawCall,
        outside: Option<Arc<dyn EventSink>>,
    ) -> Result<Calling, Problem> {
        let app = self.clone();
        let place = Place {
            scope: session.scope(),
            session: session.id.clone(),
        };
        let (tell, told) = oneshot::channel();
        let (live, begun) = self.live.start(place, |live| async move {
            if let Some(outside) = outside {
                live.hub.tell(outside);
            }
            match app.make_call(&live, session, call).await {
                Ok(end) => drop(tell.send(Ok(end))),
                Err(problem) => {
                    live.hub.refuse(problem.clone());
                    drop(tell.send(Err(problem)));
                }
            }
        })?;
        Ok(Calling { live, begun, told })
    }

    async fn make_call(
        &self,
        live: &LiveRun,
        session: Session,
        call: RawCall,
    ) -> Result<CallEnd, Problem> {
        let _held = self.hold(&live.place)?;
        let agent = self.host.agent();
        agent
            .call(&session, call, live.cancel.clone(), live.hub.clone())
            .await
            .map_err(|error| Problem::from(&error))
    }

    pub(crate) fn hold(
        &self,
        place: &Place,
    ) -> Result<Option<Box<dyn crate::SessionHold>>, Problem> {
        match &self.holds {
            Some(holds) => Ok(Some(holds.hold(&place.scope, &place.session)?)),
            None => Ok(None),
        }
    }

    /// The same to delete it.
    pub(crate) fn hold_to_delete(
        &self,
        place: &Place,
    ) -> Result<Option<Box<dyn crate::SessionHold>>, Problem> {
        let holds = self.holds.as_ref();
        let held = holds.map(|holds| holds.hold_to_delete(&place.scope, &place.session));
        Ok(held.transpose()?)
    }

    /// Opens a session of `who`, or makes it.
    pub(crate) async fn open(
        &self,
        who: Arc<Principal>,
        id: &SessionId,
    ) -> Result<Session, Problem> {
        self.deleting.allows(&place_of(&who, id))?;
        Ok(self.host.open(who, id).await?)
    }

    /// Goes on with a session when nobody calls.
    pub(crate) async fn go_on(
        self: &Arc<Self>,
        who: Arc<Principal>,
        place: &Place,
    ) -> Option<Started> {
        let session = &place.session;
        let started = match self.open(who, session).await {
            Ok(open) => self.start(open, Input::Continue.into()).await,
            Err(problem) => Err(problem),
        };
        started
            .inspect_err(|problem| {
                let error = problem.error();
                tracing::warn!(%error, %session, "a session could not be continued");
            })
            .ok()
    }

    /// The session of a run of this scope.
    pub(crate) async fn session_of(
        &self,
        scope: &Scope,
        run: &RunId,
    ) -> Result<SessionId, Problem> {
        if let Some(session) = self.live.recent(scope, run) {
            return Ok(session);
        }
        crate::entries::session_of_run(&*self.log, scope, run)
            .await?
            .ok_or_else(|| no_run(run))
    }
}

/// Where the session of this id is, of whoever asks.
pub(crate) fn place_of(who: &Principal, session: &SessionId) -> Place {
    Place {
        scope: Scope::from(who),
        session: session.clone(),
    }
}

/// Where the ids of runs are.
pub(crate) const RUN_ID: &str = "its id is in the header `outfitter-run-id` of the answer that began it, and in each of its events";

pub(crate) fn no_run(run: &RunId) -> Problem {
    Problem::not_found(format!("there is no run {run}")).hint(RUN_ID)
}
