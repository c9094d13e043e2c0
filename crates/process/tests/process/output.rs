//! Output: complete, in order, and never more in memory than is asked for.

use std::path::Path;
use std::time::Duration;

use outfitter_process::{
    ChildSpec, Confinement, Ending, Limits, Output, Spawned, Stdin, Stream, SupervisorProgram,
    spawn,
};

use crate::kit::{TESTKIT, alive, gone};

fn program() -> SupervisorProgram {
    SupervisorProgram::at(TESTKIT)
}

pub(crate) fn shell(script: &str, cwd: &Path) -> ChildSpec {
    ChildSpec {
        argv: ["/bin/sh", "-c", script].map(Into::into).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: cwd.to_owned(),
        stdin: Stdin::Null,
        confinement: Confinement::Unconfined,
        limits: Limits::DEFAULT,
    }
}

async fn collect(output: &mut Output) -> (Vec<u8>, Vec<u8>) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    while let Some((stream, bytes)) = output.next().await.unwrap() {
        match stream {
            Stream::Stdout => out.extend_from_slice(&bytes),
            Stream::Stderr => err.extend_from_slice(&bytes),
        }
    }
    (out, err)
}

#[tokio::test]
async fn nothing_is_lost_of_much_output_on_both_streams() {
    let script = "seq 1 200000; seq 1 100000 >&2; seq 200001 300000";
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawn(&program(), shell(script, Path::new("/")))
        .await
        .unwrap();
    let (out, err) = collect(&mut output).await;
    let numbers = |to: u32| (1..=to).map(|n| format!("{n}\n")).collect::<String>();
    assert!(
        out == numbers(300_000).as_bytes(),
        "stdout differs, {} bytes",
        out.len()
    );
    assert!(
        err == numbers(100_000).as_bytes(),
        "stderr differs, {} bytes",
        err.len()
    );
    assert_eq!(child.wait().await.unwrap().ending, Ending::Code(0));
}

#[tokio::test]
async fn a_reader_that_waits_holds_the_writer_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let script = "head -c 1000000 /dev/zero; touch written";
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawn(&program(), shell(script, dir.path())).await.unwrap();
    let first = output.next().await.unwrap().unwrap().1.len();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(
        !dir.path().join("written").exists(),
        "the writer did not wait for its reader"
    );
    let (rest, _) = collect(&mut output).await;
    assert_eq!(first + rest.len(), 1_000_000);
    child.wait().await.unwrap();
    assert!(dir.path().join("written").exists());
}

#[tokio::test]
async fn pieces_come_in_the_order_in_which_they_were_printed() {
    let dir = tempfile::tempdir().unwrap();
    // Each line waits until the one before was seen.
    let script = "n=0; for to in 1 2 1 2 2 1; do echo line$n >&$to; while [ ! -e seen$n ]; do sleep 0.01; done; n=$((n+1)); done";
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawn(&program(), shell(script, dir.path())).await.unwrap();
    let mut order = Vec::new();
    while let Some((stream, bytes)) = output.next().await.unwrap() {
        let line = String::from_utf8(bytes.to_vec()).unwrap();
        std::fs::write(dir.path().join(line.trim().replace("line", "seen")), "").unwrap();
        order.push((stream, line));
    }
    let expected = [
        Stream::Stdout,
        Stream::Stderr,
        Stream::Stdout,
        Stream::Stderr,
        Stream::Stderr,
        Stream::Stdout,
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .enumerate()
        .map(|(n, stream)| (stream, format!("line{n}\n")))
        .collect();
    assert_eq!(order, expected);
    child.wait().await.unwrap();
}

#[tokio::test]
async fn after_the_exit_what_is_left_can_be_taken_without_waiting() {
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawn(&program(), shell("echo one; echo two >&2", Path::new("/")))
        .await
        .unwrap();
    child.wait().await.unwrap();
    let mut seen = Vec::new();
    while let Some((stream, bytes)) = output.try_next().unwrap() {
        seen.push((stream, String::from_utf8(bytes.to_vec()).unwrap()));
    }
    assert_eq!(
        seen,
        [
            (Stream::Stdout, "one\n".to_owned()),
            (Stream::Stderr, "two\n".to_owned())
        ]
    );
    assert_eq!(output.next().await.unwrap(), None);
}

#[tokio::test]
async fn a_dropped_child_is_killed_with_its_tree() {
    let mark = format!("7777.{}", std::process::id());
    let script = format!("trap '' TERM; (setsid sleep {mark} &); echo up; sleep {mark}");
    let Spawned {
        child, mut output, ..
    } = spawn(&program(), shell(&script, Path::new("/")))
        .await
        .unwrap();
    assert_eq!(&output.next().await.unwrap().unwrap().1[..], b"up\n");
    assert!(!alive(&mark).is_empty());
    drop(child);
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
}

#[tokio::test]
async fn kill_and_wait_can_be_repeated_and_agree() {
    let Spawned { mut child, .. } = spawn(&program(), shell("sleep 1000", Path::new("/")))
        .await
        .unwrap();
    let first = child.kill(Duration::from_millis(500)).await.unwrap();
    assert_eq!(first.ending, Ending::Signal(15));
    assert_eq!(child.kill(Duration::ZERO).await.unwrap(), first);
    assert_eq!(child.wait().await.unwrap(), first);
}
