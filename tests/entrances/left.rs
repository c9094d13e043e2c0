//! What commands leave behind goes with its session, however it lies there.

use serde_json::json;

use crate::served::Serving;
use crate::world::World;

/// Deeper than a thread has frames for. It is made from its end upwards: whether a directory may be made
/// is looked up in all that are above it, and a busy machine took minutes for that.
const DEEP: &str = "perl -e 'mkdir \"d\" or die; for (2..15000) { mkdir \"n\" or die; \
                    rename \"d\", \"n/d\" or die; rename \"n\", \"d\" or die } print \"made\"'";

/// A folder in memory, where a tree so deep does not take minutes.
struct InMemory(tempfile::TempDir);

impl InMemory {
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn new() -> Option<Self> {
        let made = tempfile::tempdir_in("/dev/shm").ok();
        if made.is_none() {
            eprintln!("SKIPPED(memory): there is no /dev/shm to make a deep tree in");
        }
        made.map(Self)
    }

    fn path(&self) -> &std::path::Path {
        self.0.path()
    }
}

impl Drop for InMemory {
    /// Where the test fails before the tree is gone, the library would have too few frames for it as
    /// well, and all tests would end without a word.
    #[expect(clippy::disallowed_types, reason = "who can remove it is a program")]
    fn drop(&mut self) {
        let mut remove = std::process::Command::new("rm");
        let _left = remove.arg("-rf").arg(self.path()).status();
    }
}

fn world(data: &std::path::Path) -> World {
    let world = World::new();
    world.config(&format!(
        "[store]\ndata_dir = {data:?}\n[permissions]\nhttp_role = \"admin\"\n"
    ));
    world
}

#[test]
fn a_command_made_a_tree_that_ended_the_server_and_every_session_when_it_was_deleted() {
    let Some(data) = InMemory::new() else {
        return;
    };
    let world = world(data.path());
    let serving = Serving::start(&world);
    for (session, at) in [("at-home", "cd && "), ("at-work", "")] {
        let made = json!({ "command": format!("{at}{DEEP}") });
        let told = serving
            .at
            .call(session, "run_command", &made)
            .is(200)
            .json();
        assert_eq!(told["result"]["stdout"], "made", "{told}");
        // What looks at such a tree says how far it has looked.
        let found = serving.at.call(session, "grep", &json!({ "pattern": "x" }));
        assert!([200, 400].contains(&found.status), "{}", found.text);
        serving
            .at
            .call(session, "list_dir", &json!({ "depth": 20 }))
            .is(200);
        serving
            .at
            .call(session, "glob", &json!({ "pattern": "**/*" }))
            .is(200);
    }
    for session in ["at-home", "at-work"] {
        serving
            .at
            .delete(&format!("/v1/sessions/{session}"))
            .is(204);
        for folder in ["sessions", "files"] {
            let folder = data.path().join(folder).join("local/local").join(session);
            assert!(!folder.exists(), "{}", folder.display());
        }
    }
    serving
        .at
        .call("another", "calculator", &json!({ "expression": "1" }))
        .is(200);
    serving.stop();

    let args = json!({ "command": format!("cd && {DEEP}") }).to_string();
    let call = ["tools", "call", "run_command", "--args", &args, "--json"];
    let ran = world.run(&call).exits(0);
    assert_eq!(ran.json()["result"]["stdout"], "made", "{}", ran.shown());
    let left = std::fs::read_dir(data.path().join("passing/local/local"));
    assert_eq!(left.map_or(0, Iterator::count), 0);
    world
        .run(&[&call[..], &["--session", "named"]].concat())
        .exits(0);
    world.run(&["sessions", "delete", "named"]).exits(0);
    assert!(!data.path().join("sessions/local/local/named").exists());
}

#[test]
fn directories_that_a_command_closed_stayed_behind_their_session() {
    let data = tempfile::tempdir().unwrap();
    let world = world(data.path());
    let serving = Serving::start(&world);
    let command =
        "mkdir -p x/y && echo 1 > x/y/f && chmod 000 x/y x && cd && mkdir -p a/b && chmod 0 a";
    let told = serving
        .at
        .call("closed", "run_command", &json!({ "command": command }))
        .is(200);
    assert_eq!(told.json()["result"]["exit_code"], 0, "{}", told.text);
    serving.at.delete("/v1/sessions/closed").is(204);
    for folder in ["sessions", "files"] {
        let folder = data.path().join(folder).join("local/local/closed");
        assert!(!folder.exists(), "{}", folder.display());
    }
    serving.stop();
}

/// What nobody but root may do makes what even root may not remove.
#[test]
fn a_session_was_called_deleted_while_its_files_stayed() {
    let data = tempfile::tempdir().unwrap();
    let world = world(data.path());
    let folder = data.path().join("sessions/local/local/kept");
    let write = r#"{"expression":"1"}"#;
    let call = [
        "tools",
        "call",
        "calculator",
        "--session",
        "kept",
        "--args",
        write,
    ];
    world.run(&call).exits(0);
    let fixed = folder.join("scratch/home/fixed");
    std::fs::create_dir_all(&fixed).unwrap();
    let mounted = rustix::mount::mount_bind("/usr/share", &fixed).is_ok();
    if !mounted {
        eprintln!("SKIPPED(root): nothing can be mounted here, which even root does not remove");
        return;
    }
    let refused = world
        .run(&["sessions", "delete", "kept", "--json"])
        .exits(1);
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    let serving = Serving::start(&world);
    let http = serving.at.delete("/v1/sessions/kept");
    serving.stop();
    rustix::mount::unmount(&fixed, rustix::mount::UnmountFlags::DETACH).unwrap();
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "unavailable", "{}", refused.shown());
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("scratch/home/fixed cannot be removed"),
        "{message}"
    );
    assert_eq!(listed["sessions"][0]["id"], "kept", "{listed}");
    http.is_problem(503, "unavailable");
    assert!(http.text.contains("scratch/home/fixed"), "{}", http.text);
    world.run(&["sessions", "delete", "kept"]).exits(0);
    assert!(!folder.exists());
    assert!(
        std::path::Path::new("/usr/share")
            .read_dir()
            .unwrap()
            .count()
            > 0
    );
}

#[test]
fn a_killed_call_in_no_session_left_its_folder_for_good() {
    let data = tempfile::tempdir().unwrap();
    let world = world(data.path());
    let args = r#"{"command":"echo begun; sleep 600"}"#;
    let running = world.start(&["tools", "call", "run_command", "--args", args]);
    let passing = data.path().join("passing/local/local");
    let folders = || std::fs::read_dir(&passing).map_or(0, Iterator::count);
    let limit = std::time::Instant::now() + crate::world::HANGS;
    while folders() == 0 {
        assert!(std::time::Instant::now() < limit, "it never begins");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let calculated = [
        "tools",
        "call",
        "calculator",
        "--args",
        r#"{"expression":"1"}"#,
    ];
    world.run(&calculated).exits(0);
    assert_eq!(folders(), 1, "that of a call that goes on stays");
    running.signal(rustix::process::Signal::KILL);
    running.wait();
    let doctor = world.run(&["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let row = checks
        .iter()
        .find(|check| check["what"] == "leftovers")
        .unwrap();
    assert!(
        row["finding"]
            .as_str()
            .unwrap()
            .contains("passing/local/local/ses_"),
        "{row}"
    );
    world.run(&calculated).exits(0);
    assert_eq!(folders(), 0);
    let doctor = world.run(&["doctor", "--json"]).json();
    assert!(!doctor.to_string().contains("leftovers"), "{doctor}");
}
