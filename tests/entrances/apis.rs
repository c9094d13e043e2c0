//! Operations of APIs, as callers of a server meet them.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};

use serde_json::json;

use crate::served::Serving;
use crate::world::World;

const ADMIN: &str = "[permissions]\nhttp_role = \"admin\"\n\
    [[permissions.rules]]\ntool = \"call_*\"\ndecision = \"allow\"\n";

/// An API that answers everything with one text.
fn api() -> SocketAddr {
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
            let reply = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: 5\r\n\r\nthere";
            let _gone = stream.write_all(reply.as_bytes());
        }
    });
    address
}

/// An address for a server. As long as it is held nobody is given it but who asks for it.
fn free() -> (tokio::net::TcpSocket, SocketAddr) {
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.set_reuseaddr(true).unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = held.local_addr().unwrap();
    (held, address)
}

fn listed(serving: &Serving<'_>) -> Vec<String> {
    let tools = serving.at.get("/v1/tools").json();
    let names = tools.as_array().unwrap().iter();
    names
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .filter(|name| name.starts_with("call_"))
        .collect()
}

#[test]
fn the_allowlist_follows_a_reload_and_what_is_missing_is_told() {
    let world = World::new();
    let api = api();
    let configured = |list: &str| {
        let apis = format!(
            "apis.one = {{ url = \"http://{api}/\", schema = {{}} }}\napis.two = {{ openapi = \"gone.yaml\" }}\n"
        );
        world.config(&format!("{ADMIN}[plugin_api]\nallowlist = {list}\n{apis}"));
    };
    configured("[]");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let code = || {
        let output = at.call("s", "call_one", &json!({})).json();
        output["error"]["code"].as_str().map(ToOwned::to_owned)
    };
    assert!(listed(&serving).is_empty());
    assert_eq!(code().as_deref(), Some("unknown_tool"));
    let faults = at.get("/v1/diagnostics").json();
    let fault = &faults.as_array().unwrap()[0];
    assert_eq!(fault["source"], "plugin_api");
    assert_eq!(fault["fault"]["what"], "two");

    configured("[\"one\"]");
    let said = serving.reload(1);
    assert!(said.contains("at once: plugin_api.allowlist\n"), "{said}");
    assert_eq!(listed(&serving), ["call_one"]);
    let output = at.call("s", "call_one", &json!({})).json();
    assert_eq!(output["result"]["body"], "there", "{output}");

    configured("[]");
    serving.reload(2);
    assert_eq!(code().as_deref(), Some("unknown_tool"));
    serving.stop();
}

/// Else whoever can make a model call an operation would be whoever this server takes itself for.
#[test]
fn a_server_never_calls_itself() {
    let world = World::new();
    let (_held, ours) = free();
    let port = ours.port();
    let mut apis = String::new();
    let hosts = [
        "127.0.0.1",
        "localhost",
        "127.1",
        "0.0.0.0",
        "[::ffff:7f00:1]",
    ];
    for (n, host) in hosts.iter().enumerate() {
        apis += &format!(
            "apis.own{n} = {{ url = \"http://{host}:{port}/v1/tools\", schema = {{}}, method = \"GET\" }}\n"
        );
    }
    world.config(&format!("{ADMIN}[plugin_api]\nallowlist = [\"*\"]\n{apis}"));
    let serving = Serving::start_at(&world, &ours.to_string(), &[]);
    for (n, host) in hosts.iter().enumerate() {
        let output = serving.at.call("s", &format!("call_own{n}"), &json!({}));
        let output = output.json();
        assert_eq!(output["error"]["code"], "not_permitted", "{host}: {output}");
        let message = output["error"]["message"].as_str().unwrap();
        assert!(message.contains("this server listens itself"), "{message}");
    }
    serving.stop();
}

#[test]
fn a_server_fetched_from_itself_where_private_addresses_are_open() {
    let world = World::new();
    let (_held, ours) = free();
    let port = ours.port();
    let there = api();
    world.config(
        "[permissions]\nhttp_role = \"admin\"\n\
         [[permissions.rules]]\ntool = \"fetch_webpages\"\ndecision = \"allow\"\n\
         [web]\nblock_private = false\n",
    );
    let serving = Serving::start_at(&world, &ours.to_string(), &[]);
    let hosts = ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:7f00:1]"];
    let mut urls: Vec<String> = hosts
        .iter()
        .map(|host| format!("http://{host}:{port}/v1/tools"))
        .collect();
    urls.push(format!("http://{there}/"));
    let output = serving
        .at
        .call("s", "fetch_webpages", &json!({"urls": urls}));
    let output = output.json();
    let pages = output["result"]["results"].as_array().unwrap();
    let (other, own) = pages.split_last().unwrap();
    for page in own {
        assert_eq!(page["error"]["code"], "not_permitted", "{page}");
        let message = page["error"]["message"].as_str().unwrap();
        assert!(message.contains("this server listens itself"), "{message}");
    }
    assert_eq!(other["content"], "there", "{other}");
    serving.stop();
}
