//! `read_artifact`.

use outfitter_core::{Code, SessionId, Status};
use outfitter_text::tokens::{Fit, fits};
use outfitter_tools::{PipelineOptions, read_artifact};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::World;

fn world(tokens: usize) -> World {
    World::of(vec![read_artifact(tokens)]).options(PipelineOptions {
        max_result_tokens: tokens,
        ..PipelineOptions::default()
    })
}

async fn read(world: &World, args: Value) -> Value {
    let output = world.output("read_artifact", &args.to_string()).await;
    assert_eq!(output.status, Status::Success, "{:?}", output.error);
    assert_eq!(output.truncated, None, "it made another artifact");
    output.result.clone().unwrap()
}

#[tokio::test]
async fn a_part_is_given_with_the_place_of_the_next() {
    let world = world(12_000);
    world.artifacts.put(
        &world.run.session,
        "art_x",
        "text/plain",
        "aé漢z".as_bytes(),
    );
    let whole = read(&world, json!({"id": "art_x"})).await;
    assert_eq!(
        whole,
        json!({"text": "aé漢z", "offset": 0, "total_bytes": 7})
    );
    // The limit falls into the second character, which is given whole.
    let first = read(&world, json!({"id": "art_x", "limit": 2})).await;
    assert_eq!(
        first,
        json!({"text": "aé", "offset": 0, "next_offset": 3, "total_bytes": 7})
    );
    // The offset falls into the third, which is left out and said so.
    let later = read(&world, json!({"id": "art_x", "offset": 4})).await;
    assert_eq!(later, json!({"text": "z", "offset": 6, "total_bytes": 7}));
    let beyond = read(&world, json!({"id": "art_x", "offset": 700})).await;
    assert_eq!(beyond, json!({"text": "", "offset": 700, "total_bytes": 7}));
}

#[tokio::test]
async fn what_is_no_text_is_described() {
    let world = world(12_000);
    world.artifacts.put(
        &world.run.session,
        "art_b",
        "image/png",
        &[0, 0, 1, 2, 0, 0],
    );
    insta::assert_json_snapshot!(read(&world, json!({"id": "art_b"})).await);
}

#[tokio::test]
async fn another_sessions_artifact_is_not_found() {
    let world = world(12_000);
    let other = SessionId::new("other").unwrap();
    world
        .artifacts
        .put(&other, "art_x", "text/plain", b"theirs");
    for id in ["art_x", "no such/id"] {
        let raw = json!({"id": id}).to_string();
        let output = world.output("read_artifact", &raw).await;
        assert_eq!(output.error.as_ref().unwrap().code, Code::NotFound);
    }
}

#[tokio::test]
async fn its_answer_is_never_too_long_to_read() {
    const TOKENS: usize = 500;
    let world = world(TOKENS);
    let text = "\u{1}\"漢字\\ ".repeat(4000);
    world
        .artifacts
        .put(&world.run.session, "art_x", "text/plain", text.as_bytes());
    read(&world, json!({"id": "art_x", "limit": 65_536})).await;
    assert_eq!(fits(&world.read_by_model(), TOKENS), Fit::Within);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn following_the_offsets_reads_all_of_it_once(text in "\\PC{0,200}", limit in 1..40u64) {
        let world = world(12_000);
        world.artifacts.put(&world.run.session, "art_x", "text/plain", text.as_bytes());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (mut all, mut offset) = (String::new(), Some(0));
        while let Some(at) = offset {
            let part = runtime.block_on(read(&world, json!({"id": "art_x", "offset": at, "limit": limit})));
            all.push_str(part["text"].as_str().unwrap());
            offset = part["next_offset"].as_u64();
            prop_assert!(offset.is_none_or(|next| next > at));
        }
        prop_assert_eq!(all, text);
    }
}
