//! A tenant whose words nobody else may ever read: not in a listing, an event, a result, an error,
//! a replay, nor in what operators read.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::http::{At, Whole};
use crate::mcp::Mcp;
use crate::served::{ends, of, outputs};
use crate::within::Within;
use crate::world::World;

/// In every word of the canary, and in no word of anybody else.
const MARK: &str = "zq7canary7qz";

/// The canary, and who looks for it. Both have all rights, the same subject and the same sessions.
const CANARY: &str = "birds/ann/admin";
const OTHERS: [&str; 3] = ["cats/ann/admin", "birds/bob/admin", "birds/eve/guest"];

fn canary(within: &Within<'_>) -> Left {
    let at = within.by(CANARY);
    let calls = json!([
        {"id": "a", "name": "file_write", "arguments": {"path": format!("{MARK}.txt"), "content": format!("{MARK} {}", "words ".repeat(200))}},
        {"id": "b", "name": "project_cli", "arguments": {"command": "calendar", "subcommand": "write", "args": {"title": MARK, "start": "2026-12-01T10:00:00Z"}}},
        {"id": "c", "name": "ask_user", "arguments": {"question": format!("{MARK}?"), "choices": [MARK, "no"]}},
    ]);
    let body = json!({"session_id": "shared", "input": calls.to_string()});
    let lines = at.post("/v1/runs", &body).is(200).lines();
    ends(&lines, "waiting");
    for output in outputs(&lines) {
        assert_eq!(output["status"], "success", "{output}");
    }
    let read = json!({"path": format!("{MARK}.txt")});
    let output = at.call("shared", "file_read", &read).is(200).json();
    let shell = json!({"command": format!("echo {MARK}; sleep 600"), "block_until_ms": 100});
    let job = at
        .call("shared", "execute_shell_command", &shell)
        .is(200)
        .json();
    Left {
        run: lines[0]["run_id"].as_str().unwrap().to_owned(),
        question: of(&lines, "question")[0]["question_id"]
            .as_str()
            .unwrap()
            .to_owned(),
        artifact: output["artifacts"][0].as_str().unwrap().to_owned(),
        job: job["result"]["task_id"].as_str().unwrap().to_owned(),
    }
}

/// What the canary left behind, by the ids that it was given.
struct Left {
    run: String,
    question: String,
    artifact: String,
    job: String,
}

#[test]
fn nobody_reads_the_words_of_another() {
    let log = Written::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(log.clone())
        .init();
    let world = World::new();
    let planner = world.work("planner").display().to_string();
    let within = Within::start_with(
        &world,
        |config| {
            let program = config.commands.entry("planner".to_owned()).or_default();
            program.program = "planner".to_owned();
            program.env.insert("PLANNER_DIR".to_owned(), planner);
        },
        |builder| builder,
    );
    let left = canary(&within);
    for token in OTHERS {
        looks_everywhere(&world, &within.by(token), &left, token.ends_with("/admin"));
    }
    // It is all still there for the canary, and the question can be answered.
    let at = within.by(CANARY);
    let messages = at.get("/v1/sessions/shared/messages").is(200);
    assert!(messages.text.contains(MARK));
    let whole = at.get(&format!("/v1/artifacts/{}", left.artifact)).is(200);
    assert!(whole.text.contains(MARK));
    let lines = at.answer(&left.question, &json!(MARK));
    ends(&lines, "success");
    drop(within);
    log.is_silent();
}

fn looks_everywhere(world: &World, at: &At, left: &Left, may_all: bool) {
    let clean = |what: &str, whole: &Whole| {
        let headers = format!("{:?}", whole.headers);
        assert!(
            !whole.text.contains(MARK) && !headers.contains(MARK),
            "{what}: {}",
            whole.text
        );
    };
    // What there is.
    for path in [
        "/v1/sessions",
        "/v1/tools",
        "/v1/skills",
        "/v1/mcp/servers",
        "/v1/diagnostics",
        "/agui/capabilities",
        "/readyz",
    ] {
        clean(path, &at.get(path).is(200));
    }
    assert_eq!(at.get("/v1/sessions").json()["sessions"], json!([]));
    // What is another's does not exist.
    let gone = |what: &str, whole: Whole| {
        clean(what, &whole);
        whole.is_problem(404, "not_found");
    };
    let Left {
        run,
        question,
        artifact,
        job,
    } = left;
    for path in [
        "/v1/sessions/shared".to_owned(),
        "/v1/sessions/shared/messages".to_owned(),
        "/v1/tools?session_id=shared".to_owned(),
        format!("/v1/runs/{run}"),
        format!("/v1/runs/{run}/events"),
        format!("/v1/artifacts/{artifact}"),
    ] {
        gone(&path, at.get(&path));
    }
    gone("delete", at.delete("/v1/sessions/shared"));
    let empty = json!({});
    gone("cancel", at.post(&format!("/v1/runs/{run}/cancel"), &empty));
    let answer = json!({"answer": "no"});
    gone(
        "answer",
        at.post(&format!("/v1/questions/{question}/answer"), &answer),
    );
    let approve = json!({"decision": "approve"});
    gone(
        "approve",
        at.post(&format!("/v1/approvals/{question}"), &approve),
    );

    // What a session of the same name sees.
    let call = |tool: &str, arguments: Value| {
        let whole = at.call("shared", tool, &arguments);
        clean(tool, &whole);
        whole.json()
    };
    for tool in ["read_artifact", "ask_user"] {
        let output = call(tool, json!({"id": artifact, "question": "?"}));
        assert_ne!(output["status"], "success", "{output}");
    }
    let output = call("read_artifact", json!({"id": artifact}));
    assert_eq!(output["error"]["code"], "not_found", "{output}");
    let read = json!({"command": "calendar", "subcommand": "read", "args": {}});
    let output = call("project_cli", read.clone());
    assert_eq!(output["result"]["count"], 0, "{output}");
    let mut calls = vec![
        json!({"id": "a", "name": "read_artifact", "arguments": {"id": artifact}}),
        json!({"id": "b", "name": "project_cli", "arguments": read}),
    ];
    if may_all {
        for tool in ["await_shell", "kill_shell"] {
            let output = call(tool, json!({"task_id": job}));
            assert_eq!(output["error"]["code"], "not_found", "{output}");
        }
        let data = world.data("");
        let look = format!(
            "cat {0}/outfitter.db; grep -r . {0}; ls -R {0}; ls -R /; env",
            data.display()
        );
        call("execute_shell_command", json!({"command": look}));
        call("glob", json!({"pattern": "**"}));
        call("grep", json!({"pattern": "canary"}));
        call("list_dir", json!({"path": data}));
        for (id, tool, arguments) in [
            ("c", "glob", json!({"pattern": "**/*.txt"})),
            ("d", "execute_shell_command", json!({"command": look})),
        ] {
            calls.push(json!({"id": id, "name": tool, "arguments": arguments}));
        }
    }
    let input = Value::from(calls).to_string();
    let body = json!({"session_id": "shared", "input": input});
    let ran = at.post("/v1/runs", &body).is(200);
    clean("a run", &ran);
    let own = ran.lines()[0]["run_id"].as_str().unwrap().to_owned();
    clean(
        "a replay",
        &at.get(&format!("/v1/runs/{own}/events")).is(200),
    );
    clean("messages", &at.get("/v1/sessions/shared/messages").is(200));
    let told = at.agui(
        "shared",
        "r1",
        &json!({
            "protocolVersion": "1.0",
            "messages": [{"id": "m1", "role": "user", "content": "hello"}],
        }),
    );
    clean("agui", &told);
    let resume = json!({"protocolVersion": "1.0", "resume": [
        {"interruptId": question, "status": "resolved", "payload": "no"},
    ]});
    let told = at.agui("shared", "r2", &resume);
    clean("agui resume", &told);
    assert_eq!(
        told.sse().last().unwrap()["code"],
        "not_found",
        "{}",
        told.text
    );
    for client in [Mcp::modern(at), Mcp::legacy(at)] {
        assert!(!client.tools().join(" ").contains(MARK));
        let read = client.call("read_artifact", &json!({"id": artifact}));
        assert!(!read.to_string().contains(MARK), "{read}");
    }
    // Its own session goes, and only its own.
    at.delete("/v1/sessions/shared").is(204);
}

/// What operators read.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn is_silent(&self) {
        let text = String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned();
        let said = text.lines().find(|line| line.contains(MARK));
        assert_eq!(said, None, "the log tells the words of a tenant");
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Written {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
