//! The world of the table: a configuration and a model for each way in, and an artifact in the
//! session of each.

use std::collections::BTreeMap;

use outfitter::Mode;
use outfitter::Role::Admin;
use serde_json::{Value, json};

use crate::mcp::Mcp;
use crate::rows::Allowed::All;
use crate::rows::Backend::{Local, Passthrough};
use crate::rows::{Artifacts, Case, Row};
use crate::served::Serving;
use crate::world::World;

/// One way in. Each has a session of its own.
pub(crate) const WAYS: [&str; 14] = [
    "run",
    "call",
    "ndjson",
    "http-call",
    "agui",
    "answered",
    "resumed",
    // Where the configuration allows everything, and the request less.
    "run-tools",
    "call-tools",
    "ndjson-tools",
    // Where the configuration has the mode `agent`, and the request another one.
    "run-mode",
    "call-mode",
    "ndjson-mode",
    "agui-mode",
];

/// A world whose programs have this role and these tools. The names of its configurations are
/// those of the ways, and `maker`.
pub(crate) fn world(case: Case) -> World {
    let world = World::new();
    let command = |command, subcommand, effect| {
        json!({
            "command": command, "subcommand": subcommand, "skill": command,
            "summary": "Letters.", "effects": [effect],
            "args": {"type": "object", "properties": {"to": {"type": "string"}}},
            "result": {"type": "object"},
        })
    };
    let commands = [
        command("mail", "read", "read"),
        command("mail", "send", "network"),
        command("parcel", "send", "network"),
    ];
    let described = json!({"v": 1, "name": "courier", "commands": commands});
    world.write(
        "courier",
        format!(
            "#!/bin/sh\nif [ \"$1\" = describe ]; then echo '{described}'\n\
             else echo '{{\"v\":1,\"status\":\"success\",\"result\":{{\"sent\":true}}}}'; fi\n"
        ),
    );
    let courier = world.work("courier");
    std::fs::set_permissions(
        &courier,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let config = |name: &str, script: &str, case: Case| {
        let Case {
            role,
            allowed,
            backend,
            mode,
        } = case;
        let backend = match backend {
            Local => "local",
            Passthrough => "passthrough",
        };
        let toml = format!(
            "[model]\nprovider = \"scripted\"\nscript = {script:?}\n\
             [permissions]\nlocal_role = \"{role}\"\nhttp_role = \"{role}\"\n\
             [sandbox]\nbackend = \"{backend}\"\n\
             [agent]\nmode = \"{mode}\"\n\
             [tools]\nmax_result_tokens = 100\navailable = {allowed:?}\n\
             [mcp.servers.notes]\nbuiltin = \"notes\"\n\
             [commands.planner]\nprogram = \"planner\"\nenv = {{ PLANNER_DIR = {planner:?} }}\n\
             [commands.courier]\nprogram = {courier:?}\n\
             [contacts]\nsource = \"planner\"\n\
             [channels.out]\nkind = \"file\"\n",
            script = world.work(script),
            allowed = allowed.names(),
            planner = world.work("planner"),
        );
        world.write(&format!("{name}.toml"), toml);
    };
    let free = Case {
        role: Admin,
        allowed: All,
        backend: Local,
        mode: Mode::Agent,
    };
    world.write("maker.yaml", "- text: nothing\n");
    config("maker", "maker.yaml", free);
    for way in WAYS {
        let allowed = match way.ends_with("-tools") {
            true => All,
            false => case.allowed,
        };
        let mode = match way.ends_with("-mode") {
            true => Mode::Agent,
            false => case.mode,
        };
        let script = format!("{way}.yaml");
        config(
            way,
            &script,
            Case {
                allowed,
                mode,
                ..case
            },
        );
    }
    // Before the crash everything was allowed.
    config(
        "before",
        "resumed.yaml",
        Case {
            allowed: All,
            mode: Mode::Agent,
            ..case
        },
    );
    world
}

pub(crate) fn named(world: &World, config: &str) -> String {
    world.work(&format!("{config}.toml")).display().to_string()
}

/// An artifact in the session of every way, and whose it is not.
pub(crate) fn artifacts(world: &World) -> BTreeMap<&'static str, Artifacts> {
    let serving = Serving::start_with(world, &["--config", &named(world, "maker")]);
    let make = |session: &str| {
        let output = serving
            .at
            .call(session, "calculator", &json!({"expression": "9^999"}));
        let output = output.is(200).json();
        let id = output["artifacts"][0].as_str();
        id.unwrap_or_else(|| panic!("{output}")).to_owned()
    };
    let other = make("somewhere-else");
    let of = |own: String| Artifacts {
        own,
        other: other.clone(),
    };
    let mut all: BTreeMap<_, _> = WAYS.into_iter().map(|way| (way, of(make(way)))).collect();
    Mcp::modern(&serving.at).call("calculator", &json!({"expression": "1"}));
    let sessions = serving.at.get("/v1/sessions").json();
    let ids = sessions["sessions"].as_array().unwrap().iter();
    let shared = ids
        .filter_map(|session| session["id"].as_str())
        .find(|id| id.starts_with("mcp-"));
    all.insert("mcp", of(make(shared.unwrap())));
    serving.stop();
    all
}

/// A model that makes every call of the table at once, perhaps after a question.
pub(crate) fn script(rows: &[Row], asks_first: bool) -> String {
    let mut turns = Vec::new();
    if asks_first {
        turns.push(json!({"tool_calls": [
            {"id": "first", "name": "ask_user", "arguments": {"question": "go on?"}},
        ]}));
    }
    let calls: Vec<Value> = rows
        .iter()
        .map(|row| json!({"id": row.id, "name": row.tool, "arguments": row.arguments}))
        .collect();
    turns.push(json!({"tool_calls": calls}));
    turns.push(json!({"text": "done"}));
    Value::Array(turns).to_string()
}
