//! Where nothing holds a command, and where what is fetched leads on.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::call;
use crate::world::World;

fn code(world: &World, tool: &str, args: &Value) -> String {
    let output = call(world, tool, args);
    output["error"]["code"]
        .as_str()
        .unwrap_or("none")
        .to_owned()
}

const UNHELD: &str = "[sandbox]\nbackend = \"passthrough\"\n";

#[test]
fn a_repository_ran_its_own_programs_by_a_line_that_only_reads() {
    let world = World::with(UNHELD);
    let workspace = world.path("here");
    std::fs::create_dir_all(workspace.join(".git/objects")).unwrap();
    std::fs::create_dir_all(workspace.join(".git/refs")).unwrap();
    std::fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = "[core]\n\tfsmonitor = touch monitored\n\tpager = touch paged\n\
        [diff]\n\texternal = touch compared\n\
        [filter \"x\"]\n\tclean = touch filtered\n\
        [diff \"x\"]\n\ttextconv = touch converted\n";
    std::fs::write(workspace.join(".git/config"), config).unwrap();
    let attributes = "* filter=x diff=x\n";
    std::fs::write(workspace.join(".gitattributes"), attributes).unwrap();
    std::fs::write(workspace.join("f"), "text\n").unwrap();
    for line in [
        "git status",
        "git diff",
        "git log -p",
        "ls && git ls-files -m",
        "rg text",
    ] {
        let output = call(&world, "run_command", &json!({ "command": line }));
        assert_eq!(
            output["error"]["code"], "needs_approval",
            "{line}: {output}"
        );
        let message = output["error"]["message"].as_str().unwrap();
        let why = [
            "git runs what the configuration",
            "rg reads options from a file",
        ];
        assert!(
            why.iter().any(|why| message.contains(why)),
            "{line}: {message}"
        );
    }
    for ran in ["monitored", "paged", "compared", "filtered", "converted"] {
        assert!(!workspace.join(ran).exists(), "{ran}");
    }
    assert_eq!(
        code(&world, "run_command", &json!({"command": "ls -l | wc -l"})),
        "none"
    );
    assert_eq!(
        code(&world, "run_command", &json!({"command": "git --version"})),
        "none"
    );
}

#[test]
fn a_line_that_only_reads_followed_a_link_out_of_the_workspace() {
    let world = World::with(UNHELD);
    let workspace = world.path("here");
    std::fs::create_dir_all(workspace.join("sub")).unwrap();
    std::fs::write(workspace.join("sub/f"), "text\n").unwrap();
    symlink("/etc/passwd", workspace.join("link")).unwrap();
    symlink("/etc", workspace.join("sub/etc")).unwrap();
    symlink("sub/f", workspace.join("within")).unwrap();
    let line = |args: Value| code(&world, "run_command", &args);
    for out in [
        "cat link",
        "cat < link",
        "head -3 sub/etc/passwd",
        "ls sub/etc",
        "cd sub && cat etc/passwd",
        "grep -flink sub/f",
        "grep --file=link sub/f",
        "bash -c 'cat link'",
        "cat *",
        "grep -R root sub",
    ] {
        assert_eq!(line(json!({ "command": out })), "needs_approval", "{out}");
    }
    let there = json!({"command": "cat etc/passwd", "cwd": "sub"});
    assert_eq!(line(there), "needs_approval");
    assert_eq!(
        line(json!({"command": "cat passwd", "cwd": "sub/etc"})),
        "needs_approval"
    );
    for within in [
        "cat within",
        "cat sub/f",
        "cd sub && cat f",
        "cat not-there || true",
        "grep -r text sub",
        "ls -l",
    ] {
        assert_eq!(line(json!({ "command": within })), "none", "{within}");
    }
    assert_eq!(line(json!({"command": "cat f", "cwd": "sub"})), "none");
}

/// Leads everything on to another path: `/free` to `/page`, anything else to `/denied`.
fn leads_on() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let to = match head.split(' ').nth(1).unwrap_or_default() {
                "/free/a" => "location: /free/page",
                "/free/b" => "location: /denied",
                "/free/c" => "location: /elsewhere",
                _ => "",
            };
            let reply = if to.is_empty() {
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: 5\r\n\r\nthere".to_owned()
            } else {
                format!(
                    "HTTP/1.1 302 Found\r\n{to}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                )
            };
            let _gone = stream.write_all(reply.as_bytes());
        }
    });
    address
}

#[test]
fn a_redirect_led_past_the_rules_of_the_configuration() {
    let address = leads_on();
    let world = World::with(&format!(
        "[web]\nblock_private = false\n[permissions]\nrules = [\n\
         {{ tool = \"fetch_webpages\", args = \"urls=http://{address}/free/*\", decision = \"allow\" }},\n\
         {{ tool = \"fetch_webpages\", args = \"urls=*/denied\", decision = \"deny\" }},\n]\n"
    ));
    let url = |path: &str| format!("http://{address}{path}");
    let urls = json!({"urls": [url("/free/a"), url("/free/b"), url("/free/c")]});
    let output = call(&world, "fetch_webpages", &urls);
    let pages = output["result"]["results"].as_array().unwrap();
    assert_eq!(pages[0]["content"], "there", "{output}");
    let error = |at: usize| {
        (
            &pages[at]["error"]["code"],
            pages[at]["error"]["message"].as_str(),
        )
    };
    assert_eq!(error(1).0, "not_permitted");
    let denied = format!(
        "it leads on to {}, which is not permitted: rule 1 denies it",
        url("/denied")
    );
    assert_eq!(error(1).1, Some(denied.as_str()));
    assert_eq!(error(2).0, "needs_approval");
    assert!(error(2).1.unwrap().contains(&url("/elsewhere")), "{output}");
}

#[test]
fn metadata_services_are_told_by_their_addresses() {
    let world = World::with(
        "[web]\nblock_private = false\nmetadata = [\"169.254.170.2\"]\n[[permissions.rules]]\n\
         tool = \"fetch_webpages\"\ndecision = \"allow\"\n",
    );
    let urls = json!({"urls": ["http://169.254.169.254/", "http://[fd00:ec2::254]/"]});
    let output = call(&world, "fetch_webpages", &urls);
    for page in output["result"]["results"].as_array().unwrap() {
        assert_eq!(page["error"]["code"], "not_permitted", "{output}");
        let message = page["error"]["message"].as_str().unwrap();
        assert!(message.contains("and it is not named"), "{message}");
    }
    let wrong = World::with("[web]\nmetadata = [\"metadata.google.internal\"]\n");
    let said = wrong.run(&["config", "explain"]).shown();
    assert!(
        said.contains("`web.metadata.0` must be an IP address"),
        "{said}"
    );
}

#[test]
fn what_nothing_would_hold_was_called_right() {
    for (key, value) in [
        ("network", "[\"example.com\"]"),
        ("network", "false"),
        ("read", "[\"/usr\"]"),
    ] {
        let ran = World::with(&format!("{UNHELD}{key} = {value}\n")).run(&["config", "check"]);
        assert_eq!(ran.code, 2, "{}", ran.shown());
        let said = format!("`sandbox.{key}` cannot be held by the backend `passthrough`");
        assert!(ran.shown().contains(&said), "{}", ran.shown());
        assert!(ran.shown().contains("`local` and `bwrap` can hold it"));
    }
}
