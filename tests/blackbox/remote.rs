//! `[sandbox] backend = "ssh"`: commands and files of another machine, which is this one behind an
//! `sshd` of the test's own.

use std::fs;

use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::direct::{called, result};
use crate::process_tree::{gone, mark, until_there};
use crate::provider::Provider;
use crate::sshd::{FILES, Server};
use crate::wire::{Wire::OpenAi, answer, call, calls};
use crate::world::World;

/// The table that names the server.
pub(crate) fn table(server: &Server) -> String {
    let base = server.path("").display().to_string();
    let base = base.trim_end_matches('/');
    format!(
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nhost = \"127.0.0.1\"\nport = {}\nuser = {:?}\n\
         key_file = \"{base}/client\"\nknown_hosts = \"{base}/known\"\n\
         workspace = \"{base}/workspace\"\n",
        server.port, server.user
    )
}

/// Nobody is asked in a test.
pub(crate) const YES: &str = "[[permissions.rules]]\ntool = \"*\"\ndecision = \"allow\"\n";

/// What the other machine does once we are gone takes a moment.
fn eventually(holds: impl Fn() -> bool) -> bool {
    (0..600).any(|_| {
        let is_so = holds();
        if !is_so {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        is_so
    })
}

pub(crate) fn outputs(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|line| {
            let output = &line["message"]["metadata"]["tool_agent_output"];
            output.is_object().then(|| output.clone())
        })
        .collect()
}

#[test]
fn a_run_has_its_commands_and_files_on_the_other_machine() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    world.config(&(table(&server) + YES));
    world.write(
        "skills/tea/SKILL.md",
        "---\nname: tea\ndescription: Makes tea.\n---\nRun scripts/brew.\n",
    );
    world.write("skills/tea/scripts/brew", "echo brewed there");
    let command = "pwd; echo from a command > made.txt; echo $HOME; \
                   sh $OUTFITTER_SKILLS/tea/scripts/brew; touch $OUTFITTER_SKILLS/x 2>&1; \
                   echo folder=$OUTFITTER_SKILLS";
    let command = json!({ "command": command }).to_string();
    let write = json!({"path": "notes/a.txt", "content": "needle in a file\n"}).to_string();
    let read = json!({"path": "made.txt"}).to_string();
    let grep = json!({"pattern": "needle"}).to_string();
    provider.then(calls(
        OpenAi,
        &[call("c1", "execute_shell_command", &command)],
    ));
    provider.then(calls(OpenAi, &[call("c2", "file_write", &write)]));
    provider.then(calls(
        OpenAi,
        &[call("c3", "file_read", &read), call("c4", "grep", &grep)],
    ));
    provider.then(answer(OpenAi, "done"));
    let ran = world.run(&["run", "--json", "go"]).exits(0);
    let started = ran
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|line| line["type"] == "run_started")
        .unwrap();
    assert_eq!(
        started["sandbox"],
        json!({"backend": "ssh", "level": "none"}),
        "{started}"
    );
    let outputs = outputs(&ran.stdout);
    assert_eq!(outputs.len(), 4, "{}", ran.stdout);
    for output in &outputs {
        assert_eq!(output["status"], "success", "{output}");
    }
    let there = server.path("workspace").canonicalize().unwrap();
    let said = outputs[0]["result"]["stdout"].as_str().unwrap();
    assert!(said.starts_with(there.to_str().unwrap()), "{said}");
    assert!(said.contains("brewed there\n"), "{said}");
    // Laid in for this session only.
    let folder = said.split_once("folder=").unwrap().1.trim_end();
    assert!(folder.starts_with('/'), "{said}");
    let folder = std::path::Path::new(folder);
    assert!(
        eventually(|| !folder.exists()),
        "{} stays",
        folder.display()
    );
    // The home of the account, and not the one the program has.
    assert!(!said.contains(world.root().to_str().unwrap()), "{said}");
    assert_eq!(
        fs::read_to_string(there.join("notes/a.txt")).unwrap(),
        "needle in a file\n"
    );
    assert!(
        outputs[2]["result"]["content"]
            .to_string()
            .contains("from a command")
    );
    assert_eq!(outputs[3]["result"]["matches"][0]["path"], "notes/a.txt");
    assert!(!world.work("made.txt").exists() && !world.work("notes").exists());
}

/// The other end is told nothing by us: this process cannot be asked any more.
#[test]
fn the_tree_there_ends_when_the_program_is_killed() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    world.config(&(table(&server) + YES));
    let mark = mark();
    // One that is deaf for TERM, one with a session of its own, one that was forked twice.
    let command = format!(
        "echo begun; trap '' TERM; (setsid bash -c 'trap \"\" TERM; exec -a {mark} sleep 300' &); \
         (bash -c '(exec -a {mark} sleep 300 &)' &); bash -c 'exec -a {mark} sleep 300'"
    );
    let args = json!({"command": command, "block_until_ms": 300}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "execute_shell_command", &args)]));
    provider.then(vec![crate::fake::Step::WaitForClose]);
    let running = world.start(&["run", "--json", "--session", "s", "go"]);
    provider.until_requests(2);
    until_there(&mark);
    // What is printed comes beside the next request, and not before it.
    assert!(eventually(|| !outputs(&running.taken().0).is_empty()));
    let task = outputs(&running.taken().0)[0]["result"]["task_id"]
        .as_str()
        .unwrap()
        .to_owned();
    running.signal(Signal::KILL);
    running.wait();
    gone(&mark);
    // Whoever comes next is told that it is lost.
    let wait = json!({"task_id": task}).to_string();
    let (_, waited) = called(&world, "await_shell", &wait, &["--session", "s"]);
    assert_eq!(waited["status"], "interrupted", "{waited}");
}

/// The process that serves us there is killed while a command runs.
#[test]
fn a_connection_that_drops_interrupts_the_command_and_the_next_call_makes_it_again() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    world.config(&(table(&server) + YES));
    let mark = mark();
    let long = json!({"command": format!("echo begun; exec -a {mark} sleep 300")});
    let long = json!({"command": format!("bash -c {:?}", long["command"].as_str().unwrap())});
    let next = json!({"command": "echo again"}).to_string();
    provider.then(calls(
        OpenAi,
        &[call("c1", "execute_shell_command", &long.to_string())],
    ));
    provider.then(calls(OpenAi, &[call("c2", "execute_shell_command", &next)]));
    provider.then(answer(OpenAi, "done"));
    let running = world.start(&["run", "--json", "go"]);
    until_there(&mark);
    server.drop_connections();
    let ran = running.wait().exits(0);
    gone(&mark);
    let outputs = outputs(&ran.stdout);
    assert_eq!(outputs[0]["error"]["code"], "interrupted", "{}", outputs[0]);
    assert!(outputs[0].to_string().contains("begun"), "{}", outputs[0]);
    assert!(
        outputs[0].to_string().contains("was lost"),
        "{}",
        outputs[0]
    );
    assert_eq!(outputs[1]["result"]["stdout"], "again\n", "{}", outputs[1]);
}

#[test]
fn without_a_rule_each_command_there_would_be_asked_for() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let world = World::new();
    world.config(&table(&server));
    let args = json!({"command": "touch ran"}).to_string();
    let (_, refused) = called(&world, "execute_shell_command", &args, &[]);
    let said = refused.to_string();
    assert!(said.contains("does not isolate"), "{said}");
    assert!(!server.path("workspace/ran").exists());
    // What changes nothing outside of the workspace there is not asked for.
    let written = result(&world, "file_write", &json!({"path": "a", "content": "x"}));
    assert_eq!(written["created"], true);
    assert!(server.path("workspace/a").exists());
}

#[rstest]
#[case::unknown("none", "add its key to the known_hosts")]
#[case::changed("changed", "is another than the one in line 1")]
#[test]
fn a_host_that_is_not_the_known_one_is_a_refusal_and_nothing_runs_here(
    #[case] known: &str,
    #[case] why: &str,
) {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let world = World::new();
    world.config(&(table(&server).replace("/known\"", &format!("/{known}\"")) + YES));
    let args = json!({"command": "touch ran"}).to_string();
    let ran = world.run(&["tools", "call", "execute_shell_command", "--args", &args]);
    assert_ne!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    assert!(!world.work("ran").exists() && !server.path("workspace/ran").exists());
    assert_eq!(fs::read_to_string(server.path("none")).unwrap(), "");
}

#[test]
fn doctor_connects_and_says_what_it_found() {
    let Some(server) = Server::start_with(FILES) else {
        return;
    };
    let world = World::new();
    world.config(&table(&server));
    let rows = |world: &World| {
        let document = world.run(&["doctor", "--json"]).json();
        let rows = document["checks"].as_array().unwrap().clone();
        let mut rows = rows.into_iter().filter(|row| row["what"] == "ssh");
        rows.next().unwrap()
    };
    let row = rows(&world);
    let finding = row["finding"].as_str().unwrap();
    for part in ["level none", "@127.0.0.1 port", "Linux", "/workspace"] {
        assert!(finding.contains(part), "{row}");
    }
    assert_eq!(row["status"], "ok", "{row}");
    world.config(&table(&server).replace("/known\"", "/none\""));
    let row = rows(&world);
    assert_eq!(row["status"], "warn", "{row}");
    assert!(
        row["hint"].as_str().unwrap().contains("known_hosts"),
        "{row}"
    );
}

#[rstest]
#[case::no_table("[sandbox]\nbackend = \"ssh\"\n", "needs `sandbox.ssh`")]
#[case::another_backend("[sandbox.ssh]\nhost = \"h\"\n", "for the backend `ssh` only")]
#[case::unknown_key("[sandbox.ssh]\nhots = \"h\"\n", "`sandbox.ssh.host`")]
#[case::no_host(&with("host = \"h\"", ""), "needs `host`")]
#[case::no_known_hosts(&with("known_hosts = \"k\"", ""), "needs `known_hosts`")]
#[case::no_key(&with("key_file = \"k\"", ""), "needs `key_file` or `agent`")]
#[case::two_keys(&with("key_file = \"k\"", "key_file = \"k\"\nagent = \"a\""), "both `key_file` and `agent`")]
#[case::passphrase(&with("key_file = \"k\"", "agent = \"a\"\npassphrase_env = \"P\""), "for a `key_file` only")]
#[case::relative(&with("workspace = \"/w\"", "workspace = \"w\""), "absolute path on the other machine")]
#[case::port(&with("host = \"h\"", "host = \"h\"\nport = 70000"), "from 1 to 65535")]
#[case::require(&with("[sandbox]", "[sandbox]\nrequire = \"full\""), "never gives")]
#[case::network(&with("[sandbox]", "[sandbox]\nnetwork = false"), "cannot be held by the backend `ssh`")]
#[case::hosts(&with("[sandbox]", "[sandbox]\nnetwork = [\"example.com\"]"), "cannot be held by the backend `ssh`")]
#[case::memory(&with("[sandbox]", "[sandbox]\nmemory_mb = 100"), "does nothing with the backend `ssh`")]
#[test]
fn a_table_that_cannot_hold_is_a_problem(#[case] toml: &str, #[case] why: &str) {
    let world = World::new();
    world.config(toml);
    let ran = world.run(&["config", "check"]);
    assert_ne!(ran.code, Some(0));
    let said = ran.stdout + &ran.stderr;
    assert!(said.contains(why), "{said}");
}

/// A table that is right, with something in the place of something else.
fn with(old: &str, new: &str) -> String {
    let right = "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nhost = \"h\"\nuser = \"u\"\n\
                 key_file = \"k\"\nknown_hosts = \"k\"\nworkspace = \"/w\"\n";
    assert!(right.contains(old), "{old}");
    right.replacen(old, new, 1)
}

#[test]
fn a_table_that_is_right_is_right_and_is_explained() {
    let world = World::new();
    world.config(&with(
        "[sandbox]",
        "[sandbox]\nrequire = \"none\"\nnetwork = true",
    ));
    fs::write(world.work("k"), "a key").unwrap();
    let ran = world.run(&["config", "check"]).exits(0);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    let explained = world.run(&["config", "explain"]).exits(0).stdout;
    let key = world.work("k").display().to_string();
    assert!(
        explained.contains(&format!("key_file = {key:?}")),
        "{explained}"
    );
    assert!(explained.contains("ssh, level none"), "{explained}");
}
