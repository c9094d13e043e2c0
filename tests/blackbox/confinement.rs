//! What a command cannot do, from outside.

use crate::direct::called;
use crate::shell::shell;
use crate::world::World;

/// What the sandbox is for, from outside: nothing but the workspace is changed, nothing is reached.
#[test]
fn a_command_changes_the_workspace_and_nothing_else() {
    let world = World::new();
    let outside = world.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("a.txt"), "sentinel").unwrap();
    let there = outside.display();
    let home = world.root().join("home");
    let done = shell(
        &world,
        &format!(
            "echo fine > a.txt; echo x > {there}/a.txt; rm -f {there}/a.txt; touch {there}/b.txt; \
             chmod 000 {there}; mv {there} {there}2; ln {there}/a.txt ./hard; echo x > {}/x; \
             cat /etc/shadow > shadow.txt; cat a.txt",
            home.display()
        ),
    );
    assert_eq!(done["stdout"], "fine\n", "{done}");
    assert_eq!(
        std::fs::read_to_string(outside.join("a.txt")).unwrap(),
        "sentinel"
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert!(!home.join("x").exists());
    assert!(
        std::fs::read(world.work("shadow.txt"))
            .unwrap_or_default()
            .is_empty()
    );
}

#[test]
fn a_command_connects_nowhere() {
    let world = World::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let path = world.work("socket");
    let local = std::os::unix::net::UnixListener::bind(&path).unwrap();
    local.set_nonblocking(true).unwrap();
    let done = shell(
        &world,
        &format!(
            "(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo tcp; \
             bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' && echo tcp; \
             bash -c 'exec 3<>/dev/udp/127.0.0.1/{port}' && echo udp; \
             python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('socket')\" && echo unix; true"
        ),
    );
    assert_eq!(done["stdout"], "", "{done}");
    assert!(listener.accept().is_err() && local.accept().is_err());
}

#[test]
fn commands_can_be_switched_off() {
    let world = World::new();
    world.config("[shell]\nenabled = false\n");
    let names = world.run(&["tools", "list", "--json"]).exits(0).stdout;
    for name in ["execute_shell_command", "await_shell", "kill_shell"] {
        assert!(!names.contains(name));
        let (_, output) = called(&world, name, "{}", &[]);
        assert_eq!(output["error"]["code"], "unknown_tool");
    }
}

/// Our own data is no command's, even where it lies in the workspace: not this session's log, not
/// another session's folder.
#[test]
fn a_command_reads_and_changes_nothing_of_our_data() {
    let world = World::new();
    world.config("[store]\ndata_dir = \"data\"\n");
    let other = r#"{"command":"echo sentinel > \"$HOME/own.txt\""}"#;
    called(
        &world,
        "execute_shell_command",
        other,
        &["--session", "other"],
    );
    let command = "cat data/outfitter.db* data/*/* data/sessions/other/*/*/own.txt; \
                   cat $HOME/../../../other/scratch/home/own.txt; rm -rf data/outfitter.db; \
                   mv data gone; echo x > data/x; ls data/sessions; true";
    let args = serde_json::json!({"command": command}).to_string();
    let (_, output) = called(&world, "execute_shell_command", &args, &["--session", "s"]);
    let stdout = output["result"]["stdout"].as_str().unwrap();
    assert!(
        !stdout.contains("sentinel") && !stdout.contains("SQLite"),
        "{output}"
    );
    assert!(!stdout.contains("other"), "{output}");
    assert!(world.work("data/outfitter.db").exists());
    assert!(!world.work("data/x").exists());
}

/// What a command leaves in its home is there for the next call of its session and for no other.
#[test]
fn a_home_belongs_to_its_session() {
    let world = World::new();
    let write = r#"{"command":"echo kept > ~/a; echo kept > $TMPDIR/b"}"#;
    called(
        &world,
        "execute_shell_command",
        write,
        &["--session", "one"],
    );
    let read = r#"{"command":"cat ~/a; ls -A $TMPDIR /tmp | grep b"}"#;
    let (_, same) = called(&world, "execute_shell_command", read, &["--session", "one"]);
    assert!(
        same["result"]["stdout"].to_string().contains("kept"),
        "{same}"
    );
    let (_, other) = called(&world, "execute_shell_command", read, &["--session", "two"]);
    assert!(
        !other["result"]["stdout"].to_string().contains("kept"),
        "{other}"
    );
}

#[test]
fn a_command_too_long_for_the_system_is_a_refusal() {
    let world = World::new();
    let args = serde_json::json!({"command": format!("echo {}", "你".repeat(60_000))});
    world.write("call.json", args.to_string());
    let base = ["tools", "call", "execute_shell_command", "--json"];
    let ran = world
        .run(&[&base[..], &["--args", "@call.json"]].concat())
        .exits(2);
    assert_eq!(ran.json()["error"]["code"], "invalid_arguments");
}
