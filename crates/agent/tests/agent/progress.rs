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
