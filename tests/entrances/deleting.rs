//! Sessions that are deleted while somebody has them, and what is left of them.

use std::path::{Path, PathBuf};

use rstest::rstest;
use serde_json::{Value, json};

use crate::scripted::{ADMIN, scripted};
use crate::served::Serving;
use crate::soon::soon;
use crate::world::World;

/// In the command lines of the jobs of these tests and of nobody else's.
const MARK: &str = "zq-job-of-a-deleted-session";

fn world() -> World {
    scripted(&json!([{"text": "all done"}]), ADMIN)
}

/// A job that goes on by itself until the file `go` is there. Gives its mark.
fn start_job(serving: &Serving<'_>, session: &str) -> String {
    let mark = format!("{MARK}-{}-{session}", std::process::id());
    let command = format!(": {mark}; until [ -e go ]; do sleep 0.02; done");
    let arguments = json!({"command": command, "block_until_ms": 0});
    let told = serving
        .at
        .call(session, "execute_shell_command", &arguments);
    assert_eq!(told.is(200).json()["status"], "running");
    soon(|| runs(&mark).then_some(()));
    mark
}

fn go(world: &World, session: &str) {
    std::fs::write(world.data(&format!("files/local/local/{session}/go")), "").unwrap();
}

/// Whether a process has this in its command line.
fn runs(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    let has_mark = |path: PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    processes.flatten().any(|process| has_mark(process.path()))
}

/// Everything in the data directory that has the name of the session in its own.
fn left(world: &World, session: &str) -> Vec<PathBuf> {
    fn look(folder: &Path, session: &str, found: &mut Vec<PathBuf>) {
        // Where a server is at work a folder may be gone by now.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path
                .file_name()
                .unwrap()
                .to_string_lossy()
                .contains(session)
            {
                found.push(path.clone());
            }
            if path.is_dir() && !path.is_symlink() {
                look(&path, session, found);
            }
        }
    }
    let mut found = Vec::new();
    look(&world.data(""), session, &mut found);
    found
}

#[test]
fn a_session_was_deleted_under_the_command_that_a_server_ran_in_it() {
    let world = world();
    let serving = Serving::start(&world);
    let session = "kept-by-the-server";
    let mark = start_job(&serving, session);
    let before = left(&world, session);
    let refused = world
        .run(&["sessions", "delete", session, "--json"])
        .exits(1);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "busy", "{}", refused.shown());
    let hint = error["hint"].as_str().unwrap();
    let way = format!("`DELETE /v1/sessions/{session}`");
    assert!(hint.contains(&way), "{hint}");
    assert!(runs(&mark) && left(&world, session) == before);
    // Nor does a run elsewhere end it.
    let run = ["run", "--session", session, "--json", "go"];
    let refused = world.run(&run).exits(1);
    assert!(refused.stdout.contains("busy"), "{}", refused.shown());
    assert!(runs(&mark));

    // The server itself may work in it meanwhile.
    let pure = json!({"expression": "1"});
    serving.at.call(session, "calculator", &pure).is(200);
    let refused = world.run(&["sessions", "delete", session]).exits(1);
    assert!(
        refused.stderr.contains("another process"),
        "{}",
        refused.shown()
    );
    // Once it has ended nobody holds the session.
    go(&world, session);
    soon(|| {
        let deleted = world.run(&["sessions", "delete", session, "--json"]);
        (deleted.code == Some(0)).then_some(())
    });
    assert_eq!(left(&world, session), [] as [PathBuf; 0]);

    // The server finds a new session under the name, on the disk as well.
    let write = json!({"path": "new.txt", "content": "new"});
    let told = serving.at.call(session, "file_write", &write).is(200);
    assert_eq!(told.json()["status"], "success");
    let file = world.data(&format!("files/local/local/{session}/new.txt"));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "new");
    let list = serving.at.call(session, "list_dir", &json!({})).is(200);
    assert!(list.text.contains("new.txt"), "{}", list.text);
    serving.stop();
}

#[test]
fn a_session_deleted_over_http_left_its_command_running() {
    let world = world();
    let serving = Serving::start(&world);
    let session = "deleted-over-http";
    let mark = start_job(&serving, session);
    serving.at.run(session);
    let deleted = serving.at.delete(&format!("/v1/sessions/{session}"));
    assert_eq!(deleted.status, 204, "{}", deleted.text);
    assert!(!runs(&mark), "it goes on");
    assert_eq!(left(&world, session), [] as [PathBuf; 0]);
    serving.at.run(session);
    let told = serving.at.get(&format!("/v1/sessions/{session}/messages"));
    let told: Value = told.is(200).json();
    assert_eq!(told["messages"].as_array().unwrap().len(), 2, "{told}");
    serving.stop();
}

#[rstest]
fn to_delete_what_is_not_there_made_a_file_for_it(#[values("cli", "http")] way: &str) {
    let world = world();
    let session = "never-there";
    if way == "cli" {
        world.run(&["sessions", "delete", session]).exits(5);
    } else {
        let serving = Serving::start(&world);
        let path = format!("/v1/sessions/{session}");
        serving.at.delete(&path).is_problem(404, "not_found");
        serving.stop();
    }
    assert_eq!(left(&world, session), [] as [PathBuf; 0]);
}

/// What lies in the way of the deletion of a session, after its files are gone.
fn put_in_the_way(world: &World, session: &str) -> PathBuf {
    let stuck = world.data(&format!("artifacts/local/local/{session}/stuck"));
    std::fs::create_dir_all(&stuck).unwrap();
    stuck
}

#[rstest]
fn a_deletion_that_failed_half_way_broke_the_session_for_the_server_that_had_it(
    #[values("cli", "http")] first: &str,
    #[values("cli", "http")] then: &str,
) {
    let world = world();
    let serving = Serving::start(&world);
    let session = "idle-at-the-server";
    let path = format!("/v1/sessions/{session}");
    let write = json!({"path": "kept.txt", "content": "kept"});
    serving.at.call(session, "file_write", &write).is(200);
    serving.at.run(session);
    let ran = json!({"command": "echo it ran > ran.txt; cat ran.txt"});
    serving.at.call(session, "run_command", &ran).is(200);

    let stuck = put_in_the_way(&world, session);
    let why = if first == "cli" {
        let refused = world
            .run(&["sessions", "delete", session, "--json"])
            .exits(1);
        refused.json()["error"].clone()
    } else {
        let refused = serving.at.delete(&path);
        refused.is_problem(503, "unavailable");
        refused.json()
    };
    assert_eq!(why["code"], "unavailable", "{why}");
    let hint = why["hint"].as_str().unwrap();
    assert!(hint.contains("once more"), "{why}");
    let message = why["message"].as_str().or(why["detail"].as_str()).unwrap();
    assert!(message.contains("its artifacts stay behind: "), "{why}");

    // It is not half there for anybody, and says what to do.
    let body = json!({"session_id": session, "input": "go on"});
    let refused = serving.at.post("/v1/runs", &body);
    refused.is_problem(503, "unavailable");
    assert!(
        refused.text.contains("delete it once more"),
        "{}",
        refused.text
    );
    let refused = serving.at.call(session, "run_command", &ran).is(503);
    assert!(
        refused.text.contains("delete it once more"),
        "{}",
        refused.text
    );
    let run = ["run", "--session", session, "go on"];
    let refused = world.run(&run).exits(1);
    let hint = format!("hint: `outfitter sessions delete {session}` ends that");
    assert!(refused.stderr.contains(&hint), "{}", refused.shown());
    let doctor = world.run(&["doctor", "--json"]).json();
    assert!(doctor.to_string().contains(session), "{doctor}");

    std::fs::remove_dir(stuck).unwrap();
    if then == "cli" {
        world.run(&["sessions", "delete", session]).exits(0);
    } else {
        serving.at.delete(&path).is(204);
    }
    assert_eq!(left(&world, session), [] as [PathBuf; 0]);
    // The server works in a new one of the name.
    let told = serving.at.call(session, "run_command", &ran).is(200).json();
    assert_eq!(told["result"]["stdout"], "it ran\n", "{told}");
    let list = serving.at.call(session, "list_dir", &json!({})).is(200);
    assert!(!list.text.contains("kept.txt"), "{}", list.text);
    serving.at.run(session);
    serving.stop();
}

/// The files go first, and there are many: it is killed while they go.
#[rstest]
fn a_deletion_that_was_killed_left_half_a_session(#[values("delete", "serve")] then: &str) {
    let world = world();
    let session = "killed-in-the-middle";
    let calculated = r#"{"expression":"1"}"#;
    let call = ["tools", "call", "calculator", "--session", session];
    world
        .run(&[&call[..], &["--args", calculated]].concat())
        .exits(0);
    let own = world.data(&format!("sessions/local/local/{session}"));
    let many = world.data(&format!("files/local/local/{session}"));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir_all(&many).unwrap();
    for file in 0..30_000 {
        std::fs::write(many.join(file.to_string()), "").unwrap();
    }
    let running = world.start(&["sessions", "delete", session]);
    soon(|| (!own.exists()).then_some(()));
    running.signal(rustix::process::Signal::KILL);
    let ended = running.wait();
    assert_eq!(ended.code, None, "{}", ended.shown());
    let run = ["run", "--session", session, "go on"];
    let refused = world.run(&run).exits(1);
    assert!(
        refused.stderr.contains("is not at its end"),
        "{}",
        refused.shown()
    );
    if then == "delete" {
        world.run(&["sessions", "delete", session]).exits(0);
    } else {
        Serving::start(&world).stop();
    }
    assert_eq!(left(&world, session), [] as [PathBuf; 0]);
    world.run(&["sessions", "show", session]).exits(5);
}
