//! Many processes on one file, and some that die.
#![expect(
    clippy::disallowed_types,
    reason = "the test kit is a plain child whose death is the test; nothing is confined"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use outfitter_core::{Log, Seq};
use outfitter_store::SqliteLog;
use rstest::rstest;

use crate::rig::{me, session, texts};

fn kit(words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_outfitter-store-testkit"))
        .args(words)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets the child go on, waits for its end and gives what it printed.
fn finish(mut child: Child) -> String {
    let output = {
        drop(child.stdin.take());
        child.wait_with_output().unwrap()
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    assert_eq!(complaint, "");
    String::from_utf8(output.stdout).unwrap()
}

const PROCESSES: usize = 8;
const EACH: usize = 100;

/// All begin together on a file that none has made yet.
#[rstest]
#[case::each_its_session(|at| format!("s{at}"))]
#[case::all_one_session(|_| "s".to_owned())]
#[tokio::test]
async fn eight_processes_append_a_hundred_each(#[case] name: fn(usize) -> String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("new/o.db");
    let path = file.to_str().unwrap();
    let mut children: Vec<Child> = (0..PROCESSES)
        .map(|at| kit(&["append", path, &name(at), &EACH.to_string()]))
        .collect();
    for child in &mut children {
        child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }
    for child in children {
        finish(child);
    }

    let log = SqliteLog::new(&file);
    let mut names: Vec<String> = (0..PROCESSES).map(name).collect();
    names.dedup();
    let mut all = Vec::new();
    for name in names {
        let id = session(&name);
        let page = log.read(&me(), &id, Seq(1), 0).await.unwrap();
        let seqs: Vec<u64> = page.entries.iter().map(|entry| entry.seq.0).collect();
        let whole: Vec<u64> = (1..=page.head.0).collect();
        assert_eq!(seqs, whole, "no gaps");
        all.extend(texts(&log, &me(), &id).await);
    }
    assert_eq!(all.len(), PROCESSES * EACH, "all rows are there");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), PROCESSES * EACH, "each of them once");
}

/// A writer that is killed after any of its appends, while it makes the next.
#[tokio::test]
async fn a_killed_writer_leaves_every_append_that_was_acknowledged_and_none_in_part() {
    const SIZE: u64 = 3;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("o.db");
    for acknowledged in 0..12 {
        let mut child = kit(&["stream", file.to_str().unwrap(), "s", &SIZE.to_string()]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut last = 0;
        for _ in 0..=acknowledged {
            last = lines.next().unwrap().unwrap().parse::<u64>().unwrap();
        }
        child.kill().unwrap();
        // It may have acknowledged more before it died.
        if let Some(line) = lines.map_while(Result::ok).last() {
            last = line.parse().unwrap();
        }
        child.wait().unwrap();

        let log = SqliteLog::new(&file);
        let page = log.read(&me(), &session("s"), Seq(1), 0).await.unwrap();
        assert!(page.head.0 >= last, "{} < {last}", page.head.0);
        assert!(page.head.0 <= last + SIZE, "only one was under way");
        assert_eq!(page.head.0 % SIZE, 0, "an append is whole or absent");
        assert_eq!(page.entries.len() as u64, page.head.0);
        for (at, text) in texts(&log, &me(), &session("s")).await.iter().enumerate() {
            assert!(text.starts_with(&format!("{} x", at as u64 % SIZE)));
        }
    }
}

fn modes(path: &Path, found: &mut Vec<String>) {
    let kind = std::fs::symlink_metadata(path).unwrap();
    let mode = kind.permissions().mode() & 0o7777;
    let name = path.file_name().unwrap().to_string_lossy();
    let name = if name.starts_with("art_") {
        format!("art_….{}", path.extension().unwrap().to_string_lossy())
    } else {
        name.into_owned()
    };
    found.push(format!("{mode:04o} {name}"));
    if kind.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            modes(&entry.unwrap().path(), found);
        }
    }
}

#[rstest]
#[case::nothing_masked("000")]
#[case::the_usual("022")]
#[case::all_masked("777")]
fn files_are_0600_and_directories_0700_whatever_the_umask(#[case] umask: &str) {
    let directory = tempfile::tempdir().unwrap();
    let mut child = kit(&["make", directory.path().to_str().unwrap(), umask]);
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    if line != "made\n" {
        let mut complaint = String::new();
        let _ = child.stderr.take().unwrap().read_to_string(&mut complaint);
        panic!("{complaint}");
    }
    let mut found = Vec::new();
    modes(&directory.path().join("data"), &mut found);
    found.sort();
    insta::allow_duplicates! {
        insta::assert_snapshot!(found.join("\n"), @r"
        0600 art_….data
        0600 art_….json
        0600 outfitter.db
        0600 outfitter.db-shm
        0600 outfitter.db-wal
        0700 artifacts
        0700 data
        0700 s
        0700 s
        0700 t
        ");
    }
    finish(child);
}
