//! Servers that may open few files, as programs may by default.

use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use crate::served::Serving;
use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.write("model.yaml", json!([{"text": "all done"}]).to_string());
    world.config(&format!(
        "[model]\nprovider = \"scripted\"\nscript = {:?}\n[permissions]\nhttp_role = \"admin\"\n",
        world.work("model.yaml")
    ));
    world
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
