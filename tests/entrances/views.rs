//! One turn as each of its readers has it: live as lines, followed afterwards, live over AG-UI,
//! replayed, and as the messages of its session. Results are the same in all of them; what a call
//! prints is whole in the live ones, in order and before the result, and in none of the others.

use std::collections::BTreeMap;

use outfitter_codec::agui::AguiOrder;
use serde_json::{Value, json};

use crate::lines::Lines;
use crate::scripted::{ADMIN, scripted};
use crate::served::{Serving, ends, outputs, words};
use crate::world::World;

/// A row: a call, how it ends, and what it prints on each stream.
struct Row {
    id: &'static str,
    tool: &'static str,
    arguments: Value,
    /// Its status and, where it failed, its code.
    end: &'static str,
    printed: [&'static str; 2],
    /// What stands in what the model reads of it.
    read: &'static str,
}

fn rows() -> Vec<Row> {
    let shell = |id, command: &str, printed, read| Row {
        id,
        tool: "execute_shell_command",
        arguments: json!({"command": command}),
        end: "success",
        printed,
        read,
    };
    let sum = |id, expression: Value, end, read| Row {
        id,
        tool: "calculator",
        arguments: json!({ "expression": expression }),
        end,
        printed: ["", ""],
        read,
    };
    vec![
        shell(
            "both",
            "echo out; echo err >&2; exit 3",
            ["out\n", "err\n"],
            "\"exit_code\":3",
        ),
        shell("wide", "echo 你好", ["你好\n", ""], "你好"),
        shell(
            "escapes",
            r"printf '\033[31mred\033[0m\n10%%\r100%%\n'",
            ["\u{1b}[31mred\u{1b}[0m\n10%\r100%\n", ""],
            "red\\n100%\\n",
        ),
        // Who watches sees bytes as far as they are text; the model is told what they are.
        shell(
            "older",
            r"printf '\304\343\272\303\n'",
            ["\u{fffd}\u{fffd}\u{fffd}\n", ""],
            "read as gbk, which is a guess",
        ),
        shell("silent", "true", ["", ""], "\"exit_code\":0"),
        sum("right", json!("6*7"), "success", "42"),
        sum("large", json!("9^999"), "success", "art_"),
        sum("fails", json!("1/0"), "error failed", "zero"),
        sum("wrong", json!(7), "error invalid_arguments", "/expression"),
        Row {
            id: "unknown",
            tool: "calculatr",
            arguments: json!({}),
            end: "error unknown_tool",
            printed: ["", ""],
            read: "calculator",
        },
        Row {
            id: "refused",
            tool: "file_read",
            arguments: json!({"path": "/etc/shadow"}),
            end: "denied not_permitted",
            printed: ["", ""],
            read: "not_permitted",
        },
    ]
}

/// What one reader has of a call.
#[derive(Debug, PartialEq)]
struct Seen {
    status: Value,
    code: Value,
    artifacts: Value,
    /// What the model reads, but for what differs from run to run.
    content: String,
}

type Calls = BTreeMap<String, Seen>;

fn seen(output: &Value, content: &str) -> Seen {
    Seen {
        status: output["status"].clone(),
        code: output["error"]["code"].clone(),
        artifacts: output["artifacts"].clone(),
        content: content.to_owned(),
    }
}

/// The results among messages, as event lines and pages of messages have them.
fn of_messages<'a>(messages: impl IntoIterator<Item = &'a Value>) -> (Calls, Vec<Value>) {
    let (mut calls, mut all) = (Calls::new(), Vec::new());
    for message in messages {
        all.push(message.clone());
        let output = &message["metadata"]["tool_agent_output"];
        if let Some(id) = output["tool_call_id"].as_str() {
            let content = message["content"].as_str().unwrap_or_default();
            let before = calls.insert(id.to_owned(), seen(output, content));
            assert_eq!(before, None, "{id} has two results");
        }
    }
    (calls, all)
}

fn of_lines(lines: &[Value]) -> (Calls, Vec<Value>) {
    let messages = lines.iter().filter(|line| line["type"] == "message");
    of_messages(messages.map(|line| &line["message"]))
}

/// What each call printed, by stream, checked to be closed once and before its result.
fn printed(lines: &[Value]) -> BTreeMap<String, [String; 2]> {
    let mut printed: BTreeMap<String, [String; 2]> = BTreeMap::new();
    let mut closed = Vec::new();
    for line in lines {
        if let Some(id) = line["message"]["metadata"]["tool_agent_output"]["tool_call_id"].as_str()
            && printed.contains_key(id)
        {
            assert!(
                closed.contains(&id.to_owned()),
                "{id} is open at its result"
            );
        }
        if line["type"] != "tool_progress" {
            continue;
        }
        let id = line["tool_call_id"].as_str().unwrap().to_owned();
        assert!(!closed.contains(&id), "{id} prints after its end: {line}");
        let stream = usize::from(line["stream"] == "stderr");
        let text = line["text"].as_str().unwrap();
        printed.entry(id.clone()).or_default()[stream].push_str(text);
        if line["closed"] == true {
            closed.push(id);
        }
    }
    printed
}

#[test]
fn every_reader_of_a_turn_has_the_same_results_and_the_live_ones_what_was_printed() {
    let rows = rows();
    let world = world(&rows);
    let serving = Serving::start(&world);

    let live = serving.at.run("lines").lines();
    ends(&live, "success");
    assert_eq!(outputs(&live).len(), rows.len());
    let (calls, messages) = of_lines(&live);
    for row in &rows {
        let call = &calls[row.id];
        let status = call.status.as_str().unwrap();
        let end = match call.code.as_str() {
            Some(code) => format!("{status} {code}"),
            None => status.to_owned(),
        };
        assert_eq!(end, row.end, "{}", row.id);
        assert!(
            call.content.contains(row.read),
            "{}: {}",
            row.id,
            call.content
        );
    }
    assert_eq!(calls["large"].artifacts.as_array().map(Vec::len), Some(1));
    let shown = printed(&live);
    for row in &rows {
        let own = shown.get(row.id).map_or(["", ""], |own| [&own[0], &own[1]]);
        assert_eq!(own, row.printed, "{}", row.id);
    }

    let run = live[0]["run_id"].as_str().unwrap();
    let after = serving.at.follow(run);
    let page = serving.at.get("/v1/sessions/lines/messages").is(200).json();
    let replayed = world
        .run(&["sessions", "replay", "lines", "--json"])
        .exits(0);
    let replayed: Vec<Value> = Lines::replayed(&replayed.stdout)
        .all("message")
        .into_iter()
        .cloned()
        .collect();
    let views = [
        ("followed afterwards", of_lines(&after)),
        (
            "replayed",
            of_messages(replayed.iter().map(|line| &line["message"])),
        ),
        (
            "messages",
            of_messages(page["messages"].as_array().unwrap()),
        ),
    ];
    for (name, (theirs, all)) in views {
        assert_eq!(theirs, calls, "{name}");
        assert_eq!(all, messages, "{name}");
    }

    let mut input = words("m1");
    input["protocolVersion"] = json!("1.0");
    let told = serving.at.agui("agui", "r1", &input).sse();
    over_agui(&told, &calls, &rows);
    // The same run, replayed as lines: the model reads the same of each call.
    let run = told[0]["metadata"]["outfitter"]["run_id"].as_str().unwrap();
    let (again, _) = of_lines(&serving.at.follow(run));
    for event in told
        .iter()
        .filter(|event| event["type"] == "TOOL_CALL_RESULT")
    {
        let call = &again[event["toolCallId"].as_str().unwrap()];
        assert_eq!(event["content"], call.content);
    }
}

fn over_agui(events: &[Value], calls: &Calls, rows: &[Row]) {
    let mut order = AguiOrder::default();
    for event in events {
        order.event(event).unwrap();
    }
    for row in rows {
        let result = events
            .iter()
            .find(|event| event["type"] == "TOOL_CALL_RESULT" && event["toolCallId"] == row.id);
        let result = result.unwrap_or_else(|| panic!("{} has no result", row.id));
        let ours = &calls[row.id];
        let output = &result["metadata"]["outfitter"];
        assert_eq!(output["status"], ours.status, "{}", row.id);
        assert_eq!(output["error"]["code"], ours.code, "{}", row.id);
        let content = result["content"].as_str().unwrap();
        assert!(content.contains(row.read), "{}: {content}", row.id);

        let activity = order.activity(&format!("progress:{}", row.id));
        let pieces = activity.map(|content| content["pieces"].as_array().unwrap().clone());
        let mut own = [String::new(), String::new()];
        for piece in pieces.unwrap_or_default() {
            let stream = usize::from(piece["stream"] == "stderr");
            own[stream].push_str(piece["text"].as_str().unwrap());
        }
        assert_eq!(own, row.printed, "{}", row.id);
        if let Some(content) = activity {
            assert_eq!(content["closed"], true, "{}", row.id);
            assert_eq!(content["omitted_bytes"], 0, "{}", row.id);
        }
    }
}

fn world(rows: &[Row]) -> World {
    let made: Vec<Value> = rows
        .iter()
        .map(|row| json!({"id": row.id, "name": row.tool, "arguments": row.arguments}))
        .collect();
    let turns = json!([{ "tool_calls": made }, { "text": "done" }]);
    scripted(
        &turns,
        &format!("{ADMIN}[tools]\nmax_result_tokens = 300\n"),
    )
}
