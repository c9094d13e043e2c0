//! Input: what a child reads, and how it ends.

use std::path::Path;

use outfitter_process::{Ending, Spawned, Stdin, SupervisorProgram, spawn};
use rstest::rstest;
use tokio::io::AsyncWriteExt;

use crate::kit::{Identity, Place, TESTKIT, finish};
use crate::output::shell;

fn program() -> SupervisorProgram {
    SupervisorProgram::at(TESTKIT)
}

async fn run(script: &str, stdin: Stdin) -> Spawned {
    let mut spec = shell(script, Path::new("/"));
    spec.stdin = stdin;
    spawn(&program(), spec).await.unwrap()
}

async fn text(spawned: &mut Spawned) -> String {
    let mut text = Vec::new();
    while let Some((_, bytes)) = spawned.output.next().await.unwrap() {
        text.extend_from_slice(&bytes);
    }
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn given_bytes_are_read_whole_and_then_end() {
    let much = "x".repeat(3_000_000);
    let mut spawned = run("wc -c; read more; echo $?", Stdin::Bytes(much.into())).await;
    assert!(spawned.input.is_none());
    assert_eq!(text(&mut spawned).await, "3000000\n1\n");
}

#[tokio::test]
async fn bytes_that_nobody_reads_hold_nothing_up() {
    let much = "x".repeat(3_000_000);
    let mut spawned = run("exit 7", Stdin::Bytes(much.into())).await;
    let exit = spawned.child.wait().await.unwrap();
    assert_eq!(exit.ending, Ending::Code(7));
}

#[tokio::test]
async fn a_child_cannot_write_to_what_it_was_given() {
    let mut spawned = run(
        "{ echo other >&0; } 2>/dev/null || echo refused; cat",
        Stdin::Bytes("given".into()),
    )
    .await;
    assert_eq!(text(&mut spawned).await, "refused\ngiven");
}

#[tokio::test]
async fn a_pipe_is_a_conversation_and_ends_when_it_is_shut_down() {
    let script = "while read line; do echo heard $line; done; echo end";
    let mut spawned = run(script, Stdin::Pipe).await;
    let mut input = spawned.input.take().unwrap();
    for word in ["one", "two"] {
        input
            .write_all(format!("{word}\n").as_bytes())
            .await
            .unwrap();
        let (_, bytes) = spawned.output.next().await.unwrap().unwrap();
        assert_eq!(bytes, format!("heard {word}\n"));
    }
    input.shutdown().await.unwrap();
    assert!(input.write_all(b"late").await.is_err());
    assert_eq!(text(&mut spawned).await, "end\n");
    assert_eq!(spawned.child.wait().await.unwrap().ending, Ending::Code(0));
}

#[tokio::test]
async fn a_dropped_pipe_is_the_end_of_the_input() {
    let mut spawned = run("cat; echo end", Stdin::Pipe).await;
    drop(spawned.input.take());
    assert_eq!(text(&mut spawned).await, "end\n");
}

#[tokio::test]
async fn writing_to_a_child_that_reads_no_more_fails() {
    let mut spawned = run("exec <&-; echo closed; sleep 1000", Stdin::Pipe).await;
    let (_, bytes) = spawned.output.next().await.unwrap().unwrap();
    assert_eq!(&bytes[..], b"closed\n");
    let mut input = spawned.input.take().unwrap();
    let error = input.write_all(b"anything").await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    spawned.child.kill(std::time::Duration::ZERO).await.unwrap();
}

#[rstest]
fn input_reaches_a_confined_child(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mut command = place.confined(level);
    let got = finish(command.args(["--stdin", "hello", "--", "/bin/cat"]));
    assert_eq!(got.stdout, "hello", "{got:?}");
}
