//! Whatever is appended is read back as it was.

use outfitter_core::{Answer, AnswerKind, EntryBody, InterruptId, NewEntry, Seq, UnixMs};
use outfitter_store::MAX_BODY_DEPTH;
use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use crate::any_entry::entry;
use crate::rig::{Kind, Rig, append, me, said, session};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

async fn what_goes_in_comes_out(kind: Kind, appends: &[Vec<NewEntry>]) {
    let rig = Rig::new(kind);
    let id = session("a");
    let mut head = 0;
    for entries in appends {
        head = append(&*rig.log, &me(), &id, head, entries.clone())
            .await
            .unwrap()
            .0;
    }
    let page = rig.log.read(&me(), &id, Seq(1), 0).await.unwrap();
    let read: Vec<NewEntry> = page
        .entries
        .iter()
        .map(|entry| NewEntry {
            run: entry.run.clone(),
            at: entry.at,
            event: entry.event,
            body: entry.body.clone(),
        })
        .collect();
    assert_eq!(read, appends.concat());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_appends_to_sqlite_read_back(appends in vec(vec(entry(), 1..5), 1..5)) {
        runtime().block_on(what_goes_in_comes_out(Kind::Sqlite, &appends));
    }

    #[test]
    fn any_appends_to_memory_read_back(appends in vec(vec(entry(), 1..5), 1..5)) {
        runtime().block_on(what_goes_in_comes_out(Kind::Memory, &appends));
    }
}

/// More rows than one statement inserts, and one row that fills many pages.
#[rstest]
#[tokio::test]
async fn a_large_append_reads_back(#[values(Kind::Memory, Kind::Sqlite)] kind: Kind) {
    let many: Vec<NewEntry> = (0..100).map(|at| said(at.to_string())).collect();
    let large = vec![said("ä\0😀".repeat(300_000))];
    what_goes_in_comes_out(kind, &[many, large]).await;
}

/// What a page holds is bounded in bytes too, so that no one read fills the memory.
#[tokio::test]
async fn a_page_of_large_entries_is_short() {
    let rig = Rig::new(Kind::Sqlite);
    let large = || said("x".repeat(12 << 20));
    append(
        &*rig.log,
        &me(),
        &session("a"),
        0,
        (0..4).map(|_| large()).collect(),
    )
    .await
    .unwrap();
    let page = rig.log.read(&me(), &session("a"), Seq(1), 0).await.unwrap();
    assert_eq!((page.entries.len(), page.next), (3, Some(Seq(4))));
    let page = rig.log.read(&me(), &session("a"), Seq(4), 0).await.unwrap();
    assert_eq!((page.entries.len(), page.next), (1, None));
}

fn nested(levels: usize) -> NewEntry {
    let value = (0..levels).fold(Value::Null, |inner, level| match level % 2 {
        0 => json!([inner]),
        _ => json!({"a": inner}),
    });
    let mut entry = said("");
    entry.body = EntryBody::Answer(Answer {
        interrupt: InterruptId::new("i").unwrap(),
        by: AnswerKind::Expired,
        value,
        at: UnixMs(1),
    });
    entry
}

/// A value may nest as deep as models may write it and our own wrapping comes on top; on a thread
/// of a runtime, whose stack is small.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_nests_deep_reads_back_and_what_nests_too_deep_is_not_taken() {
    let done = tokio::task::JoinSet::from_iter([async {
        what_goes_in_comes_out(Kind::Sqlite, &[vec![nested(128)], vec![nested(190)]]).await;
        let rig = Rig::new(Kind::Sqlite);
        let deep = append(
            &*rig.log,
            &me(),
            &session("a"),
            0,
            vec![nested(MAX_BODY_DEPTH)],
        )
        .await;
        assert!(deep.is_err(), "it would never read back");
    }]);
    done.join_all().await;
}
