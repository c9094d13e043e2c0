//! What went wrong once, seen from outside.

use serde_json::{Value, json};

use crate::serving::Serving;
use crate::world::World;

const ANYWHERE: &str = "[server]\nbind = \"127.0.0.1:0\"\n";

#[test]
fn doctor_says_what_is_missing_where_there_is_no_home() {
    let ran = World::new().run_with(&["doctor", "--json"], &[("HOME", "")]);
    assert_eq!(ran.code, 1, "{}", ran.shown());
    let document = ran.json();
    let checks = document["checks"].as_array().unwrap();
    let store = checks.iter().find(|row| row["what"] == "store").unwrap();
    assert_eq!(store["status"], "fail");
    let finding = store["finding"].as_str().unwrap();
    assert!(finding.contains("neither HOME nor"), "{finding}");
    assert!(store["hint"].as_str().unwrap().contains("data_dir"));
}

/// Calls need no model, and a run says why there is none.
#[test]
fn a_server_without_a_model_says_why() {
    let world = World::with(ANYWHERE);
    let serving = Serving::start(&world);
    let called = serving.ask(
        "POST /v1/tools/calculator/call",
        "",
        &json!({"arguments": {"expression": "6*7"}}).to_string(),
    );
    assert_eq!(called.status, 200, "{}", called.body);
    let told = serving.ask("POST /v1/runs", "", &json!({"input": "go"}).to_string());
    assert_eq!(told.status, 200, "{}", told.body);
    let last: Value = serde_json::from_str(told.body.lines().last().unwrap()).unwrap();
    assert_eq!(last["outcome"], "failed", "{last}");
    let error = &last["output"]["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("no model is chosen"), "{error}");
    assert!(
        error["hint"]
            .as_str()
            .unwrap()
            .contains("ANTHROPIC_API_KEY"),
        "{error}"
    );
}

/// What the configuration gives a server or a program under a secret's name is shown nowhere.
#[test]
fn a_secret_of_the_configuration_is_taken_out_of_what_comes_back() {
    let world = World::with(
        "[mcp.servers.notes]\nbuiltin = \"notes\"\nenv = { GITHUB_TOKEN = \"hunter-two-two\" }\n\
         [commands.planner]\nprogram = \"planner\"\nenv = { API_KEY = \"swordfish-nine\" }\n",
    );
    for secret in ["hunter-two-two", "swordfish-nine"] {
        let args = json!({"title": format!("about {secret}")}).to_string();
        let ran = world.run(&["tools", "call", "notes__add", "--json", "--args", &args]);
        assert_eq!(ran.code, 0, "{}", ran.shown());
        assert!(ran.stdout.contains("[redacted]"), "{}", ran.stdout);
        assert!(!ran.stdout.contains(secret), "{}", ran.stdout);
    }
}

#[test]
fn a_page_of_an_allowed_origin_may_speak_mcp_and_no_other() {
    let toml = format!("{ANYWHERE}allowed_origins = [\"https://app.example.org\"]\n");
    let world = World::with(&toml);
    let serving = Serving::start(&world);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }});
    let from = |origin: &str| {
        let headers =
            format!("origin: {origin}\r\naccept: application/json, text/event-stream\r\n");
        serving
            .ask("POST /mcp", &headers, &hello.to_string())
            .status
    };
    assert_eq!(from("https://app.example.org"), 200);
    assert_eq!(from("https://other.example.org"), 403);
}

/// `config check` finds what would keep any command from starting.
#[test]
fn config_check_looks_at_names_and_addresses_too() {
    for (toml, says) in [
        ("[tools]\navailable = [\"calculater\"]\n", "calculater"),
        (
            "[tools]\naliases = { calc = \"calculater\" }\n",
            "calculater",
        ),
        (
            "[tools.presets.calculater]\nexpression = \"1\"\n",
            "calculater",
        ),
        (
            "[tools.presets.calculator]\nexpresion = \"1\"\n",
            "`tools.presets.calculator.expresion` cannot be set for calculator",
        ),
        (
            "[tools.presets.calculator]\nexpression = 5\n",
            "`tools.presets.calculator.expression` cannot be set for calculator",
        ),
        ("[skills]\navailable = [\"none\"]\n", "none"),
        ("[skills]\nload = [\"none\"]\n", "none"),
        (
            "[server]\nbind = \"0.0.0.0:80\"\n",
            "without authentication",
        ),
        ("[server]\nbind = \"here\"\n", "server.bind"),
    ] {
        let ran = World::with(toml).run(&["config", "check"]);
        assert_eq!(ran.code, 2, "{toml}{}", ran.shown());
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(says), "{toml}{}", ran.shown());
    }
    // What is known to come later is no mistake.
    let later = "[tools]\navailable = [\"load_skill\", \"notes__add\", \"execute_shell_command\"]\n\
                 [shell]\nenabled = false\n[mcp.servers.notes]\nbuiltin = \"notes\"\n\
                 [tools.presets.notes__add]\ntitle = \"x\"\n";
    let later = later.replacen("[tools.presets", "\n[tools.presets", 1);
    let ran = World::with(&later).run(&["config", "check"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
}

/// A preset of a server's tool is looked at once the server has listed it.
#[test]
fn a_preset_of_a_server_that_cannot_be_is_named() {
    let world = World::with(
        "[mcp.servers.notes]\nbuiltin = \"notes\"\n[tools.presets.notes__add]\ntitel = \"x\"\n",
    );
    let ran = world.run(&["tools", "list"]);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    assert!(
        ran.stderr
            .contains("`tools.presets.notes__add.titel` cannot be set"),
        "{}",
        ran.stderr
    );
}

#[test]
fn presets_are_hidden_set_and_refused() {
    let world = World::with("[tools.presets.current_time]\ntimezone = \"Asia/Tokyo\"\n");
    let shown = world
        .run(&["tools", "show", "current_time", "--json"])
        .json();
    assert!(
        !shown["input_schema"].to_string().contains("timezone"),
        "{shown}"
    );
    let call = |args: &str| {
        let ran = world.run(&["tools", "call", "current_time", "--json", "--args", args]);
        (ran.code, ran.json())
    };
    let (code, output) = call("{}");
    assert_eq!(
        (code, &output["result"]["timezone"]),
        (0, &json!("Asia/Tokyo"))
    );
    assert_eq!(output["tool_call_args"], json!({}));
    let (code, output) = call(r#"{"timezone":"UTC"}"#);
    assert_eq!(
        (code, &output["error"]["code"]),
        (2, &json!("invalid_arguments"))
    );
    // They may be secrets.
    let explained = world.run(&["config", "explain"]).stdout;
    assert!(
        explained.contains("timezone") && !explained.contains("Tokyo"),
        "{explained}"
    );
}

/// The flag is on every command around a session, and says what it takes.
#[test]
fn a_mode_narrows_what_is_listed_and_called() {
    let world = World::new();
    let listed = |mode: &str| {
        let ran = world.run(&["tools", "list", "--json", "--mode", mode]);
        let tools = ran.json();
        let names = tools.as_array().unwrap().iter();
        names
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(listed("agent").contains(&"file_write".to_owned()));
    let plan = listed("plan");
    assert!(plan.contains(&"file_read".to_owned()) && !plan.contains(&"file_write".to_owned()));
    assert!(listed("chat").is_empty());
    let ran = world.run(&["tools", "call", "calculator", "--mode", "chat", "--json"]);
    assert_eq!(ran.code, 4, "{}", ran.shown());
    assert_eq!(ran.json()["error"]["code"], "not_permitted");
    assert_eq!(world.run(&["run", "x", "--mode", "yolo"]).code, 2);
    assert_eq!(world.run(&["skills", "list", "--mode", "plan"]).code, 0);
    let told = |mode: &str| {
        world
            .run_with(
                &["config", "explain", "--prompt"],
                &[("OUTFITTER_AGENT__MODE", mode)],
            )
            .stdout
    };
    assert!(told("plan").contains("The mode is `plan`"));
    assert!(!told("agent").contains("The mode is"));
}

#[test]
fn tokens_are_counted_in_the_vocabulary_that_is_named() {
    // 100 tokens or fewer in one vocabulary, and more in the other.
    let text = "今天的天气很好。".repeat(14);
    let is_cut = |tokenizer: &str| {
        let world = World::with(&format!(
            "[model]\ntokenizer = \"{tokenizer}\"\n[tools]\nmax_result_tokens = 100\n\
             [mcp.servers.notes]\nbuiltin = \"notes\"\n"
        ));
        let args = json!({"title": text}).to_string();
        let ran = world.run(&["tools", "call", "notes__add", "--json", "--args", &args]);
        assert_eq!(ran.code, 0, "{}", ran.shown());
        ran.json().get("artifacts").is_some()
    };
    assert!(!is_cut("o200k_base"));
    assert!(is_cut("cl100k_base"));
}
