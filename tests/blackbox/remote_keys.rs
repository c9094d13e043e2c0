//! Each key of `[sandbox] ssh` does what it says: with it the account is reached, and with another
//! value it is not, or is given up sooner.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::direct::result;
use crate::process_tree::{gone, mark, until_there};
use crate::provider::Provider;
use crate::remote::{YES, outputs, table};
use crate::sshd::{FILES, Server};
use crate::wire::{Wire::OpenAi, answer, call, calls};
use crate::world::World;

/// The table with another value for a key that it has.
fn instead(server: &Server, key: &str, value: &str) -> String {
    let table = table(server);
    let begins = format!("{key} = ");
    let lines: Vec<String> = table
        .lines()
        .map(|line| match line.starts_with(&begins) {
            true => format!("{key} = {value}"),
            false => line.to_owned(),
        })
        .collect();
    let other = lines.join("\n") + "\n";
    assert_ne!(other, table, "{key}");
    other
}

/// A command runs in the workspace there.
#[track_caller]
fn reaches(world: &World, server: &Server) {
    let made = result(
        world,
        "execute_shell_command",
        &json!({"command": "touch reached"}),
    );
    assert_eq!(made["exit_code"], 0, "{made}");
    assert!(server.path("workspace/reached").exists());
}

/// Nothing runs, there or here; what is said of it.
#[track_caller]
fn is_refused(world: &World, server: &Server) -> String {
    let args = json!({"command": "touch reached"}).to_string();
    let ran = world.run(&["tools", "call", "execute_shell_command", "--args", &args]);
    assert_ne!(ran.code, Some(0), "{}", ran.shown());
    assert!(!world.work("reached").exists() && !server.path("workspace/reached").exists());
    ran.stderr
}

#[rstest]
#[case::host("host", "\"localhost\"", "localhost")]
#[case::port("port", "1", "port 1")]
#[case::user("user", "\"nobody-has-this-name\"", "for nobody-has-this-name")]
#[case::key_file("key_file", "\"BASE/other\"", "key")]
#[case::known_hosts("known_hosts", "\"BASE/none\"", "known_hosts")]
#[case::workspace("workspace", "\"BASE/nowhere\"", "/nowhere is no directory there")]
#[test]
fn the_account_that_is_named_is_the_one_that_is_used(
    #[case] key: &str,
    #[case] other: &str,
    #[case] why: &str,
) {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let base = server.path("").display().to_string();
    let other = other.replace("BASE", base.trim_end_matches('/'));
    let world = World::new();
    world.config(&(instead(&server, key, &other) + YES));
    let said = is_refused(&world, &server);
    assert!(said.contains(why), "{said}");
    world.config(&(table(&server) + YES));
    reaches(&world, &server);
}

#[test]
fn a_locked_key_is_opened_by_the_variable_that_is_named() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let key = server.path("client").display().to_string();
    let lock = ["-q", "-p", "-P", "", "-N", "open sesame", "-f", &key];
    assert!(started("ssh-keygen", &lock, &[]).wait().unwrap().success());
    let named = table(&server) + "passphrase_env = \"SESAME\"\n" + YES;
    let world = |variable: &str, value: &str| {
        let world = World::new().with(variable, value);
        world.config(&named);
        world
    };
    reaches(&world("SESAME", "open sesame"), &server);
    fs::remove_file(server.path("workspace/reached")).unwrap();
    for (variable, value, why) in [
        ("SESAME", "close sesame", "cannot be used"),
        ("OTHER", "open sesame", "SESAME, which is not set"),
    ] {
        let said = is_refused(&world(variable, value), &server);
        assert!(said.contains(why) && !said.contains(" sesame"), "{said}");
    }
}

/// An agent of the test's own.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_agent_that_is_named_is_asked_for_its_keys() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let socket = server.path("agent").display().to_string();
    let _agent = Agent(started("ssh-agent", &["-D", "-a", &socket], &[]));
    for _ in 0..600 {
        if PathBuf::from(&socket).exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let toml = table(&server);
    let key = server.path("client").display().to_string();
    let toml = toml.replace(
        &format!("key_file = {key:?}"),
        &format!("agent = {socket:?}"),
    );
    assert!(!toml.contains("key_file"), "{toml}");
    let world = World::new();
    world.config(&(toml + YES));
    is_refused(&world, &server);
    let variable = [("SSH_AUTH_SOCK", socket.as_str())];
    let added = started("ssh-add", &["-q", &key], &variable).wait();
    assert!(added.unwrap().success());
    reaches(&world, &server);
}

/// Four times the default would be longer than a test waits.
#[test]
fn a_machine_that_does_not_answer_is_given_up_as_soon_as_it_is_said() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    // Connections are taken by the kernel, and nobody speaks.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    let world = World::new();
    let toml = instead(&server, "port", &port) + "connect_timeout_seconds = 1\n" + YES;
    world.config(&toml);
    let said = is_refused(&world, &server);
    assert!(said.contains("it does not answer"), "{said}");
}

/// By default it would be asked so seldom that the call had gone on without its command.
#[test]
fn a_machine_that_falls_silent_is_given_up_as_soon_as_it_is_said() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    world.config(&(table(&server) + "keepalive_seconds = 1\n" + YES));
    let mark = mark();
    let command = format!("bash -c 'exec -a {mark} sleep 300'");
    let args = json!({"command": command, "block_until_ms": 30_000}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "execute_shell_command", &args)]));
    provider.then(answer(OpenAi, "done"));
    let running = world.start(&["run", "--json", "go"]);
    until_there(&mark);
    let listener = server.process.id();
    let serving = fs::read_to_string(format!("/proc/{listener}/task/{listener}/children")).unwrap();
    for pid in serving.split_ascii_whitespace() {
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
    }
    let ran = running.wait();
    server.drop_connections();
    gone(&mark);
    let outputs = outputs(&ran.exits(0).stdout);
    assert_eq!(outputs[0]["error"]["code"], "interrupted", "{}", outputs[0]);
}

#[expect(
    clippy::disallowed_types,
    reason = "the tests start programs as a user would"
)]
fn started(program: &str, args: &[&str], variables: &[(&str, &str)]) -> Child {
    std::process::Command::new(program)
        .args(args)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
