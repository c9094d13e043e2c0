//! Calls from what is mounted beside us, as runs of this server: owned, followed, ended with it.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    CallEnd, CallHost, CallHostError, Cancel, Code, EventSink, Listing, Principal, RawCall,
    SessionId,
};

use crate::app::{App, Calling, place_of};
use crate::problem::Problem;

/// A host whose calls are runs of this server.
pub(crate) struct Calls(Arc<App>);

impl Calls {
    pub(crate) fn new(app: Arc<App>) -> Self {
        Self(app)
    }
}

#[async_trait]
impl CallHost for Calls {
    async fn list(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Vec<Listing>, CallHostError> {
        self.0.host.list(who, session).await
    }

    async fn callable(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Vec<Listing>, CallHostError> {
        self.0.host.callable(who, session).await
    }

    async fn call(
        &self,
        who: Arc<Principal>,
        session: &SessionId,
        call: RawCall,
        events: Arc<dyn EventSink>,
    ) -> Result<CallEnd, CallHostError> {
        let unwanted = events.cancel();
        self.0.deleting.allows(&place_of(&who, session))?;
        let open = self.0.host.open_to_call(who, session, &call.name).await?;
        let refused = |problem: Problem| refusal(&problem, session);
        let Calling { live, mut told, .. } = self
            .0
            .begin_call(open, call, Some(events))
            .map_err(refused)?;
        let leaving = Leaving(live.cancel.clone());
        let end = tokio::select! {
            end = &mut told => end,
            () = unwanted.cancelled() => {
                live.cancel.cancel();
                told.await
            }
        };
        drop(leaving);
        end.map_err(|_| CallHostError::Unavailable("the call broke down".to_owned()))?
            .map_err(refused)
    }
}

fn refusal(problem: &Problem, session: &SessionId) -> CallHostError {
    match problem.error().code {
        Code::Busy => CallHostError::Busy(session.clone()),
        Code::NotFound => CallHostError::NotFound(session.clone()),
        _ => CallHostError::Unavailable(problem.error().message.clone()),
    }
}

/// Ends a call when nobody waits for it any more.
pub(crate) struct Leaving(pub(crate) Cancel);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
