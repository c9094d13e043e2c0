//! Approvals that hold beyond their session, in every kind of store.

use std::sync::Arc;

use outfitter_core::{
    ApprovalId, ApprovalStore, Hash, InterruptId, MAX_STANDING_APPROVALS, Role, SessionId,
    StandingApproval, ToolName, UnixMs,
};
use outfitter_store::{MemoryLog, SqliteLog};
use rstest::rstest;
use tempfile::TempDir;

use crate::rig::{Kind, me, scope};

struct Kept {
    store: Arc<dyn ApprovalStore>,
    directory: TempDir,
}

impl Kept {
    fn new(kind: Kind) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store: Arc<dyn ApprovalStore> = match kind {
            Kind::Memory => Arc::new(MemoryLog::new()),
            Kind::Sqlite => Arc::new(SqliteLog::new(directory.path().join("o.db"))),
        };
        Self { store, directory }
    }

    async fn ids(&self) -> Vec<String> {
        let all = self.store.standing(&me()).await.unwrap();
        all.iter().map(|approval| approval.id.to_string()).collect()
    }
}

fn approval(id: &str, at: u64, expires: u64) -> StandingApproval {
    StandingApproval {
        id: ApprovalId::new(id).unwrap(),
        parts: vec![Hash::of(b"one"), Hash::of(b"two")],
        place: "/srv/project".to_owned(),
        tool: ToolName::new("run_command").unwrap(),
        what: vec!["git push".to_owned(), "'quoted' \u{1f600}".to_owned()],
        role: Role::Admin,
        session: SessionId::new("s").unwrap(),
        interrupt: InterruptId::new(format!("int_{id}")).unwrap(),
        at: UnixMs(at),
        expires: UnixMs(expires),
    }
}

#[rstest]
#[tokio::test]
async fn what_is_kept_is_given_back_whole_the_last_first(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    let kept = Kept::new(kind);
    for one in [
        approval("a", 1, 100),
        approval("b", 3, 100),
        approval("c", 2, 100),
    ] {
        kept.store.remember(&me(), one).await.unwrap();
    }
    assert_eq!(kept.ids().await, ["b", "c", "a"]);
    let all = kept.store.standing(&me()).await.unwrap();
    assert_eq!(all[2], approval("a", 1, 100));
}

#[rstest]
#[tokio::test]
async fn another_persons_are_neither_seen_nor_taken_back(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    let kept = Kept::new(kind);
    kept.store
        .remember(&me(), approval("a", 1, 9))
        .await
        .unwrap();
    let id = ApprovalId::new("a").unwrap();
    for other in [scope("t", "other"), scope("other", "s")] {
        assert_eq!(kept.store.standing(&other).await.unwrap(), []);
        assert!(!kept.store.revoke(&other, &id).await.unwrap());
    }
    assert_eq!(kept.ids().await, ["a"]);
    assert!(kept.store.revoke(&me(), &id).await.unwrap());
    assert!(!kept.store.revoke(&me(), &id).await.unwrap());
    assert_eq!(kept.ids().await, [""; 0]);
}

#[rstest]
#[tokio::test]
async fn one_answer_makes_one_approval(#[values(Kind::Memory, Kind::Sqlite)] kind: Kind) {
    let kept = Kept::new(kind);
    let first = approval("a", 1, 9);
    let again = StandingApproval {
        id: ApprovalId::new("b").unwrap(),
        expires: UnixMs(99),
        ..first.clone()
    };
    kept.store.remember(&me(), first.clone()).await.unwrap();
    kept.store.remember(&me(), again).await.unwrap();
    assert_eq!(kept.store.standing(&me()).await.unwrap(), [first]);
}

#[rstest]
#[tokio::test]
async fn there_is_a_bound_and_what_has_expired_makes_room(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    let kept = Kept::new(kind);
    for number in 0..MAX_STANDING_APPROVALS {
        let one = approval(&format!("a{number}"), 1, 50);
        kept.store.remember(&me(), one).await.unwrap();
    }
    let error = kept.store.remember(&me(), approval("more", 49, 90)).await;
    assert!(error.unwrap_err().to_string().contains("take some back"));
    assert_eq!(kept.ids().await.len(), MAX_STANDING_APPROVALS);
    kept.store
        .remember(&me(), approval("more", 50, 90))
        .await
        .unwrap();
    assert_eq!(kept.ids().await, ["more"]);
}

#[tokio::test]
async fn they_outlive_the_process_and_a_file_of_before_gets_room_for_them() {
    let kept = Kept::new(Kind::Sqlite);
    kept.store
        .remember(&me(), approval("a", 1, 9))
        .await
        .unwrap();
    let again = SqliteLog::new(kept.directory.path().join("o.db"));
    assert_eq!(again.standing(&me()).await.unwrap(), [approval("a", 1, 9)]);
}
