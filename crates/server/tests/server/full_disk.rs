//! A log that takes nothing more.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::*;
use rstest::rstest;
use serde_json::json;

use crate::agui::{input, of, says, sound};
use crate::client::post;
use crate::harness::World;

/// Where it lies is nobody's business but its operator's.
const PLACE: &str = "/srv/data/outfitter.db";

/// A log that takes no entry of one kind.
struct Full {
    inner: Arc<dyn Log>,
    refuses: &'static str,
}

fn full() -> StoreError {
    StoreError::Backend {
        message: "no space is left on its disk".to_owned(),
        source: Some(format!("write {PLACE}").into()),
    }
}

#[async_trait]
impl Log for Full {
    async fn append(&self, scope: &Scope, append: Append<'_>) -> Result<Seq, AppendError> {
        let mut entries = append.entries.iter();
        if entries.any(|entry| entry.body.kind() == self.refuses) {
            return Err(full().into());
        }
        self.inner.append(scope, append).await
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
        self.inner.delete(scope, session).await
    }
}

fn world(refuses: &'static str) -> World {
    let world = World::new();
    let inner = world.log.clone();
    World {
        log: Arc::new(Full { inner, refuses }),
        ..world
    }
}

#[rstest]
#[case("/v1/runs", json!({ "session_id": "s", "input": "hello" }))]
#[case("/v1/tools/echo/call", json!({ "session_id": "s", "arguments": {} }))]
#[case("/agui", input("s", "r1", says("hello")))]
#[tokio::test]
async fn a_run_that_could_not_begin_told_its_caller_where_the_log_lies(
    #[case] path: &str,
    #[case] body: serde_json::Value,
) {
    let served = world("run_started").serve().await;
    let refused = post(path, &body).send(served.at).await;
    assert_eq!(refused.status, 503, "{}", refused.text());
    let said = refused.text();
    assert!(
        said.contains("no space is left") && !said.contains(PLACE),
        "{said}"
    );
    served.stop().await;
}

/// It was told as a fault of ours that nobody can do anything about.
#[tokio::test]
async fn a_run_whose_end_could_not_be_recorded_ended_without_saying_how() {
    let served = world("run_finished").serve().await;
    let events = sound(&served, &input("t", "r1", says("hello"))).await;
    let end = of(&events, "RUN_ERROR");
    assert_eq!(end[0]["code"], "unavailable", "{events:?}");
    let said = end[0]["message"].as_str().unwrap();
    assert_eq!(
        said,
        "failed to use the store: no space is left on its disk"
    );
    served.stop().await;
}
