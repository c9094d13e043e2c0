//! Appends to the file of a SQLite log: beside others, given up, and how much they write.

use outfitter_core::{AppendError, Seq};
use outfitter_store::SqliteLog;
use sqlx::Connection as _;

use crate::rig::{Kind, Rig, append, me, said, session};
use crate::sqlite_file::{connect, execute, number};

/// The change of a new file to WAL mode fails at once while somebody else writes; SQLite itself
/// does not wait for it.
#[tokio::test]
async fn a_new_file_that_another_process_is_writing_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("o.db");
    let mut other = connect(&file).await;
    let writing = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let opening = file.clone();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { SqliteLog::new(opening).ready().await });
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    assert!(tasks.try_join_next().is_none(), "it waits");
    writing.rollback().await.unwrap();
    tasks.join_next().await.unwrap().unwrap().unwrap();
}

/// A reader that never ends holds up no writer and no deletion.
#[tokio::test]
async fn a_long_read_holds_nobody_up() {
    let rig = Rig::new(Kind::Sqlite);
    let id = session("a");
    append(&*rig.log, &me(), &id, 0, vec![said("1")])
        .await
        .unwrap();
    let mut reader = connect(&rig.file()).await;
    let mut long = reader.begin().await.unwrap();
    let count = "SELECT count(*) FROM entries";
    let before: i64 = sqlx::query_scalar(count)
        .fetch_one(&mut *long)
        .await
        .unwrap();
    append(&*rig.log, &me(), &id, 1, vec![said("2")])
        .await
        .unwrap();
    rig.log.delete(&me(), &id).await.unwrap();
    let after: i64 = sqlx::query_scalar(count)
        .fetch_one(&mut *long)
        .await
        .unwrap();
    assert_eq!((before, after), (1, 1), "the reader sees one instant");
}

/// An append that is given up half way leaves all of it or nothing, and the log usable.
#[tokio::test]
async fn an_append_that_is_given_up_leaves_a_whole_log() {
    let rig = Rig::new(Kind::Sqlite);
    let id = session("a");
    append(&*rig.log, &me(), &id, 0, vec![said("1")])
        .await
        .unwrap();
    let mut head = 1;
    for polls in 0..12 {
        let entries = (0..40).map(|_| said("x".repeat(1000))).collect();
        {
            let me = me();
            let mut adding = std::pin::pin!(append(&*rig.log, &me, &id, head, entries));
            for _ in 0..polls {
                let step = futures_util::future::poll_immediate(adding.as_mut()).await;
                if step.is_some() {
                    break;
                }
                tokio::task::yield_now().await;
                std::thread::yield_now();
            }
        }
        // The next one finds out where the session is, as every writer does.
        head = match append(&*rig.log, &me(), &id, head, vec![said("y")]).await {
            Ok(head) => head.0,
            Err(AppendError::Conflict { head: now }) => {
                assert_eq!(now.0, head + 40, "all of it");
                now.0
            }
            Err(other) => panic!("{other:?}"),
        };
    }
    let page = rig.log.read(&me(), &id, Seq(1), 0).await.unwrap();
    assert_eq!(page.entries.len() as u64, head);
}

/// Whoever goes away in the middle of an append leaves no lock behind.
#[tokio::test]
async fn an_append_that_is_given_up_holds_no_other_log_up() {
    let rig = Rig::new(Kind::Sqlite);
    let other = SqliteLog::new(rig.file());
    let (mine, theirs) = (session("mine"), session("theirs"));
    append(&*rig.log, &me(), &mine, 0, vec![said("1")])
        .await
        .unwrap();
    for head in 0..12 {
        {
            let me = me();
            let entries = (0..40).map(|_| said("x".repeat(1000))).collect();
            let mut adding = std::pin::pin!(append(&*rig.log, &me, &mine, 1, entries));
            for _ in 0..head {
                let step = futures_util::future::poll_immediate(adding.as_mut()).await;
                if step.is_some() {
                    break;
                }
                tokio::task::yield_now().await;
                std::thread::yield_now();
            }
        }
        append(&other, &me(), &theirs, head, vec![said("y")])
            .await
            .unwrap();
    }
}

/// Many rows are several statements; none of them adds anything where the first was refused.
#[tokio::test]
async fn a_refused_append_of_many_entries_adds_none() {
    let rig = Rig::new(Kind::Sqlite);
    let id = session("a");
    append(&*rig.log, &me(), &id, 0, vec![said("1"), said("2")])
        .await
        .unwrap();
    for expected in [0, 1, 7] {
        let many = (0..100).map(|n| said(n.to_string())).collect();
        let refused = append(&*rig.log, &me(), &id, expected, many).await;
        assert!(
            matches!(refused, Err(AppendError::Conflict { head: Seq(2) })),
            "{refused:?}"
        );
    }
    assert_eq!(number(&rig.file(), "SELECT count(*) FROM entries").await, 2);
}

/// How many pages one append writes, counted in the write-ahead log.
async fn pages_of_one_append(rig: &Rig, head: u64) -> i64 {
    const EMPTY: &str = "PRAGMA wal_checkpoint(TRUNCATE)";
    let file = rig.file();
    execute(&file, EMPTY).await;
    let wal = file.with_extension("db-wal");
    assert_eq!(std::fs::metadata(&wal).unwrap().len(), 0);
    append(
        &*rig.log,
        &me(),
        &session("a"),
        head,
        vec![said("one more")],
    )
    .await
    .unwrap();
    // https://www.sqlite.org/fileformat2.html#walformat: a header of 32 bytes, then frames of a
    // header of 24 bytes and a page.
    let bytes = std::fs::metadata(&wal).unwrap().len();
    i64::try_from(bytes.saturating_sub(32) / (24 + 4096)).unwrap()
}

#[tokio::test]
async fn an_append_writes_as_little_at_fifty_thousand_entries_as_at_a_hundred() {
    let rig = Rig::new(Kind::Sqlite);
    let fill = async |from: u64, to: u64| {
        let mut head = from;
        while head < to {
            let count = (to - head).min(1_000);
            let entries = (0..count).map(|_| said("x".repeat(200))).collect();
            head = append(&*rig.log, &me(), &session("a"), head, entries)
                .await
                .unwrap()
                .0;
        }
    };
    fill(0, 100).await;
    let early = pages_of_one_append(&rig, 100).await;
    fill(101, 50_000).await;
    let late = pages_of_one_append(&rig, 50_000).await;
    assert!((1..=8).contains(&early), "{early} pages");
    assert!(late <= early + 2, "{late} pages, {early} before");

    // Reading the end does not read the rest.
    let page = rig.log.read(&me(), &session("a"), Seq(49_999), 0).await;
    assert_eq!(page.unwrap().entries.len(), 3);
}
