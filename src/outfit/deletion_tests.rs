//! Deletions that end in the middle, at every step.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use axum::body::Bytes;
use outfitter_agent::{Belongings, Deletion, LeftBehind, Mark, SessionSource as _};
use outfitter_core::{
    Append, AppendError, ArtifactChunk, ArtifactError, ArtifactId, ArtifactStore, CallHostError,
    Log, Mention, Message, MessageId, MessageRole, NewArtifact, Page, PageRequest, Principal, Role,
    Scope, Seq, SessionId, Sessions, StoreError,
};
use outfitter_server::SessionHolds as _;
use tokio::sync::Notify;

use super::{NotHeld, Outfitter, Served};
use crate::Builder;
use crate::config::Config;
use crate::env::Environment;

fn outfitter(dir: &Path) -> Outfitter {
    let mut config = Config::default();
    config.store.data_dir = Some(dir.to_owned());
    Builder::new(config, Environment::of(dir, [("HOME", "/nowhere")]))
        .build()
        .unwrap()
}

fn session() -> SessionId {
    SessionId::new("begun-and-not-ended").unwrap()
}

/// A session with everything that one has.
async fn made(dir: &Path) {
    let whole = outfitter(dir);
    let (scope, session) = (whole.local_scope(), session());
    let said = Message::text(MessageId::new("msg_1").unwrap(), MessageRole::User, "hi");
    let store = whole.conversations();
    store.save(&session, &[said.into()]).await.unwrap();
    let new = NewArtifact {
        mime: "text/plain".to_owned(),
        name: "a".to_owned(),
    };
    let artifacts = &whole.artifacts;
    artifacts.create(&scope, &session, new).await.unwrap();
    for folder in ["sessions", "files", "inbox"] {
        let folder = dir.join(folder).join("local/local").join(session.as_str());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("file"), "x").unwrap();
    }
}

/// Everything that has the name of the session.
fn left(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut to_do = vec![dir.to_owned()];
    while let Some(folder) = to_do.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains(session().as_str()) {
                found.push(path);
            } else if path.is_dir() {
                to_do.push(path);
            }
        }
    }
    found
}

/// Stands for ever before one step, as a process that ends there.
struct Ends {
    before: usize,
    step: AtomicUsize,
    reached: Notify,
}

impl Ends {
    async fn step(&self) {
        if self.step.fetch_add(1, Ordering::SeqCst) == self.before {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

struct Stepwise<'a> {
    whole: &'a Outfitter,
    ends: &'a Ends,
}

#[async_trait]
impl Belongings for Stepwise<'_> {
    async fn mark(&self, scope: &Scope, session: &SessionId) -> Result<(), String> {
        self.ends.step().await;
        self.whole.mark(scope, session).await
    }

    async fn marked(&self, scope: &Scope, session: &SessionId) -> Option<Mark> {
        self.whole.marked(scope, session).await
    }

    async fn end_jobs(&self, scope: &Scope, session: &SessionId) -> Vec<String> {
        self.ends.step().await;
        self.whole.end_jobs(scope, session).await
    }

    async fn empty(&self, scope: &Scope, session: &SessionId) -> LeftBehind {
        self.ends.step().await;
        self.whole.empty(scope, session).await
    }

    async fn unmark(&self, scope: &Scope, session: &SessionId) -> Vec<String> {
        self.ends.step().await;
        self.whole.unmark(scope, session).await
    }
}

#[async_trait]
impl Log for Stepwise<'_> {
    async fn append(&self, scope: &Scope, append: Append<'_>) -> Result<Seq, AppendError> {
        self.whole.log.append(scope, append).await
    }

    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        from: Seq,
        limit: u32,
    ) -> Result<Page, StoreError> {
        self.whole.log.read(scope, session, from, limit).await
    }

    async fn list(&self, scope: &Scope, page: PageRequest) -> Result<Sessions, StoreError> {
        self.whole.log.list(scope, page).await
    }

    async fn find(
        &self,
        scope: &Scope,
        what: Mention<'_>,
    ) -> Result<Option<SessionId>, StoreError> {
        self.whole.log.find(scope, what).await
    }

    async fn delete(&self, scope: &Scope, session: &SessionId) -> Result<(), StoreError> {
        self.ends.step().await;
        self.whole.log.delete(scope, session).await
    }
}

#[async_trait]
impl ArtifactStore for Stepwise<'_> {
    async fn create(
        &self,
        scope: &Scope,
        session: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        self.whole.artifacts.create(scope, session, new).await
    }

    async fn append(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        self.whole.artifacts.append(scope, session, id, bytes).await
    }

    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        let artifacts = &self.whole.artifacts;
        artifacts.read(scope, session, id, offset, max).await
    }

    async fn delete_session(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<(), ArtifactError> {
        self.ends.step().await;
        self.whole.artifacts.delete_session(scope, session).await
    }
}

/// What finishes it.
#[derive(Clone, Copy)]
enum Then {
    Start,
    Deletion,
}

/// Deletes the session, and ends before a step. Says whether there was such a step.
async fn ends_before(dir: &Path, step: usize) -> bool {
    let whole = outfitter(dir);
    let ends = Ends {
        before: step,
        step: AtomicUsize::new(0),
        reached: Notify::new(),
    };
    let stepwise = Stepwise {
        whole: &whole,
        ends: &ends,
    };
    let _held = whole.hold_to_delete(&session()).unwrap().unwrap();
    let deletion = Deletion {
        log: &stepwise,
        artifacts: &stepwise,
        belongings: &stepwise,
    };
    let (scope, session) = (whole.local_scope(), session());
    tokio::select! {
        done = deletion.run(&scope, &session) => {
            assert_eq!(done.unwrap(), [] as [String; 0]);
            false
        }
        () = ends.reached.notified() => true,
    }
}

async fn finishes(dir: &Path, step: usize, then: Then) -> bool {
    made(dir).await;
    let before = left(dir);
    let ended = ends_before(dir, step).await;
    let whole = outfitter(dir);
    if !ended {
        assert_eq!(left(dir), [] as [PathBuf; 0]);
        return false;
    }
    let held = whole.hold(&session()).unwrap();
    if step == 0 {
        assert!(held.is_ok(), "nothing was touched");
        assert_eq!(left(dir).len(), before.len());
        drop(held);
        whole.finish_deletions().await;
        assert_eq!(left(dir).len(), before.len(), "nor is it by a start");
    } else {
        assert!(matches!(held, Err(NotHeld::HalfDeleted(_))), "step {step}");
        assert_eq!(whole.leftovers().await.half_deleted, [session()]);
    }
    match then {
        Then::Start if step > 0 => whole.finish_deletions().await,
        Then::Start | Then::Deletion => {
            let _held = whole.hold_to_delete(&session()).unwrap().unwrap();
            let left = whole.delete(&session()).await.unwrap();
            assert_eq!(left, [] as [String; 0]);
        }
    }
    assert_eq!(left(dir), [] as [PathBuf; 0], "step {step}");
    let (scope, session) = (whole.local_scope(), session());
    let read = whole.log.read(&scope, &session, Seq(1), 1).await;
    assert!(matches!(read, Err(StoreError::NotFound(_))));
    // Its name is free again.
    drop(whole.hold(&session).unwrap().unwrap());
    true
}

#[tokio::test]
async fn a_deletion_that_was_broken_off_left_half_a_session_that_opened() {
    for then in [Then::Start, Then::Deletion] {
        let mut step = 0;
        loop {
            let dir = tempfile::tempdir().unwrap();
            if !finishes(dir.path(), step, then).await {
                break;
            }
            step += 1;
        }
        assert_eq!(step, 6, "each step was one to end before");
    }
}

#[tokio::test]
async fn a_session_whose_artifacts_stay_is_not_called_deleted_and_opens_no_more() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path()).await;
    let stuck = dir.path().join("artifacts/local/local");
    let stuck = stuck.join(session().as_str()).join("stuck");
    std::fs::create_dir(&stuck).unwrap();
    let whole = outfitter(dir.path());
    let held = whole.hold_to_delete(&session()).unwrap().unwrap();
    let refused = whole.delete(&session()).await.unwrap_err();
    assert!(refused.to_string().contains("its artifacts stay behind: "));
    drop(held);
    let held = whole.hold(&session()).unwrap();
    assert!(matches!(held, Err(NotHeld::HalfDeleted(_))));
    std::fs::remove_dir(stuck).unwrap();
    whole.finish_deletions().await;
    assert_eq!(left(dir.path()), [] as [PathBuf; 0]);
}

/// With another store configured there is no log to delete, and that was taken for a log that is gone:
/// the files went, the mark went, and the log stayed where it was.
#[tokio::test]
async fn a_deletion_was_finished_in_a_store_that_never_had_the_log() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path()).await;
    let before = left(dir.path()).len();
    // Its mark is all that it has done.
    assert!(ends_before(dir.path(), 1).await);
    let mut config = Config::default();
    config.store.data_dir = Some(dir.path().to_owned());
    config.store.url = Some(format!("sqlite:{}", dir.path().join("other.db").display()));
    let environment = Environment::of(dir.path(), [("HOME", "/nowhere")]);
    let other = Builder::new(config, environment).build().unwrap();
    other.finish_deletions().await;
    assert_eq!(
        left(dir.path()).len(),
        before,
        "nobody has asked for it here"
    );
    let held = other.hold_to_delete(&session()).unwrap().unwrap();
    let refused = other.delete(&session()).await.unwrap_err();
    assert!(
        refused.to_string().contains("its log is not in this store"),
        "{refused}"
    );
    assert_eq!(left(dir.path()).len(), before);
    drop(held);
    let whole = outfitter(dir.path());
    whole.finish_deletions().await;
    assert_eq!(left(dir.path()), [] as [PathBuf; 0]);
    let read = whole
        .log
        .read(&whole.local_scope(), &session(), Seq(1), 1)
        .await;
    assert!(matches!(read, Err(StoreError::NotFound(_))));
}

/// Any length of the file that holds a session was the order to delete it, with all it had.
#[tokio::test]
async fn a_start_deleted_a_session_whose_lock_file_somebody_had_written_to() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path()).await;
    let whole = outfitter(dir.path());
    let locks = whole.locks(&whole.local_scope());
    let file = super::lock::path(&locks, &session());
    drop(whole.hold(&session()).unwrap().unwrap());
    std::fs::write(&file, "4711\n").unwrap();
    let before = left(dir.path()).len();
    whole.finish_deletions().await;
    assert_eq!(left(dir.path()).len(), before);
    let found = whole.leftovers().await;
    assert_eq!(found.strange_locks, std::slice::from_ref(&file));
    assert_eq!(found.half_deleted, [] as [SessionId; 0]);
    for held in [whole.hold(&session()), whole.hold_to_delete(&session())] {
        assert!(matches!(held.unwrap(), Err(NotHeld::Strange(_))));
    }
    std::fs::write(&file, "").unwrap();
    drop(whole.hold(&session()).unwrap().unwrap());
}

#[tokio::test]
async fn to_clear_a_conversation_that_is_not_there_left_a_file_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let whole = outfitter(dir.path());
    whole.conversations().clear(&session()).await.unwrap();
    assert_eq!(left(dir.path()), [] as [PathBuf; 0]);
}

/// A server opens a session before it holds it.
#[tokio::test]
async fn a_session_deleted_between_its_opening_and_its_holding_ran_in_folders_that_were_gone() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path()).await;
    let whole = Arc::new(outfitter(dir.path()));
    let (scope, session) = (whole.local_scope(), session());
    let who = Arc::new(Principal {
        tenant: scope.tenant.clone(),
        subject: scope.subject.clone(),
        role: Role::User,
        channel: "http".into(),
        stream: None,
    });
    let served = Served::new(whole);
    served.open(who.clone(), &session).await.unwrap();
    let other = outfitter(dir.path());
    let held = other.hold_to_delete(&session).unwrap().unwrap();
    assert!(matches!(
        served.hold(&scope, &session),
        Err(CallHostError::Busy(_))
    ));
    other.delete(&session).await.unwrap();
    drop(held);
    assert!(matches!(
        served.hold(&scope, &session),
        Err(CallHostError::Busy(_))
    ));
    served.open(who, &session).await.unwrap();
    assert!(served.hold(&scope, &session).is_ok());
}
