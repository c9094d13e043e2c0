//! Sessions whose files are on another machine.

use serde_json::json;

use crate::served::Serving;
use crate::sshd::{FILES, Server};
use crate::world::World;

fn world(server: &Server) -> World {
    let base = server.path("").display().to_string();
    let base = base.trim_end_matches('/');
    let world = World::new();
    world.config(&format!(
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nhost = \"127.0.0.1\"\nport = {}\n\
         user = {:?}\nkey_file = \"{base}/client\"\nknown_hosts = \"{base}/known\"\n\
         workspace = \"{base}/workspace\"\n[permissions]\nhttp_role = \"admin\"\n",
        server.port, server.user
    ));
    world
}

fn written(serving: &Serving<'_>, session: &str) {
    let call = json!({"arguments": {"path": "a", "content": "x"}, "session_id": session});
    serving.at.post("/v1/tools/file_write/call", &call).is(200);
}

#[test]
fn a_folder_on_another_machine_goes_with_its_session_or_is_said_to_stay() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let world = world(&server);
    let serving = Serving::start(&world);
    let folder = |session: &str| server.path("workspace/local/local").join(session);
    written(&serving, "one");
    written(&serving, "other");
    assert!(folder("one").join("a").exists());
    serving.at.delete("/v1/sessions/one").is(204);
    assert!(!folder("one").exists() && folder("other").join("a").exists());
    // Nobody is who was known.
    std::fs::write(server.path("known"), "").unwrap();
    let left = serving.at.delete("/v1/sessions/other").is(200).json();
    assert_eq!(left["deleted"], "other");
    let said = left["left_behind"][0].as_str().unwrap();
    let behind = "/workspace/local/local/other stays behind on 127.0.0.1: ";
    assert!(said.contains(behind), "{left}");
    assert!(folder("other").join("a").exists());
    let told = serving.stop().stderr;
    assert!(told.contains("stays behind on 127.0.0.1"), "{told}");
}

/// Its files stayed there, and nobody knew of them any more.
#[test]
fn a_folder_that_another_backend_leaves_on_another_machine_is_told() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let world = world(&server);
    let serving = Serving::start(&world);
    written(&serving, "one");
    serving.stop();
    let folder = server.path("workspace/local/local/one");
    assert!(folder.join("a").exists());
    let doctor = world.run(&["doctor", "--json"]).json();
    assert!(!doctor.to_string().contains("had its files"), "{doctor}");

    world.config("[permissions]\nhttp_role = \"admin\"\n");
    let doctor = world.run(&["doctor", "--json"]).json().to_string();
    assert!(
        doctor.contains("the session one had its files at ")
            && doctor.contains("/workspace/local/local/one of "),
        "{doctor}"
    );
    let serving = Serving::start_with(&world, &["-v"]);
    written(&serving, "one");
    let left = serving.at.delete("/v1/sessions/one").is(200).json();
    let said = left["left_behind"][0].as_str().unwrap();
    assert!(
        said.contains("/workspace/local/local/one of ")
            && said.ends_with("stays behind: [sandbox] does not name it now"),
        "{left}"
    );
    let told = serving.stop().stderr;
    assert!(
        told.contains("the session had its files elsewhere before, and does not see them"),
        "{told}"
    );
    assert!(folder.join("a").exists(), "nothing reaches it");
    let doctor = world.run(&["doctor", "--json"]).json();
    assert!(!doctor.to_string().contains("had its files"), "{doctor}");
}
