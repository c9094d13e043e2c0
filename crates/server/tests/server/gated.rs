//! A log that stands still at a point, as long as the test wants it: while something is half done, or
//! for ever, as when the process dies there.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use outfitter_core::*;
use tokio::sync::{Notify, Semaphore};

/// Where it may stand still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Point {
    /// Before anything is written.
    Append,
    /// Before the end of a run is written.
    EndOfRun,
    /// When an answer is written, and nobody knows of it yet.
    Answered,
    /// Before the sessions are listed.
    List,
    /// Before a session is deleted.
    Delete,
}

/// A log with a gate at each point. All are open at first.
pub(crate) struct Gated {
    inner: Arc<dyn Log>,
    closed: Mutex<HashSet<Point>>,
    come: Semaphore,
    let_go: Notify,
}

impl Gated {
    pub(crate) fn new(inner: Arc<dyn Log>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            closed: Mutex::default(),
            come: Semaphore::new(0),
            let_go: Notify::new(),
        })
    }

    /// Who comes to this point stands still from now on.
    pub(crate) fn close(&self, point: Point) {
        self.closed.lock().unwrap().insert(point);
    }

    /// Who comes to this point goes on. Who stands there stands for ever.
    pub(crate) fn open(&self, point: Point) {
        self.closed.lock().unwrap().remove(&point);
    }

    /// Who comes to this point goes on, and who stands still.
    pub(crate) fn let_go(&self, point: Point) {
        self.open(point);
        self.let_go.notify_waiters();
    }

    /// Waits until somebody stands still.
    pub(crate) async fn come(&self) {
        let come = crate::client::patient(self.come.acquire()).await;
        come.unwrap().forget();
    }

    async fn pass(&self, point: Point) {
        let let_go = self.let_go.notified();
        if !self.closed.lock().unwrap().contains(&point) {
            return;
        }
        self.come.add_permits(1);
        let_go.await;
    }
}

#[async_trait]
impl Log for Gated {
    async fn append(&self, scope: &Scope, append: Append<'_>) -> Result<Seq, AppendError> {
        let has = |kind: &str| append.entries.iter().any(|entry| entry.body.kind() == kind);
        let (ends, answers) = (has("run_finished"), has("answer"));
        self.pass(Point::Append).await;
        if ends {
            self.pass(Point::EndOfRun).await;
        }
        let head = self.inner.append(scope, append).await;
        if answers {
            self.pass(Point::Answered).await;
        }
        head
    }

    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        from: Seq,
        limit: u32,
    ) -> Result<Page, StoreError> {
        self.inner.read(scope, session, from, limit).await
    }

    async fn list(&self, scope: &Scope, page: PageRequest) -> Result<Sessions, StoreError> {
        self.pass(Point::List).await;
        self.inner.list(scope, page).await
    }

    async fn find(
        &self,
        scope: &Scope,
        what: Mention<'_>,
    ) -> Result<Option<SessionId>, StoreError> {
        self.inner.find(scope, what).await
    }

    async fn delete(&self, scope: &Scope, session: &SessionId) -> Result<(), StoreError> {
        self.pass(Point::Delete).await;
        self.inner.delete(scope, session).await
    }
}
