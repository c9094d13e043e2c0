//! Secrets in addresses that a model fetches: the tool gets the address itself, everybody else one
//! without them.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use outfitter::{MessageRole, SessionId};
use outfitter_core::{EntryBody, EventBody, Seq};
use serde_json::{Value, json};

use crate::scripted::{ADMIN, scripted};
use crate::served::{Serving, ends, of, outputs};
use crate::terminal::Terminal;
use crate::waiting::{turns, waits};
use crate::within::whole;
use crate::world::World;

/// What every secret here begins with.
const FAKE: &str = "F4KE";

/// Serves every path, and leads on from `/start` to where a token is handed over. Remembers what it
/// was asked for.
fn pages() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let reply = if path.starts_with("/start") {
                "HTTP/1.1 302 Found\r\nlocation: /landed?access_token=F4KE-landed-0002#id_token=F4KE-fragment-3\r\n\
                 connection: close\r\ncontent-length: 0\r\n\r\n"
                    .to_owned()
            } else if path.starts_with("/denied") {
                "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/elsewhere?sig=F4KE-denied-0004\r\n\
                 connection: close\r\ncontent-length: 0\r\n\r\n"
                    .to_owned()
            } else {
                let page = format!("you asked for {path}, [on](#more)");
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}",
                    page.len()
                )
            };
            told.lock().unwrap().push(path);
            let _gone = stream.write_all(reply.as_bytes());
        }
    });
    (address, seen)
}

/// Addresses with a secret wherever one can be.
fn urls(there: SocketAddr) -> Value {
    json!({"urls": [
        format!("http://{there}/start?a=1&api_key=F4KE-query-0001"),
        format!("http://{there}/page?key=F4KE-plain-0005&token=F4KE-other-06#top"),
        format!("http://{there}/denied?X-Amz-Signature=F4KE-signed-0007"),
        format!("http://me:F4KE-pass-0008@{there}/page?password=F4KE-word-0009"),
    ]})
}

fn world(turns: &Value, decision: &str) -> World {
    let more = format!(
        "[web]\nblock_private = false\n{ADMIN}[[permissions.rules]]\ntool = \"fetch_webpages\"\n\
         args = \"urls=http://*127.0.0.1:*\"\ndecision = \"{decision}\"\n"
    );
    scripted(turns, &more)
}

#[track_caller]
fn shows_none(what: &str, text: &str) {
    let at = text.find(FAKE);
    let around = at.map(|at| &text[at.saturating_sub(200)..(at + 60).min(text.len())]);
    assert_eq!(around, None, "{what} shows a secret");
}

/// What the server saw: the addresses themselves.
#[track_caller]
fn were_fetched(seen: &Mutex<Vec<String>>) {
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    assert_eq!(
        seen,
        [
            "/denied?X-Amz-Signature=F4KE-signed-0007",
            "/landed?access_token=F4KE-landed-0002",
            "/page?key=F4KE-plain-0005&token=F4KE-other-06",
            "/start?a=1&api_key=F4KE-query-0001",
        ]
    );
}

#[track_caller]
fn tells_where(output: &Value, there: SocketAddr) {
    let pages = output["result"]["results"].as_array().unwrap();
    let url = |path: &str| json!(format!("http://{there}{path}"));
    assert_eq!(pages[0]["url"], url("/start?a=1&api_key=[redacted]"));
    assert_eq!(
        pages[0]["final_url"],
        url("/landed?access_token=[redacted]#id_token=[redacted]"),
        "{output}"
    );
    assert_eq!(
        pages[1]["url"],
        url("/page?key=[redacted]&token=[redacted]#top")
    );
    let content = pages[1]["content"].as_str().unwrap();
    assert!(
        content.contains("you asked for /page?key=[redacted]&token=[redacted]"),
        "{content}"
    );
    let message = pages[2]["error"]["message"].as_str().unwrap();
    assert!(message.contains("/elsewhere?sig=[redacted]"), "{message}");
    assert_eq!(pages[3]["error"]["code"], "invalid_arguments", "{output}");
    assert_eq!(output["tool_call_args"]["urls"][0], pages[0]["url"]);
}

/// The model's own words are kept as it wrote them, to be sent back to it and to be acted on.
/// Nothing else that is on record has a secret.
fn only_the_models_words_have_them(world: &World) {
    let whole = whole(world, |_| {}, |builder| builder);
    let log = whole.log().clone();
    let scope = whole.local_scope();
    let session = SessionId::new("s").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let page = runtime
        .block_on(log.read(&scope, &session, Seq(1), 1000))
        .unwrap();
    assert!(page.next.is_none() && page.entries.len() > 3);
    for entry in &page.entries {
        let model_said = matches!(
            &entry.body,
            EntryBody::Event(EventBody::Message(message)) if message.role == MessageRole::Assistant
        );
        if !model_said {
            shows_none("the log", &serde_json::to_string(&entry.body).unwrap());
        }
    }
}

#[test]
fn a_secret_in_a_fetched_address_stood_in_everything_that_was_told() {
    let (there, seen) = pages();
    let call = json!({"id": "one", "name": "fetch_webpages", "arguments": urls(there)});
    let world = world(&turns(&[call]), "allow");
    let ran = world
        .run(&["run", "--json", "--session", "s", "go"])
        .exits(0);
    shows_none("the events", &ran.shown());
    were_fetched(&seen);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    tells_where(outputs(&lines)[0], there);
    let calls = of(&lines, "message");
    let wanted = calls
        .iter()
        .find(|line| line["message"]["role"] == "assistant")
        .unwrap();
    let arguments = wanted["message"]["tool_calls"][0]["arguments"]
        .as_str()
        .unwrap();
    assert!(arguments.contains("api_key=[redacted]"), "{arguments}");
    for args in [
        &["sessions", "show", "s", "--json"][..],
        &["sessions", "show", "s", "-v"],
        &["sessions", "replay", "s", "--json"],
        &["sessions", "replay", "s", "-v"],
    ] {
        shows_none(&args.join(" "), &world.run(args).exits(0).shown());
    }
    only_the_models_words_have_them(&world);
}

#[test]
fn a_terminal_was_shown_a_secret_of_an_address() {
    let (there, _) = pages();
    let call = json!({"id": "one", "name": "fetch_webpages", "arguments": urls(there)});
    let world = world(&turns(&[call]), "allow");
    shows_none("the terminal", &world.run(&["run", "-v", "go"]).shown());
}

#[test]
fn a_direct_call_kept_a_secret_of_an_address() {
    let (there, seen) = pages();
    let world = world(&json!([]), "allow");
    let args = urls(there).to_string();
    let ran = world.run(&[
        "tools",
        "call",
        "fetch_webpages",
        "--json",
        "--session",
        "s",
        "--args",
        &args,
    ]);
    shows_none("the output", &ran.shown());
    tells_where(&ran.json(), there);
    were_fetched(&seen);
    for (path, bytes) in world.kept() {
        shows_none(
            &path.display().to_string(),
            &String::from_utf8_lossy(&bytes),
        );
    }
}

#[test]
fn a_call_that_waited_over_a_restart_fetches_the_address_itself() {
    let (there, seen) = pages();
    let call = json!({"id": "one", "name": "fetch_webpages", "arguments": urls(there)});
    let world = world(&turns(&[call]), "ask");
    let serving = Serving::start(&world);
    let asked = serving.at.run("s");
    shows_none("the run", &asked.text);
    let lines = asked.lines();
    ends(&lines, "waiting");
    let approval = waits(&lines, "approval", "one");
    let listed = serving.at.get("/v1/sessions/s").is(200).text;
    shows_none("the session", &listed);
    shows_none("what serve says", &serving.stop().shown());
    assert!(seen.lock().unwrap().is_empty());

    let serving = Serving::start(&world);
    let lines = serving.at.decide(&approval, "approve");
    ends(&lines, "success");
    shows_none("the events", &Value::from(lines.clone()).to_string());
    tells_where(outputs(&lines)[0], there);
    let messages = serving.at.get("/v1/sessions/s/messages").is(200).text;
    shows_none("the messages", &messages);
    let standing = serving.at.get("/v1/approvals").is(200).text;
    shows_none("the approvals", &standing);
    shows_none("what serve says", &serving.stop().shown());
    let mut fetched = seen.lock().unwrap().clone();
    fetched.sort();
    assert!(
        fetched.contains(&"/start?a=1&api_key=F4KE-query-0001".to_owned()),
        "{fetched:?}"
    );
    only_the_models_words_have_them(&world);
}

#[test]
fn an_agui_client_was_told_a_secret_of_an_address() {
    let (there, _) = pages();
    let call = json!({"id": "one", "name": "fetch_webpages", "arguments": urls(there)});
    let world = world(&turns(&[call]), "allow");
    let serving = Serving::start(&world);
    let told = serving.at.agui("s", "r", &crate::served::words("m")).text;
    shows_none("AG-UI", &told);
    assert!(told.contains("api_key=[redacted]"), "{told}");
    serving.stop();
}

#[test]
fn the_password_of_a_remote_was_in_what_git_printed() {
    let world = World::new();
    world.config("[permissions]\napproval = \"never\"\n");
    let command = "printf 'origin\\thttps://me:F4''KE-remote-1@git.example/r.git (fetch)\\n'";
    let args = json!({"command": command}).to_string();
    let ran = world.run(&[
        "tools",
        "call",
        "execute_shell_command",
        "--json",
        "--args",
        &args,
    ]);
    let output = ran.json();
    assert_eq!(
        output["result"]["stdout"], "origin\thttps://me:[redacted]@git.example/r.git (fetch)\n",
        "{output}"
    );
}

/// What looks like the parameter of an address in a command is what the command does.
#[test]
fn a_person_approved_a_command_that_they_were_not_shown() {
    let commands = [
        "true;key=$(echo${IFS}ran>one.txt)",
        "true https://a.example/?key=$(echo ran >two.txt)",
        "true https://a.example/?a=1&token=sh;$token -c 'echo ran >three.txt'",
        "true x://u:$(echo${IFS}ran>four.txt)@h",
        "true;a=1;token=read",
    ];
    let calls: Vec<Value> = (0..)
        .zip(commands)
        .map(|(number, command)| {
            let arguments = json!({"command": command});
            json!({"id": format!("c{number}"), "name": "execute_shell_command", "arguments": arguments})
        })
        .collect();
    let world = crate::waiting::world(&turns(&calls), "");
    let serving = Serving::start(&world);
    let lines = serving.at.run("s").lines();
    ends(&lines, "waiting");
    for (call, command) in calls.iter().zip(commands) {
        let id = call["id"].as_str().unwrap();
        let told = of(&lines, "tool_call");
        let mut told = told.iter().filter(|line| line["tool_call_id"] == id);
        let told = told.next().unwrap_or_else(|| panic!("{lines:#?}"));
        assert_eq!(told["arguments"]["command"], *command, "{told}");
        waits(&lines, "approval", id);
    }
    assert!(!Value::from(lines).to_string().contains("[redacted]"));
    serving.stop();

    let mut terminal = Terminal::start(&world, &["run", "go"]);
    terminal.until("true;key=$(echo${IFS}ran>one.txt)");
    terminal.until("allow it?");
}

#[test]
fn a_secret_under_its_name_was_shown_while_it_was_written() {
    let arguments = json!({
        "command": "echo https://a.example/?pageToken=CAUQAA",
        "env": {"TOKEN": "F4KE-in-\"pieces\" 1", "B": "https://u:F4KE2@a.example/?key=F4KE3", "max_tokens": "7"},
    });
    let call = json!({"id": "one", "name": "execute_shell_command", "arguments": arguments});
    let world = crate::waiting::world(
        &turns(&[call]),
        "[[permissions.rules]]\ntool = \"execute_shell_command\"\ndecision = \"allow\"",
    );
    let ran = world.run(&["run", "--json", "go"]).exits(0);
    shows_none("the events", &ran.shown());
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let written: String = of(&lines, "delta")
        .iter()
        .filter(|line| line["kind"] == "tool_arguments")
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    assert!(written.contains(r#""TOKEN":"[redacted]""#), "{written}");
    assert!(written.contains("?pageToken=CAUQAA"), "{written}");
    let output = outputs(&lines)[0];
    assert_eq!(
        output["result"]["stdout"], "https://a.example/?pageToken=CAUQAA\n",
        "{output}"
    );
}
