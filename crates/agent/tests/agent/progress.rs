//! Live progress.

use std::sync::Arc;
use std::time::Duration;

use outfitter_agent::{EventQueue, Input, ProgressSettings};
use outfitter_core::*;
use serde_json::json;

use crate::harness::*;

type Printing = Arc<dyn Fn(&Progress) + Send + Sync>;

fn printing(print: Printing) -> Counting {
    Counting::new(
        "print",
        Effects::READ,
        Arc::new(move |cx, _| {
            let print = print.clone();
            Box::pin(async move {
                print(&cx.progress);
                Ok(Outcome::json(json!("printed")).into())
            })
        }),
    )
}

fn once() -> Script {
    Arc::new(|replies, _| match replies {
        0 => calls(&[("p", "print", "{}")]),
        _ => say("done"),
    })
}

fn shown(events: &[Arc<Event>]) -> Vec<(String, Stream, bool, u64)> {
    bodies(events)
        .iter()
        .filter_map(|body| match body {
            EventBody::ToolProgress {
                text,
                stream,
                closed,
                dropped_bytes,
                ..
            } => Some((text.clone(), *stream, *closed, *dropped_bytes)),
            _ => None,
        })
        .collect()
}

async fn progress_of(
    settings: ProgressSettings,
    print: Printing,
) -> Vec<(String, Stream, bool, u64)> {
    let mut world = World::new(vec![Arc::new(printing(print))]);
    world.settings.progress = settings;
    let (_, events) = world.alive(once()).prompt("go").await;
    shown(&events)
}

#[tokio::test]
async fn small_pieces_are_merged_streams_keep_their_order_and_closed_comes_last() {
    let pieces = progress_of(
        ProgressSettings::default(),
        Arc::new(|progress| {
            progress.emit(Stream::Stdout, b"out");
            progress.emit(Stream::Stdout, b"1\n");
            progress.emit(Stream::Stderr, b"err1\n");
            progress.emit(Stream::Stdout, b"out2\n");
        }),
    )
    .await;
    let expected = [
        ("out1\n", Stream::Stdout, false, 0),
        ("err1\n", Stream::Stderr, false, 0),
        ("out2\n", Stream::Stdout, false, 0),
        ("", Stream::Info, true, 0),
    ];
    let expected: Vec<_> = expected
        .map(|(t, s, c, d)| (t.to_owned(), s, c, d))
        .to_vec();
    assert_eq!(pieces, expected);
}

#[tokio::test]
async fn with_no_interval_each_piece_is_shown_at_once() {
    let settings = ProgressSettings {
        flush_interval: Duration::ZERO,
        ..ProgressSettings::default()
    };
    let pieces = progress_of(
        settings,
        Arc::new(|progress| {
            progress.emit(Stream::Stdout, b"a");
            progress.emit(Stream::Stdout, b"b");
        }),
    )
    .await;
    let texts: Vec<&str> = pieces.iter().map(|piece| &*piece.0).collect();
    assert_eq!(texts, ["a", "b", ""]);
}

#[tokio::test]
async fn the_threshold_counts_bytes_not_characters() {
    let pieces = progress_of(
        ProgressSettings {
            flush_interval: Duration::from_secs(3600),
            ..ProgressSettings::default()
        },
        Arc::new(|progress| {
            for _ in 0..2 {
                progress.emit(Stream::Stdout, "汉".repeat(16 * 1024 / 3 + 1).as_bytes());
            }
        }),
    )
    .await;
    assert_eq!(pieces.len(), 3, "two flushes and the closing one");
}

#[tokio::test]
async fn a_character_split_over_pieces_is_shown_whole() {
    let settings = ProgressSettings {
        flush_interval: Duration::ZERO,
        ..ProgressSettings::default()
    };
    let pieces = progress_of(
        settings,
        Arc::new(|progress| {
            for byte in "🦀!".as_bytes() {
                progress.emit(Stream::Stdout, &[*byte]);
            }
            progress.emit(Stream::Stdout, &"é".as_bytes()[..1]);
        }),
    )
    .await;
    let text: String = pieces.iter().map(|piece| &*piece.0).collect();
    assert_eq!(text, "🦀!\u{fffd}");
}

#[tokio::test]
async fn a_tool_that_prints_nothing_closes_nothing() {
    assert!(
        progress_of(ProgressSettings::default(), Arc::new(|_| {}))
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn switched_off_there_is_no_progress() {
    let settings = ProgressSettings {
        enabled: false,
        ..ProgressSettings::default()
    };
    let printed = progress_of(settings, Arc::new(|p| p.emit(Stream::Stdout, b"x"))).await;
    assert!(printed.is_empty());
}

/// What waits for a person is not progress.
#[tokio::test]
async fn switched_off_a_person_is_asked_all_the_same() {
    let tool = Arc::new(Counting::echo("fetch", Effects::of(&[Effect::Network])));
    let mut world = World::new(vec![tool]);
    world.attended = Attended::Yes;
    world.settings.progress.enabled = false;
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => calls(&[("f", "fetch", "{}")]),
        _ => say("done"),
    }));
    let (end, events) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Waiting);
    let asked = bodies(&events);
    let mut asked = asked
        .iter()
        .filter(|body| matches!(body, EventBody::Interrupt(_)));
    assert!(asked.next().is_some() && asked.next().is_none());
}

#[tokio::test]
async fn nothing_is_shown_after_a_tool_has_closed_its_progress() {
    let pieces = progress_of(
        ProgressSettings::default(),
        Arc::new(|progress| {
            progress.emit(Stream::Stdout, b"before");
            progress.close();
            progress.emit(Stream::Stdout, b"after");
        }),
    )
    .await;
    let texts: Vec<&str> = pieces.iter().map(|piece| &*piece.0).collect();
    assert_eq!(texts, ["before", ""]);
}

#[tokio::test]
async fn what_a_tool_has_lost_is_said_with_the_next_piece_or_at_the_end() {
    let pieces = progress_of(
        ProgressSettings::default(),
        Arc::new(|progress| {
            progress.emit(Stream::Stdout, "a汉".as_bytes().split_last().unwrap().1);
            progress.lost(Stream::Stdout, 100);
            progress.emit(Stream::Stdout, b"b");
            progress.lost(Stream::Stderr, 7);
        }),
    )
    .await;
    let expected = [
        ("a", Stream::Stdout, false, 0),
        // With the character that was begun and will not be ended.
        ("b", Stream::Stdout, false, 102),
        ("", Stream::Stderr, false, 7),
        ("", Stream::Info, true, 0),
    ];
    assert_eq!(pieces, expected.map(|(t, s, c, d)| (t.to_owned(), s, c, d)));
}

/// Progress belongs to a call of a run: the end of one run silences no other.
#[tokio::test]
async fn every_run_of_a_session_is_watched() {
    let tool = printing(Arc::new(|progress| progress.emit(Stream::Stdout, b"here")));
    let world = World::new(vec![Arc::new(tool)]);
    let process = world.alive(Arc::new(|replies, request| {
        match request.messages.last().map(|last| last.role) {
            Some(MessageRole::User) => calls(&[(&format!("p{replies}"), "print", "{}")]),
            _ => say("done"),
        }
    }));
    for _ in 0..3 {
        let (_, events) = process.prompt("go").await;
        assert_eq!(shown(&events)[0].0, "here");
    }
}

/// Bytes that wait for a reader are counted, not timed: a reader that never comes costs no more
/// than the buffers hold, however much is printed.
#[tokio::test]
async fn what_waits_for_a_reader_is_bounded_in_bytes() {
    const PIECE: usize = 1024 * 1024;
    const MOST: usize = 6 * 1024 * 1024;
    let world = World::new(vec![Arc::new(printing(Arc::new(|progress| {
        let piece = vec![b'x'; PIECE];
        for _ in 0..50 {
            progress.emit(Stream::Stdout, &piece);
        }
    })))]);
    let process = world.alive(once());
    let queue = EventQueue::new();
    let input = Input::Prompt("go".to_owned());
    let run = process
        .agent
        .run(&process.session, input, Cancel::new(), queue.clone());
    run.await.unwrap();
    let (mut held, mut dropped) = (0, 0);
    while let Some(event) = queue.next().await {
        if let EventBody::ToolProgress {
            text,
            dropped_bytes,
            ..
        } = &event.body
        {
            held += text.len();
            dropped += dropped_bytes;
        }
    }
    assert!(held <= MOST, "{held} bytes were held");
    assert_eq!(held as u64 + dropped, 50 * PIECE as u64, "whole, or said");
}

/// A reader that is never further behind than the buffers are large gets all of 50 MB.
#[tokio::test]
async fn a_burst_that_is_read_arrives_whole() {
    const PIECE: u64 = 64 * 1024;
    const PIECES: u64 = 800;
    const BEHIND: u64 = 2 * 1024 * 1024;
    let (read, seen) = tokio::sync::watch::channel(0_u64);
    let act: Act = Arc::new(move |cx, _| {
        let mut seen = seen.clone();
        Box::pin(async move {
            let piece = vec![b'x'; PIECE as usize];
            for printed in 1..=PIECES {
                cx.progress.emit(Stream::Stdout, &piece);
                let behind = |read: &u64| printed * PIECE <= read + BEHIND;
                seen.wait_for(behind).await.unwrap();
            }
            Ok(Outcome::json(json!("printed")).into())
        })
    });
    let world = World::new(vec![Arc::new(Counting::new("print", Effects::READ, act))]);
    let process = world.alive(once());
    let queue = EventQueue::new();
    let input = Input::Prompt("go".to_owned());
    let run = process
        .agent
        .run(&process.session, input, Cancel::new(), queue.clone());
    let reading = async {
        let mut lost = 0;
        while let Some(event) = queue.next().await {
            if let EventBody::ToolProgress {
                text,
                dropped_bytes,
                ..
            } = &event.body
            {
                read.send_modify(|read| *read += text.len() as u64);
                lost += dropped_bytes;
            }
        }
        lost
    };
    let (end, lost) = tokio::join!(run, reading);
    end.unwrap();
    assert_eq!((*read.borrow(), lost), (PIECE * PIECES, 0));
}

#[tokio::test]
async fn a_burst_nobody_reads_says_what_it_dropped_and_never_waits() {
    const PIECE: usize = 64 * 1024;
    const PIECES: usize = 800;
    let world = World::new(vec![Arc::new(printing(Arc::new(|progress| {
        let piece = vec![b'x'; PIECE];
        for _ in 0..PIECES {
            progress.emit(Stream::Stdout, &piece);
        }
    })))]);
    let process = world.alive(once());
    // Nobody reads this queue until the run is over.
    let queue = EventQueue::new();
    let input = Input::Prompt("go".to_owned());
    process
        .agent
        .run(&process.session, input, Cancel::new(), queue.clone())
        .await
        .unwrap();
    let mut events = Vec::new();
    while let Some(event) = queue.next().await {
        events.push(event);
    }
    check_order(&events);
    let pieces = shown(&events);
    let arrived: usize = pieces.iter().map(|piece| piece.0.len()).sum();
    let dropped: u64 = pieces.iter().map(|piece| piece.3).sum();
    assert_eq!(
        arrived as u64 + dropped,
        (PIECE * PIECES) as u64,
        "whole, or said"
    );
    assert!(dropped > 0 && pieces.len() < 400, "memory is bounded");
}
