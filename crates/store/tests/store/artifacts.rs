//! What every store of artifacts does, and what those in files do besides.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use bytes::Bytes;
use outfitter_core::{
    ArtifactError, ArtifactId, ArtifactStore, Clock, NewArtifact, Scope, SessionId, UnixMs,
};
use outfitter_store::{ArtifactLimits, FileArtifacts, MemoryArtifacts, path_segment};
use rstest::rstest;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::rig::{me, scope, session};

struct At(u64);

impl Clock for At {
    fn now(&self) -> UnixMs {
        UnixMs(self.0)
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Memory,
    Files,
}

const SMALL: ArtifactLimits = ArtifactLimits {
    one: 10,
    total: 25,
    count: 4,
};

struct Rig {
    store: Arc<dyn ArtifactStore>,
    directory: TempDir,
}

impl Rig {
    fn new(kind: Kind) -> Self {
        Self::within(kind, ArtifactLimits::IN_MEMORY)
    }

    fn within(kind: Kind, limits: ArtifactLimits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(At(77));
        let store: Arc<dyn ArtifactStore> = match kind {
            Kind::Memory => Arc::new(MemoryArtifacts::within(clock, limits)),
            Kind::Files => Arc::new(FileArtifacts::within(
                directory.path().join("a"),
                clock,
                limits,
            )),
        };
        Self { store, directory }
    }

    async fn make(&self, scope: &Scope, session: &SessionId) -> Result<ArtifactId, ArtifactError> {
        let new = NewArtifact {
            mime: "text/plain".to_owned(),
            name: "stdout \0ü".to_owned(),
        };
        self.store.create(scope, session, new).await
    }

    async fn add(&self, id: &ArtifactId, text: &'static str) -> Result<(), ArtifactError> {
        self.store
            .append(&me(), &session("a"), id, Bytes::from(text))
            .await
    }

    async fn read(&self, id: &ArtifactId, offset: u64, max: u64) -> String {
        let chunk = self
            .store
            .read(&me(), &session("a"), id, offset, max)
            .await
            .unwrap();
        String::from_utf8(chunk.bytes.to_vec()).unwrap()
    }
}

#[rstest]
#[tokio::test]
async fn what_is_added_is_read_by_ranges(#[values(Kind::Memory, Kind::Files)] kind: Kind) {
    let rig = Rig::new(kind);
    let id = rig.make(&me(), &session("a")).await.unwrap();
    assert_eq!(rig.read(&id, 0, 100).await, "");
    rig.add(&id, "hello ").await.unwrap();
    rig.add(&id, "").await.unwrap();
    rig.add(&id, "world").await.unwrap();
    assert_eq!(rig.read(&id, 0, 100).await, "hello world");
    assert_eq!(rig.read(&id, 4, 4).await, "o wo");
    assert_eq!(rig.read(&id, 11, 4).await, "");
    assert_eq!(rig.read(&id, u64::MAX, u64::MAX).await, "");
    assert_eq!(rig.read(&id, 6, u64::MAX).await, "world");
    let info = rig
        .store
        .read(&me(), &session("a"), &id, 0, 1)
        .await
        .unwrap()
        .info;
    assert_eq!(
        (info.id, info.mime.as_str(), info.name.as_str()),
        (id, "text/plain", "stdout \0ü")
    );
    assert_eq!((info.size, info.created), (11, UnixMs(77)));
}

#[rstest]
#[case::another_session(me(), "b")]
#[case::another_subject(scope("t", "other"), "a")]
#[case::another_tenant(scope("other", "s"), "a")]
#[tokio::test]
async fn an_artifact_of_another_session_is_not_there(
    #[values(Kind::Memory, Kind::Files)] kind: Kind,
    #[case] scope: Scope,
    #[case] id: &str,
) {
    let rig = Rig::new(kind);
    let artifact = rig.make(&me(), &session("a")).await.unwrap();
    rig.add(&artifact, "mine").await.unwrap();
    let stranger = session(id);
    // Also where the other session has artifacts of its own.
    for _ in 0..2 {
        let read = rig.store.read(&scope, &stranger, &artifact, 0, 9).await;
        assert!(matches!(read, Err(ArtifactError::NotFound(_))), "{read:?}");
        let add = rig
            .store
            .append(&scope, &stranger, &artifact, Bytes::from("x"))
            .await;
        assert!(matches!(add, Err(ArtifactError::NotFound(_))), "{add:?}");
        rig.make(&scope, &stranger).await.unwrap();
    }
    rig.store.delete_session(&scope, &stranger).await.unwrap();
    assert_eq!(rig.read(&artifact, 0, 9).await, "mine");
}

#[rstest]
#[case("art_0")]
#[case("x.data")]
#[case("...")]
#[tokio::test]
async fn an_id_that_was_made_up_is_not_there(
    #[values(Kind::Memory, Kind::Files)] kind: Kind,
    #[case] id: &str,
) {
    let rig = Rig::new(kind);
    rig.make(&me(), &session("a")).await.unwrap();
    let id = ArtifactId::new(id).unwrap();
    let read = rig.store.read(&me(), &session("a"), &id, 0, 9).await;
    assert!(matches!(read, Err(ArtifactError::NotFound(_))), "{read:?}");
}

#[rstest]
#[tokio::test]
async fn the_bounds_hold_and_what_was_there_stays(#[values(Kind::Memory, Kind::Files)] kind: Kind) {
    let rig = Rig::within(kind, SMALL);
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(rig.make(&me(), &session("a")).await.unwrap());
    }
    let many = rig.make(&me(), &session("a")).await;
    assert!(
        matches!(many, Err(ArtifactError::Unavailable { .. })),
        "{many:?}"
    );

    rig.add(&ids[0], "123456789").await.unwrap();
    let over = rig.add(&ids[0], "ab").await;
    assert!(
        matches!(over, Err(ArtifactError::TooLarge { limit: 10 })),
        "{over:?}"
    );
    assert_eq!(rig.read(&ids[0], 0, 99).await, "123456789");
    rig.add(&ids[0], "a").await.unwrap();

    rig.add(&ids[1], "1234567890").await.unwrap();
    let over = rig.add(&ids[2], "123456").await;
    assert!(
        matches!(over, Err(ArtifactError::Unavailable { .. })),
        "{over:?}"
    );
    rig.add(&ids[2], "12345").await.unwrap();

    rig.store
        .delete_session(&me(), &session("a"))
        .await
        .unwrap();
    let fresh = rig.make(&me(), &session("a")).await.unwrap();
    rig.add(&fresh, "1234567890").await.unwrap();
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_neither_lose_a_byte_nor_pass_the_bound(
    #[values(Kind::Memory, Kind::Files)] kind: Kind,
) {
    let limits = ArtifactLimits {
        one: 50,
        total: 1000,
        count: 9,
    };
    let rig = Rig::within(kind, limits);
    let id = rig.make(&me(), &session("a")).await.unwrap();
    let mut tasks = JoinSet::new();
    for _ in 0..30 {
        let (store, id) = (Arc::clone(&rig.store), id.clone());
        tasks.spawn(async move {
            store
                .append(&me(), &session("a"), &id, Bytes::from("abc"))
                .await
                .is_ok()
        });
    }
    let taken = tasks.join_all().await.into_iter().filter(|ok| *ok).count();
    assert_eq!(taken, 16);
    assert_eq!(rig.read(&id, 0, 99).await, "abc".repeat(16));
}

#[rstest]
#[tokio::test]
async fn a_deleted_session_has_no_artifacts(#[values(Kind::Memory, Kind::Files)] kind: Kind) {
    let rig = Rig::new(kind);
    let id = rig.make(&me(), &session("a")).await.unwrap();
    rig.store
        .delete_session(&me(), &session("a"))
        .await
        .unwrap();
    let read = rig.store.read(&me(), &session("a"), &id, 0, 9).await;
    assert!(matches!(read, Err(ArtifactError::NotFound(_))), "{read:?}");
    // Nothing to delete is nothing to complain about.
    rig.store
        .delete_session(&me(), &session("a"))
        .await
        .unwrap();
}

/// Another process, or the next one, counts what is there already.
#[tokio::test]
async fn the_bounds_count_what_was_there_before() {
    let rig = Rig::within(Kind::Files, SMALL);
    let a = rig.make(&me(), &session("a")).await.unwrap();
    let b = rig.make(&me(), &session("a")).await.unwrap();
    rig.add(&a, "1234567890").await.unwrap();
    rig.add(&b, "1234567890").await.unwrap();
    let root = rig.directory.path().join("a");
    let later = FileArtifacts::within(root, Arc::new(At(1)), SMALL);
    let new = NewArtifact {
        mime: "x/y".to_owned(),
        name: String::new(),
    };
    let c = later.create(&me(), &session("a"), new).await.unwrap();
    let add = async |text| {
        later
            .append(&me(), &session("a"), &c, Bytes::from_static(text))
            .await
    };
    let over = add(b"123456").await;
    assert!(
        matches!(over, Err(ArtifactError::Unavailable { .. })),
        "{over:?}"
    );
    add(b"12345").await.unwrap();
}

#[rstest]
#[case::the_file(true)]
#[case::the_directory(false)]
#[tokio::test]
async fn a_link_in_the_tree_is_not_followed(#[case] file: bool) {
    let rig = Rig::new(Kind::Files);
    let id = rig.make(&me(), &session("a")).await.unwrap();
    let elsewhere = rig.directory.path().join("elsewhere");
    let place = rig.directory.path().join("a/t/s/a");
    if file {
        std::fs::write(&elsewhere, "secret").unwrap();
        let data = place.join(format!("{id}.data"));
        std::fs::remove_file(&data).unwrap();
        symlink(&elsewhere, &data).unwrap();
    } else {
        std::fs::rename(&place, &elsewhere).unwrap();
        symlink(&elsewhere, &place).unwrap();
    }
    let read = rig.store.read(&me(), &session("a"), &id, 0, 9).await;
    assert!(matches!(read, Err(ArtifactError::Io { .. })), "{read:?}");
    let add = rig.add(&id, "x").await;
    assert!(matches!(add, Err(ArtifactError::Io { .. })), "{add:?}");
    if file {
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "secret");
    }
}

#[rstest]
#[case("../../etc", "..")]
#[case("", "")]
#[case("a/b", "c\0d")]
#[tokio::test]
async fn no_name_leads_out_of_the_tree(#[case] tenant: &str, #[case] subject: &str) {
    let rig = Rig::new(Kind::Files);
    let who = scope(tenant, subject);
    let id = rig.make(&who, &session("a")).await.unwrap();
    let place = rig
        .directory
        .path()
        .join("a")
        .join(path_segment(tenant))
        .join(path_segment(subject))
        .join("a");
    assert!(place.join(format!("{id}.data")).is_file());
    assert_eq!(std::fs::read_dir(rig.directory.path()).unwrap().count(), 1);
}
