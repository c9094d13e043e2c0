//! Keys whose effect is shown in full where it is made: here, that what the file says gets there.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{PATH, SCRIPTED, call, events};
use crate::world::World;

const PROGRAM: &str = env!("CARGO_BIN_EXE_outfitter");

/// A server of one page, with what it was asked and when.
struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Server {
    fn new(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(&stream, status, &kept);
            }
        });
        Self { address, asked }
    }

    fn heads(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(_, head)| head.clone()).collect()
    }
}

fn answer(mut stream: &TcpStream, status: &str, asked: &Mutex<Vec<(Instant, String)>>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    let _cut = reader.read_exact(&mut body);
    let silent = head.starts_with("GET /silent ");
    asked.lock().unwrap().push((Instant::now(), head));
    if silent {
        // Until whoever asked is gone.
        let _ = reader.read_to_end(&mut Vec::new());
        return;
    }
    let page = "a".repeat(5000);
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{page}",
        page.len()
    );
    let _gone = stream.write_all(reply.as_bytes());
}

const FETCH: &str =
    "[[permissions.rules]]\ntool = \"fetch_webpages\"\ndecision = \"allow\"\n[web]\n";

#[test]
fn the_web_is_fetched_as_it_is_configured() {
    let server = Server::new("200 OK");
    let url = |path: &str| json!({"urls": [format!("http://{}{path}", server.address)]});
    let page = |web: &str, path: &str| {
        let output = call(
            &World::with(&format!("{FETCH}{web}")),
            "fetch_webpages",
            &url(path),
        );
        match output["result"]["results"].get(0) {
            Some(page) => page.clone(),
            None => output,
        }
    };
    assert_eq!(
        page("enabled = false", "/")["error"]["code"],
        "unknown_tool"
    );
    assert_eq!(page("", "/")["error"]["code"], "not_permitted");
    assert_eq!(server.heads(), [""; 0], "nobody was asked");

    let open = "block_private = false\n";
    let whole = page(open, "/");
    assert_eq!(whole["content"], "a".repeat(5000), "{whole}");
    assert!(!server.heads()[0].contains("tea-reader"));
    let more = "max_bytes = 1024\nuser_agent = \"tea-reader/1\"\n";
    let cut = page(&format!("{open}{more}"), "/");
    let content = cut["content"].as_str().unwrap();
    assert!(content.starts_with(&"a".repeat(1024)), "{cut}");
    assert!(!content.contains(&"a".repeat(1025)), "{cut}");
    assert!(content.contains("[web] max_bytes"), "{cut}");
    assert!(server.heads()[1].contains("user-agent: tea-reader/1\r\n"));
    let late = page(&format!("{open}timeout_seconds = 1\n"), "/silent");
    assert_eq!(late["error"]["code"], "timeout", "{late}");
}

/// How often a model is asked again, and that it is left in peace before: of a wait, up to half may
/// be left out by chance.
#[test]
fn a_model_is_asked_again_as_often_and_as_late_as_it_is_configured() {
    for retries in [0, 1] {
        let server = Server::new("500 Internal Server Error");
        let world = World::with(&format!(
            "[model]\nprovider = \"openai\"\nname = \"m\"\nbase_url = \"http://{}/v1\"\n\
             max_retries = {retries}\nretry_delay_ms = 2400\nmax_retry_delay_ms = 2400\n",
            server.address
        ));
        let ran = world.run_with(
            &["run", "--json", "go"],
            &[PATH, ("OPENAI_API_KEY", "sk-x")],
        );
        assert_eq!(ran.code, 1, "{}", ran.shown());
        let asked = server.asked.lock().unwrap();
        assert_eq!(asked.len(), retries + 1, "{}", ran.shown());
        if let [(first, _), (second, _)] = &asked[..] {
            let waited = *second - *first;
            assert!(waited >= Duration::from_millis(1200), "{waited:?}");
        }
    }
}

/// A picture of one pixel.
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[test]
fn a_model_is_shown_pictures_where_it_is_said_to_see() {
    let described = |vision: &str| {
        let world = World::with(&format!("{SCRIPTED}vision = {vision}\n"));
        world.write("here/script.yaml", "- text: one white dot\n");
        std::fs::write(world.path("here/dot.gif"), GIF).unwrap();
        call(&world, "analyze_image", &json!({"image": "dot.gif"}))
    };
    let seen = described("true");
    assert_eq!(seen["result"]["description"], "one white dot", "{seen}");
    let unseen = described("false");
    let said = unseen["error"]["message"].as_str().unwrap();
    assert!(said.contains("cannot see"), "{unseen}");
}

/// The server tells what comes to it and what it answers, each answer a while after it was asked.
#[test]
fn calls_to_a_server_go_side_by_side_as_far_as_it_is_configured() {
    let world = World::with(&format!(
        "{SCRIPTED}[mcp.servers.n]\ncommand = \"{}\"\nconcurrency = 1\n",
        "SERVER"
    ));
    let order = world.path("here/order");
    world.program(
        "here/server.sh",
        &format!(
            "#!/bin/sh\n\
             while read -r line; do\n\
               case $line in *tools/call*) echo in >> {0};; esac; printf '%s\\n' \"$line\"\n\
             done | {PROGRAM} __mcp-notes | while read -r line; do\n\
               case $line in *slow-note*) sleep 0.5; echo out >> {0};; esac; printf '%s\\n' \"$line\"\n\
             done\n",
            order.display()
        ),
    );
    let toml = world.path("here/outfitter.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    let server = world.path("here/server.sh").display().to_string();
    std::fs::write(&toml, text.replace("SERVER", &server)).unwrap();
    let add = |id: &str| {
        format!("{{ id: {id}, name: n__add, arguments: {{ title: slow-note, text: x }} }}")
    };
    let script = format!(
        "- tool_calls: [{}, {}, {}]\n- text: done\n",
        add("a"),
        add("b"),
        add("c")
    );
    let events = events(&world, &script);
    let done = events
        .iter()
        .filter_map(|event| event.pointer("/message/metadata/tool_agent_output/status"))
        .filter(|status| *status == &Value::from("success"));
    assert_eq!(done.count(), 3, "{events:#?}");
    let order = std::fs::read_to_string(order).unwrap();
    assert_eq!(order, "in\nout\n".repeat(3));
}

#[test]
fn a_message_is_split_and_delivered_as_it_is_configured() {
    let texts = |more: &str| -> Vec<String> {
        let world = World::new();
        let out = world.path("out.jsonl").display().to_string();
        world.write(
            "here/outfitter.toml",
            &format!(
                "[channels.out]\nkind = \"file\"\nurl = \"{out}\"\nplatform = \"qq\"\n{more}\n"
            ),
        );
        let text = "Water the plants. ".repeat(6);
        let message = json!({"text": text, "user_id": "local", "platform": "qq", "polish": false});
        let output = call(&world, "send_message", &message);
        assert_eq!(output["status"], "success", "{output}");
        let lines = std::fs::read_to_string(out).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].to_string())
            .collect()
    };
    assert_eq!(texts("").len(), 1);
    let three = texts("split_chars = 20\nsplit_parts = 3");
    assert_eq!(three.len(), 3, "{three:?}");
    assert!(three[..2].iter().all(|text| text.len() <= 22), "{three:?}");
    assert_eq!(texts("split_chars = 20\nsplit_parts = 6").len(), 6);
}
