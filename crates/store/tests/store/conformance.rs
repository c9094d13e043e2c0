//! What every log does, memory and SQLite alike.

use std::sync::Arc;

use outfitter_core::{
    AppendError, Audience, CallId, DeltaKind, EntryBody, EventBody, Fence, Hash, Interrupt,
    InterruptId, InterruptKind, Log, Mention, MessageId, NewEntry, OnExpiry, PageRequest, Role,
    RunId, Seq, StoreError, Stream, UnixMs,
};
use rstest::rstest;
use tokio::task::JoinSet;

use crate::rig::{Kind, Rig, append, fenced, me, said, said_at, scope, session, text, texts};

#[rstest]
#[tokio::test]
async fn what_is_appended_is_read_back_in_order(#[values(Kind::Memory, Kind::Sqlite)] kind: Kind) {
    let rig = Rig::new(kind);
    let id = session("a");
    let head = append(&*rig.log, &me(), &id, 0, vec![said("1"), said("2")]).await;
    assert_eq!(head.unwrap(), Seq(2));
    let head = append(&*rig.log, &me(), &id, 2, vec![said("3")]).await;
    assert_eq!(head.unwrap(), Seq(3));

    let page = rig.log.read(&me(), &id, Seq(1), 0).await.unwrap();
    assert_eq!((page.head, page.fence, page.next), (Seq(3), Fence(1), None));
    let seqs: Vec<u64> = page.entries.iter().map(|entry| entry.seq.0).collect();
    assert_eq!(seqs, [1, 2, 3]);
    let expected = said("3");
    let last = &page.entries[2];
    assert_eq!(
        (&last.run, last.at, last.event, &last.body),
        (&expected.run, expected.at, expected.event, &expected.body)
    );
}

#[rstest]
#[tokio::test]
async fn a_writer_who_is_behind_is_told_where_the_session_is(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
    #[values(0, 1, 3, 1 << 40)] expected: u64,
) {
    let rig = Rig::new(kind);
    let id = session("a");
    append(&*rig.log, &me(), &id, 0, vec![said("1"), said("2")])
        .await
        .unwrap();
    let error = append(&*rig.log, &me(), &id, expected, vec![said("x")])
        .await
        .unwrap_err();
    assert!(
        matches!(error, AppendError::Conflict { head: Seq(2) }),
        "{error:?}"
    );
    assert_eq!(texts(&*rig.log, &me(), &id).await, ["1", "2"]);
}

#[rstest]
#[tokio::test]
async fn only_the_place_zero_makes_a_session(#[values(Kind::Memory, Kind::Sqlite)] kind: Kind) {
    let rig = Rig::new(kind);
    let error = append(&*rig.log, &me(), &session("a"), 1, vec![said("x")])
        .await
        .unwrap_err();
    assert!(
        matches!(error, AppendError::Store(StoreError::NotFound(_))),
        "{error:?}"
    );
    let error = rig.log.read(&me(), &session("a"), Seq(1), 0).await;
    assert!(matches!(error, Err(StoreError::NotFound(_))), "{error:?}");
}

#[rstest]
#[tokio::test]
async fn an_append_of_nothing_and_an_ephemeral_event_are_refused(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    let rig = Rig::new(kind);
    let id = session("a");
    let mut delta = said("x");
    delta.body = EntryBody::Event(EventBody::Delta {
        message_id: MessageId::new("m").unwrap(),
        kind: DeltaKind::Text,
        text: "x".to_owned(),
        tool_call_id: None,
    });
    let mut progress = said("x");
    progress.body = EntryBody::Event(EventBody::ToolProgress {
        tool_call_id: CallId::new("c").unwrap(),
        text: "x".to_owned(),
        stream: Stream::Stdout,
        closed: false,
        dropped_bytes: 0,
    });
    for entries in [vec![], vec![said("1"), delta], vec![progress]] {
        let error = append(&*rig.log, &me(), &id, 0, entries).await.unwrap_err();
        assert!(
            matches!(error, AppendError::Store(StoreError::Backend { .. })),
            "{error:?}"
        );
    }
    let error = rig.log.read(&me(), &id, Seq(1), 0).await;
    assert!(matches!(error, Err(StoreError::NotFound(_))), "{error:?}");
}

#[rstest]
#[tokio::test]
async fn a_later_run_takes_over_and_an_earlier_one_is_out(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    let rig = Rig::new(kind);
    let id = session("a");
    let log = &*rig.log;
    fenced(log, &me(), &id, 0, 5, vec![said("1")])
        .await
        .unwrap();
    fenced(log, &me(), &id, 1, 5, vec![said("equal")])
        .await
        .unwrap();
    fenced(log, &me(), &id, 2, 9, vec![said("higher")])
        .await
        .unwrap();
    // Also one that knows the place, and one that does not: it must not try again.
    for expected in [3, 2, 0] {
        let error = fenced(log, &me(), &id, expected, 8, vec![said("lower")])
            .await
            .unwrap_err();
        assert!(
            matches!(error, AppendError::Fenced { fence: Fence(9) }),
            "{error:?}"
        );
    }
    let page = log.read(&me(), &id, Seq(1), 0).await.unwrap();
    assert_eq!((page.head, page.fence), (Seq(3), Fence(9)));
}

#[rstest]
#[case::another_subject(scope("t", "other"))]
#[case::another_tenant(scope("other", "s"))]
#[case::the_two_the_other_way_round(scope("s", "t"))]
#[case::the_two_run_together(scope("ts", ""))]
#[tokio::test]
async fn a_session_of_somebody_else_is_not_there(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
    #[case] stranger: outfitter_core::Scope,
) {
    let rig = Rig::new(kind);
    let id = session("a");
    let log = &*rig.log;
    append(log, &me(), &id, 0, vec![said("mine")])
        .await
        .unwrap();

    let read = log.read(&stranger, &id, Seq(1), 0).await;
    assert!(matches!(read, Err(StoreError::NotFound(_))), "{read:?}");
    let delete = log.delete(&stranger, &id).await;
    assert!(matches!(delete, Err(StoreError::NotFound(_))), "{delete:?}");
    let added = append(log, &stranger, &id, 1, vec![said("x")]).await;
    assert!(
        matches!(added, Err(AppendError::Store(StoreError::NotFound(_)))),
        "{added:?}"
    );
    let listed = log.list(&stranger, PageRequest::default()).await.unwrap();
    assert_eq!(listed.sessions, []);

    // The same id is theirs to use, and neither sees the other.
    append(log, &stranger, &id, 0, vec![said("theirs")])
        .await
        .unwrap();
    assert_eq!(texts(log, &me(), &id).await, ["mine"]);
    assert_eq!(texts(log, &stranger, &id).await, ["theirs"]);
    log.delete(&stranger, &id).await.unwrap();
    assert_eq!(texts(log, &me(), &id).await, ["mine"]);
}

#[rstest]
#[tokio::test]
async fn a_scope_may_have_any_text_in_it(#[values(Kind::Memory, Kind::Sqlite)] kind: Kind) {
    let rig = Rig::new(kind);
    let id = session("a");
    let scopes = [
        scope("", ""),
        scope("a\0b", "ü"),
        scope("a\0", "bü"),
        scope("a", "\0bü"),
        scope("' OR 1=1 --", "%"),
    ];
    for (at, scope) in scopes.iter().enumerate() {
        append(&*rig.log, scope, &id, 0, vec![said(at.to_string())])
            .await
            .unwrap();
    }
    for (at, scope) in scopes.iter().enumerate() {
        assert_eq!(texts(&*rig.log, scope, &id).await, [at.to_string()]);
    }
}

#[rstest]
#[tokio::test]
async fn a_long_session_is_read_page_by_page(#[values(Kind::Memory, Kind::Sqlite)] kind: Kind) {
    let rig = Rig::new(kind);
    let id = session("a");
    let entries = (1..=7).map(|at| said(at.to_string())).collect();
    append(&*rig.log, &me(), &id, 0, entries).await.unwrap();
    let mut pages = Vec::new();
    let mut from = Some(Seq(0));
    while let Some(place) = from {
        let page = rig.log.read(&me(), &id, place, 3).await.unwrap();
        assert_eq!(page.head, Seq(7));
        pages.push(
            page.entries
                .iter()
                .map(|entry| text(&entry.body))
                .collect::<String>(),
        );
        from = page.next;
    }
    assert_eq!(pages, ["123", "456", "7"]);
    for beyond in [8, u64::MAX] {
        let page = rig.log.read(&me(), &id, Seq(beyond), 3).await.unwrap();
        assert_eq!(
            (page.entries.len(), page.next, page.head),
            (0, None, Seq(7))
        );
    }
}

#[rstest]
#[tokio::test]
async fn sessions_are_listed_the_last_changed_first_page_by_page(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    let rig = Rig::new(kind);
    let log = &*rig.log;
    for (id, at) in [("b", 20), ("a", 20), ("old", 10), ("new", 30), ("B", 20)] {
        append(log, &me(), &session(id), 0, vec![said_at(at, "x")])
            .await
            .unwrap();
    }
    append(log, &me(), &session("old"), 1, vec![said_at(40, "y")])
        .await
        .unwrap();

    let mut pages = Vec::new();
    let mut page = PageRequest {
        after: None,
        limit: 2,
    };
    loop {
        let listed = log.list(&me(), page.clone()).await.unwrap();
        let ids: Vec<String> = listed
            .sessions
            .iter()
            .map(|session| session.id.to_string())
            .collect();
        pages.push(ids);
        match listed.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    assert_eq!(pages, [vec!["old", "new"], vec!["B", "a"], vec!["b"]]);

    let first = &log
        .list(&me(), PageRequest::default())
        .await
        .unwrap()
        .sessions[0];
    assert_eq!(
        (first.created, first.updated, first.entries),
        (UnixMs(10), UnixMs(40), 2)
    );

    page.after = Some(session("gone"));
    let lost = log.list(&me(), page).await;
    assert!(matches!(lost, Err(StoreError::NotFound(_))), "{lost:?}");
}

#[rstest]
#[tokio::test]
async fn a_deleted_session_is_gone_and_its_id_is_free(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    let rig = Rig::new(kind);
    let log = &*rig.log;
    let (id, other) = (session("a"), session("b"));
    fenced(log, &me(), &id, 0, 9, vec![said("1"), said("2")])
        .await
        .unwrap();
    append(log, &me(), &other, 0, vec![said("kept")])
        .await
        .unwrap();
    log.delete(&me(), &id).await.unwrap();

    let read = log.read(&me(), &id, Seq(1), 0).await;
    assert!(matches!(read, Err(StoreError::NotFound(_))), "{read:?}");
    let again = log.delete(&me(), &id).await;
    assert!(matches!(again, Err(StoreError::NotFound(_))), "{again:?}");
    let listed = log.list(&me(), PageRequest::default()).await.unwrap();
    assert_eq!(listed.sessions.len(), 1);

    // The old fence went with it.
    append(log, &me(), &id, 0, vec![said("fresh")])
        .await
        .unwrap();
    assert_eq!(texts(log, &me(), &id).await, ["fresh"]);
    assert_eq!(texts(log, &me(), &other).await, ["kept"]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_writers_and_a_reader_on_one_session(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    const WRITERS: usize = 16;
    const EACH: usize = 8;
    let rig = Rig::new(kind);
    let id = session("a");
    append(&*rig.log, &me(), &id, 0, vec![said("first")])
        .await
        .unwrap();

    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let (log, id) = (Arc::clone(&rig.log), id.clone());
        tasks.spawn(async move {
            let mut head = 0;
            for at in 0..EACH {
                // Two at a time: nobody else's may come between.
                let both = || {
                    vec![
                        said(format!("{writer} {at} a")),
                        said(format!("{writer} {at} b")),
                    ]
                };
                loop {
                    match append(&*log, &me(), &id, head, both()).await {
                        Ok(Seq(now)) => break head = now,
                        Err(AppendError::Conflict { head: Seq(now) }) => head = now,
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        });
    }
    let (log, reading) = (Arc::clone(&rig.log), id.clone());
    tasks.spawn(async move {
        let mut seen = 0;
        while seen < 1 + 2 * WRITERS * EACH {
            let page = log.read(&me(), &reading, Seq(1), 0).await.unwrap();
            let last = page.entries.last().unwrap().seq;
            assert_eq!(last, page.head, "a page is of one instant");
            assert_eq!(page.entries.len() as u64, last.0, "no gaps");
            assert_eq!(last.0 % 2, 1, "an append is seen whole");
            assert!(page.entries.len() >= seen, "nothing is unsaid");
            seen = page.entries.len();
            tokio::task::yield_now().await;
        }
    });
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }

    let all = texts(&*rig.log, &me(), &id).await;
    assert_eq!(all.len(), 1 + 2 * WRITERS * EACH);
    for pair in all[1..].chunks(2) {
        assert_eq!(
            pair[0].strip_suffix('a'),
            pair[1].strip_suffix('b'),
            "what was appended together stands together"
        );
    }
    let mut unique = all.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), all.len());
}

#[tokio::test]
async fn memory_is_bounded() {
    let log = outfitter_store::MemoryLog::holding(2);
    append(&log, &me(), &session("a"), 0, vec![said("1"), said("2")])
        .await
        .unwrap();
    let full = append(&log, &me(), &session("b"), 0, vec![said("3")]).await;
    assert!(
        matches!(full, Err(AppendError::Store(StoreError::Backend { .. }))),
        "{full:?}"
    );
    log.delete(&me(), &session("a")).await.unwrap();
    append(&log, &me(), &session("b"), 0, vec![said("3")])
        .await
        .unwrap();
}

fn asked(id: &str) -> NewEntry {
    let interrupt = Interrupt {
        id: InterruptId::new(id).unwrap(),
        call: CallId::new("c").unwrap(),
        kind: InterruptKind::Delay,
        schema: None,
        audience: Audience {
            tenant: "t".into(),
            subject: "s".into(),
            min_role: Role::Guest,
        },
        expires: UnixMs(1),
        on_expiry: OnExpiry::Cancel,
        args_hash: Hash::of(b""),
        state: serde_json::json!({ "id": "int_inner" }),
    };
    NewEntry {
        body: EntryBody::Event(EventBody::Interrupt(Box::new(interrupt))),
        ..said("")
    }
}

#[rstest]
#[tokio::test]
async fn the_session_of_a_run_and_of_an_interrupt_is_found_in_its_scope_only(
    #[values(Kind::Memory, Kind::Sqlite)] kind: Kind,
) {
    let rig = Rig::new(kind);
    for (at, id) in ["a", "b", "c"].into_iter().enumerate() {
        let mut entries = vec![said("int_b"), asked(&format!("int_{id}"))];
        for entry in &mut entries {
            entry.run = RunId::new(format!("run_{id}")).unwrap();
            entry.at = UnixMs(at as u64);
        }
        append(&*rig.log, &me(), &session(id), 0, entries)
            .await
            .unwrap();
    }
    let (run, interrupt) = (
        RunId::new("run_b").unwrap(),
        InterruptId::new("int_b").unwrap(),
    );
    for what in [Mention::Run(&run), Mention::Interrupt(&interrupt)] {
        let found = rig.log.find(&me(), what).await.unwrap();
        assert_eq!(found, Some(session("b")), "{what:?}");
        let other = rig.log.find(&scope("t", "other"), what).await.unwrap();
        assert_eq!(other, None, "{what:?}");
    }
    let (run, interrupt) = (
        RunId::new("run_d").unwrap(),
        InterruptId::new("int_inner").unwrap(),
    );
    for what in [Mention::Run(&run), Mention::Interrupt(&interrupt)] {
        assert_eq!(rig.log.find(&me(), what).await.unwrap(), None, "{what:?}");
    }
}
