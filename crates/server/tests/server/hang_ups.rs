//! Clients that hang up while what they asked for is half done. It was left half done.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::*;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::client::{Ask, delete, get, patient, post};
use crate::harness::{Served, World, soon};

/// A log that stands still when an answer or a deletion is written and nobody knows of it yet.
struct HalfDone {
    inner: Arc<dyn Log>,
    come: Semaphore,
    go_on: Semaphore,
}

impl HalfDone {
    fn put_in(world: &mut World) -> Arc<Self> {
        let log = Arc::new(Self {
            inner: world.log.clone(),
            come: Semaphore::new(0),
            go_on: Semaphore::new(0),
        });
        world.log = log.clone();
        log
    }

    async fn stand_still(&self) {
        self.come.add_permits(1);
        self.go_on.acquire().await.unwrap().forget();
    }
}

#[async_trait]
impl Log for HalfDone {
    async fn append(&self, scope: &Scope, append: Append<'_>) -> Result<Seq, AppendError> {
        let is_answer = |entry: &NewEntry| entry.body.kind() == "answer";
        let answers = append.entries.iter().any(is_answer);
        let head = self.inner.append(scope, append).await;
        if answers {
            self.stand_still().await;
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
        let deleted = self.inner.delete(scope, session).await;
        self.stand_still().await;
        deleted
    }
}

/// A server with one connection at a time: when the next is answered, the one before is gone, and
/// all that the server did for it alone.
fn one_at_a_time() -> (World, Arc<HalfDone>) {
    let mut world = World::new();
    world.config.connections = 1;
    world.config.cancel_on_disconnect = false;
    let log = HalfDone::put_in(&mut world);
    (world, log)
}

/// Asks, hangs up when half of it is done, and lets the log go on once the server has seen that.
async fn asked_and_gone(served: &Served, log: &HalfDone, ask: Ask) {
    let asking = ask.ask(served.at).await;
    patient(log.come.acquire()).await.unwrap().forget();
    drop(asking);
    assert_eq!(get("/healthz").send(served.at).await.status, 200);
    log.go_on.add_permits(1);
}

/// The run did not know what was written to its log, and could write nothing more, not even its
/// end.
#[tokio::test]
async fn who_answered_and_hung_up_broke_the_run_that_was_under_way() {
    let (world, log) = one_at_a_time();
    let served = world.serve().await;
    let body = json!({ "session_id": "s", "input": "call ask {\"n\":1}\ncall hangs {}" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    let asked = client.until("question").await;
    let question = asked.last().unwrap().clone();
    drop(client);
    let id = question["question_id"].as_str().unwrap();
    let run = question["run_id"].as_str().unwrap();
    let answer = post(
        format!("/v1/questions/{id}/answer"),
        &json!({ "answer": "yes" }),
    );
    asked_and_gone(&served, &log, answer).await;

    // The run has the answer, and an end.
    let cancelled = post(format!("/v1/runs/{run}/cancel"), &json!({}));
    assert_eq!(cancelled.send(served.at).await.status, 202);
    let events = get(format!("/v1/runs/{run}/events")).send(served.at).await;
    let events = events.lines();
    let types: Vec<&str> = events.iter().filter_map(|it| it["type"].as_str()).collect();
    assert!(types.contains(&"answered"), "{types:?}");
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["outcome"]),
        (&json!("run_finished"), &json!("cancelled"))
    );
    served.stop().await;
}

/// The log was gone, and the rest of the session was there for good: nothing could delete it.
#[tokio::test]
async fn who_deleted_a_session_and_hung_up_left_half_of_it() {
    let (world, log) = one_at_a_time();
    let served = world.serve().await;
    let body = json!({ "session_id": "a", "arguments": {} });
    let output = post("/v1/tools/large/call", &body).send(served.at).await;
    let id = output.json()["artifacts"][0].as_str().unwrap().to_owned();
    let id = ArtifactId::new(&*id).unwrap();
    let scope = Scope {
        tenant: "local".into(),
        subject: "local".into(),
    };
    let session = SessionId::new("a").unwrap();
    let kept = async || {
        world
            .artifacts
            .read(&scope, &session, &id, 0, 1)
            .await
            .is_ok()
    };
    assert!(kept().await);
    asked_and_gone(&served, &log, delete("/v1/sessions/a")).await;
    soon(async || (!kept().await).then_some(())).await;
    // And the session is free again.
    soon(async || {
        let again = post("/v1/tools/echo/call", &body).send(served.at).await;
        (again.status == 200).then_some(())
    })
    .await;
    served.stop().await;
}
