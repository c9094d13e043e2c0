//! Keys about this machine: limits, files, commands, the store.

use serde_json::json;

use super::{PATH, SCRIPTED, call, called, events, listed, shell};
use crate::world::World;

#[test]
fn an_alias_of_ones_own_is_called_and_never_listed() {
    let world = World::with("[tools.aliases]\nreckon = \"calculator\"\n");
    let output = call(&world, "reckon", &json!({"expression": "6 * 7"}));
    assert_eq!(output["status"], "success", "{output}");
    assert!(!listed(&world, &[]).contains(&"reckon".to_owned()));
}

#[test]
fn the_person_at_this_machine_has_the_role_of_the_configuration() {
    let has = |world: &World, tool: &str| listed(world, &[]).contains(&tool.to_owned());
    let guest = World::with("[permissions]\nlocal_role = \"guest\"\n");
    assert!(has(&guest, "calculator") && !has(&guest, "file_write"));
    let admin = World::new();
    assert!(has(&admin, "file_write") && has(&admin, "execute_shell_command"));
}

#[test]
fn one_call_at_a_time_is_one_call_at_a_time() {
    let world = World::with(&format!("{SCRIPTED}[agent]\nmax_tool_concurrency = 1\n"));
    let command = "mkdir held && sleep 0.3 && rmdir held";
    let call = |id: &str| {
        format!(
            "{{ id: {id}, name: execute_shell_command, arguments: {{ command: \"{command}\" }} }}"
        )
    };
    let script = format!(
        "- tool_calls: [{}, {}]\n- text: done\n",
        call("a"),
        call("b")
    );
    let events = events(&world, &script);
    let codes: Vec<_> = events
        .iter()
        .filter_map(|event| event.pointer("/message/metadata/tool_agent_output/result/exit_code"))
        .collect();
    assert_eq!(codes, [&json!(0), &json!(0)], "{events:#?}");
}

#[test]
fn a_turn_ends_where_its_tokens_are_used_up() {
    let world = World::with(&format!("{SCRIPTED}[agent]\nmax_total_tokens = 1\n"));
    let script = "- tool_calls: [{ name: current_time, arguments: {} }]\n- text: done\n";
    let events = events(&world, script);
    assert_eq!(events.last().unwrap()["outcome"], "limit", "{events:#?}");
}

#[test]
fn a_turn_ends_where_one_call_fails_too_often() {
    let again = "- tool_calls: [{ name: file_read, arguments: { path: not-there } }]\n";
    for limit in [1, 2] {
        let world = World::with(&format!(
            "{SCRIPTED}[agent]\nidentical_failure_limit = {limit}\n"
        ));
        let events = events(&world, &format!("{}- text: done\n", again.repeat(3)));
        let last = events.last().unwrap();
        assert_eq!(last["outcome"], "limit", "{events:#?}");
        assert_eq!(last["output"]["error"]["code"], "limit", "{last:#}");
        let calls = events.iter().filter(|event| event["type"] == "tool_call");
        assert_eq!(calls.count(), limit, "{events:#?}");
    }
}

#[test]
fn a_command_runs_in_the_backend_that_is_named() {
    let bwrap = std::path::Path::new("/usr/bin/bwrap").exists();
    for backend in ["local", "passthrough", "bwrap"] {
        if backend == "bwrap" && !bwrap {
            eprintln!("SKIPPED(bwrap): there is no bubblewrap here");
            continue;
        }
        let world = World::with(&format!(
            "{SCRIPTED}[sandbox]\nbackend = \"{backend}\"\nrequire = \"none\"\n"
        ));
        let events = events(&world, "- text: done\n");
        assert_eq!(events[0]["sandbox"]["backend"], backend, "{events:#?}");
    }
}

/// Where this machine can confine a command fully, that is what is had; elsewhere it is refused.
#[test]
fn a_command_is_confined_as_demanded_or_refused() {
    let world = World::with("[sandbox]\nrequire = \"full\"\n");
    let doctor = world.run_with(&["doctor"], &[PATH]).stdout;
    let output = shell(&world, "pwd");
    if doctor.contains("local, level full") {
        assert_eq!(output["status"], "success", "{output}");
    } else {
        assert_eq!(output["error"]["code"], "unavailable", "{output}");
    }
}

#[test]
fn a_command_reaches_the_network_where_it_is_given() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let command = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo through'");
    let with = |network: &str| {
        let world = World::with(&format!("[sandbox]\nnetwork = {network}\n"));
        shell(&world, &command)["result"]["stdout"].clone()
    };
    assert_eq!(with("true"), "through\n");
    assert_ne!(with("false"), "through\n");
}

#[test]
fn a_command_reads_and_writes_where_it_is_told_it_may() {
    let world = World::new();
    for file in ["open/a", "shut/a", "out/a"] {
        world.write(file, "seen");
    }
    let root = world.path("").canonicalize().unwrap();
    let toml = "[sandbox]\nread = [\"ROOT/open\"]\nwrite = [\"ROOT/out\"]\n";
    world.write(
        "here/outfitter.toml",
        &toml.replace("ROOT", root.to_str().unwrap()),
    );
    let tried = |script: &str| {
        let output = shell(&world, &script.replace("ROOT", root.to_str().unwrap()));
        assert_eq!(output["status"], "success", "{output}");
        output["result"].clone()
    };
    assert_eq!(tried("cat ROOT/open/a")["stdout"], "seen");
    assert_ne!(tried("cat ROOT/shut/a")["stdout"], "seen");
    assert_ne!(tried("echo x > ROOT/open/a")["exit_code"], 0);
    assert_eq!(tried("echo x > ROOT/out/a")["exit_code"], 0);
}

#[test]
fn a_command_reaches_the_hosts_that_are_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::Read::read(&mut stream, &mut [0; 4096]).unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        std::io::Write::write_all(&mut stream, answer).unwrap();
    });
    let world = World::with(&format!("[sandbox]\nnetwork = [\"127.0.0.1:{port}\"]\n"));
    let output = shell(
        &world,
        &format!("curl -s http://127.0.0.1:{port}/; curl -s http://127.0.0.1:1/"),
    );
    if output["error"]["code"] == "unavailable" {
        eprintln!("SKIPPED(namespace): it takes a network namespace: {output}");
        return;
    }
    assert_eq!(
        output["result"]["stdout"], "hello127.0.0.1:1 is not in [sandbox] network\n",
        "{output}"
    );
    server.join().unwrap();
}

/// Each limit by itself holds its own line, and says which it was.
#[test]
fn a_command_is_held_to_what_it_may_use() {
    for (key, most, line) in [
        (
            "memory_mb",
            64,
            "head -c 512m /dev/zero | tail -n 1 > all; test -s all && echo all",
        ),
        (
            "cpu_seconds",
            1,
            "timeout 20 sh -c 'while :; do :; done'; test $? = 124 && echo all",
        ),
        (
            "processes",
            320,
            "i=0; while [ $i -lt 500 ]; do sleep 20 & i=$((i+1)); done 2>/dev/null; echo all",
        ),
    ] {
        let limited = World::with(&format!("[sandbox]\n{key} = {most}\n"));
        let held = shell(&limited, line);
        let stdout = held["result"]["stdout"].to_string();
        assert!(!stdout.contains("all"), "{key}: {held}");
        assert_eq!(held["result"]["sandbox"][0]["rule"], key, "{held}");
        // Without the limit the same line comes to its end.
        if key != "cpu_seconds" {
            let free = shell(&World::new(), line);
            assert_eq!(free["result"]["stdout"], "all\n", "{free}");
        }
    }
}

#[test]
fn a_command_has_no_more_time_than_there_may_be() {
    let world = World::with("[shell]\nmax_timeout_seconds = 5\n");
    let arguments = json!({"command": "sleep 300", "timeout_seconds": 300});
    let output = call(&world, "execute_shell_command", &arguments);
    assert_eq!(output["status"], "timeout", "{output}");
}

#[test]
fn a_command_in_one_call_has_the_time_of_the_configuration() {
    let world = World::with("[shell]\ntimeout_seconds = 5\n");
    let output = call(
        &world,
        "run_command",
        &json!({"command": "echo begun; sleep 300"}),
    );
    assert_eq!(output["status"], "timeout", "{output}");
    assert_eq!(output["result"]["timed_out"], true);
    let longer = json!({"command": "sleep 5.5; echo done", "timeout_seconds": 30});
    let output = call(&world, "run_command", &longer);
    assert_eq!(output["result"]["stdout"], "done\n", "{output}");
}

#[test]
fn a_result_has_as_much_output_as_there_may_be() {
    let world = World::with("[shell]\nmax_output_chars = 200\n");
    let output = shell(&world, "seq 1 10000");
    let stdout = output["result"]["stdout"].as_str().unwrap();
    assert!(stdout.len() < 1000, "{output}");
    assert!(stdout.starts_with("1\n2\n"), "{output}");
}

#[test]
fn a_file_is_read_as_far_as_there_may_be() {
    let world = World::with("[files]\nmax_read_bytes = 20\n");
    world.write("here/a.txt", &"a line\n".repeat(100));
    let output = call(&world, "file_read", &json!({"path": "a.txt"}));
    assert_eq!(output["status"], "success", "{output}");
    let text = output["result"].to_string();
    assert!(text.matches("a line").count() <= 3, "{output}");
}

#[test]
fn file_tools_fill_no_more_than_there_may_be() {
    let world = World::with("[files]\nquota_mb = 1\n");
    // What was there before is not theirs.
    world.write("here/before.txt", &"b".repeat(2 << 20));
    let write = |path: &str, bytes: usize| {
        // More than one argument of a program may have.
        let arguments = json!({ "path": path, "content": "a".repeat(bytes) });
        world.write("arguments.json", &arguments.to_string());
        let args = format!("@{}", world.path("arguments.json").display());
        let call = ["tools", "call", "file_write", "--json", "--args", &args];
        world.run_with(&call, &[PATH]).json()
    };
    let output = write("deep/er/a.txt", 1 << 20);
    assert_eq!(output["status"], "success", "{}", output["error"]);
    let output = write("new/b.txt", (1 << 20) + 1);
    assert_eq!(output["error"]["code"], "too_large", "{}", output["error"]);
    let message = output["error"]["message"].as_str().unwrap();
    assert!(message.contains("[files] quota_mb"), "{message}");
    assert!(!world.path("here/new").exists());
}

#[test]
fn an_administrator_reaches_beyond_the_workspace_where_it_is_opened() {
    let read = |toml: &str, role: &str| {
        let world = World::with(toml);
        world.write("beside/a.txt", "seen");
        let path = world.path("beside/a.txt").canonicalize().unwrap();
        let arguments = json!({ "path": path });
        let output = called(&world, "file_read", &arguments, &["--role", role]).json();
        output["result"].to_string().contains("seen")
    };
    let open = "[files]\nadmin_open = true\n";
    assert!(read(open, "admin"));
    assert!(!read(open, "user"));
    assert!(!read("", "admin"));
}

#[test]
fn sessions_are_kept_where_the_configuration_says() {
    let world = World::with("[store]\nurl = \"sqlite:kept/log.db\"\ndata_dir = \"data\"\n");
    let output = called(
        &world,
        "calculator",
        &json!({"expression": "1"}),
        &["--session", "s"],
    );
    assert_eq!(output.code, 0, "{}", output.shown());
    assert!(world.path("here/kept/log.db").is_file());
    assert!(world.path("here/data").is_dir());
    assert!(!world.path("home/.local").exists());
}

#[test]
fn the_context_of_a_model_is_told() {
    let world = World::with("[model]\nprovider = \"ollama\"\ncontext_tokens = 4711\n");
    let ran = world.run_with(&["doctor"], &[PATH]);
    assert!(ran.stdout.contains("4711"), "{}", ran.stdout);
}

#[test]
fn a_rule_decides_about_the_commands_of_a_line() {
    let world = World::with(
        "[sandbox]\nbackend = \"passthrough\"\nrequire = \"none\"\n[permissions]\nrules = [\n\
         { tool = \"*command\", args = \"mkdir *\", decision = \"allow\" },\n\
         { tool = \"*command\", args = \"mkdir -m *\", decision = \"deny\" },\n\
         { tool = \"file_*\", args = \".env\", decision = \"deny\" },\n]\n",
    );
    let code = |tool: &str, args: serde_json::Value| {
        let output = call(&world, tool, &args);
        output["error"]["code"]
            .as_str()
            .unwrap_or("none")
            .to_owned()
    };
    let line = |line: &str| code("run_command", json!({ "command": line }));
    assert_eq!(line("mkdir a"), "none");
    assert_eq!(line("mkdir b && rmdir b"), "needs_approval");
    assert_eq!(line("sh -c 'mkdir -m 700 c'"), "not_permitted");
    // Reading below the workspace is free without a rule; reading elsewhere is not.
    assert_eq!(line("ls -l | wc -l"), "none");
    assert_eq!(line("ls /"), "needs_approval");
    assert_eq!(
        code("file_read", json!({ "path": "./x/../.ENV" })),
        "not_permitted"
    );
    assert_eq!(code("file_read", json!({ "path": "env" })), "not_found");
}
