//! Servers that may open few files, as programs may by default, or write only short ones.

use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use crate::scripted::{ADMIN, scripted};
use crate::served::Serving;
use crate::world::World;

fn world() -> World {
    scripted(&json!([{"text": "all done"}]), ADMIN)
}

fn open_files(serving: &Serving<'_>) -> usize {
    let folder = format!("/proc/{}/fd", serving.pid());
    std::fs::read_dir(folder).unwrap().count()
}

fn may_open(serving: &Serving<'_>, files: usize) {
    let limit = Rlimit {
        current: Some(files as u64),
        maximum: rustix::process::getrlimit(Resource::Nofile).maximum,
    };
    let pid = Pid::from_raw(serving.pid().try_into().unwrap());
    prlimit(pid, Resource::Nofile, limit).unwrap();
}

/// Three files for each of 320 sessions: the next had none to open.
#[test]
fn a_server_ran_out_of_files_at_its_315th_session() {
    let world = world();
    let serving = Serving::start(&world);
    let before = open_files(&serving);
    for session in 0..200 {
        let id = format!("s{session}");
        let told = serving
            .at
            .call(&id, "calculator", &json!({"expression": "1"}));
        assert_eq!(told.is(200).json()["status"], "success");
    }
    let kept = open_files(&serving) - before;
    assert!(kept < 400, "{kept} are open for 200 sessions");
    serving.stop();
}

/// A file that would grow beyond the limit of the process (`ulimit -f`) ended all of it, with the
/// runs of everybody.
#[test]
fn a_limit_of_the_size_of_files_ended_the_server() {
    let world = world();
    let serving = Serving::start(&world);
    serving.at.run("before");
    let limit = Rlimit {
        current: Some(150_000),
        maximum: rustix::process::getrlimit(Resource::Fsize).maximum,
    };
    let pid = Pid::from_raw(serving.pid().try_into().unwrap());
    prlimit(pid, Resource::Fsize, limit).unwrap();
    let long = json!({"session_id": "long", "input": "x".repeat(400_000)});
    let refused = serving.at.post("/v1/runs", &long);
    refused.is_problem(503, "unavailable");
    assert_eq!(serving.at.get("/healthz").status, 200);
    let unlimited = Rlimit {
        current: limit.maximum,
        ..limit
    };
    prlimit(pid, Resource::Fsize, unlimited).unwrap();
    serving.at.run("after");
    serving.stop();
}

/// What no more files were left for was not asked of those who did nothing with theirs.
#[test]
fn idle_connections_kept_the_last_files() {
    let world = world();
    let serving = Serving::start(&world);
    serving.at.get("/healthz").is(200);
    may_open(&serving, open_files(&serving) + 20);
    let idle: Vec<TcpStream> = (0..60)
        .map(|_| TcpStream::connect(&serving.at.address).unwrap())
        .collect();
    std::thread::sleep(Duration::from_millis(20));
    serving.at.get("/healthz").is(200);
    drop(idle);
    serving.stop();
}
