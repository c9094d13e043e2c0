//! What programs say of themselves, and what becomes of it.

use std::time::Duration;

use futures_util::StreamExt as _;
use outfitter_commands::{CommandTaken, ProgramSettings, ProjectCli, SettingsError};
use outfitter_core::{Code, Generation, NameSet, Role, ToolSource as _};
use serde_json::{Value, json};

use crate::support::{Session, World, description, entry, entry_with};

/// A calendar to read by anybody and to write by users, and an export that runs programs.
fn calendar() -> String {
    let read = entry_with(json!({
        "command": "calendar", "subcommand": "read", "skill": "calendar",
        "summary": "Shows your\n   events.",
        "args": {
            "type": "object",
            "properties": {
                "from": { "type": "string", "format": "date", "description": "The first\nday." },
                "limit": { "type": "integer", "default": 20 },
                "kind": { "enum": ["work", "play"] },
            },
            "required": ["from"],
        },
    }));
    let write = entry_with(json!({
        "command": "calendar", "subcommand": "write", "skill": "calendar", "summary": "Changes one.",
        "effects": ["read", "write"],
    }));
    let export = entry_with(json!({
        "command": "export", "subcommand": "all", "skill": "export", "summary": "Exports.",
        "effects": ["exec"], "args": { "type": "object" },
    }));
    description(json!([read, write, export]))
}

fn contacts() -> String {
    let lookup = entry_with(json!({
        "command": "contacts", "subcommand": "lookup", "skill": "contacts", "summary": "Finds people.",
    }));
    description(json!([lookup]))
}

#[tokio::test]
async fn several_programs_are_one_tree_behind_one_tool() {
    let world = World::new();
    let session = world
        .session([
            world.program("planner", &calendar(), ""),
            world.program("people", &contacts(), ""),
        ])
        .await;
    let listing = session.view(Role::Admin).listing();
    let [tool] = &listing[..] else {
        panic!("{listing:?}")
    };
    insta::assert_snapshot!(tool.description);
    insta::assert_json_snapshot!(json!({
        "name": tool.name, "source": tool.source, "min_role": tool.min_role,
        "effects": tool.effects, "schema": &*tool.input_schema,
    }));
}

#[tokio::test]
async fn a_session_is_told_what_its_role_may_call() {
    let world = World::new();
    let session = world
        .session([world.program("planner", &calendar(), "")])
        .await;
    let told = |role| {
        let listing = session.view(role).listing();
        let description = listing[0].description.to_string();
        let commands = listing[0].input_schema["properties"]["command"]["enum"].clone();
        let lines: Vec<String> = description
            .lines()
            .skip(1)
            .map(|line| line.split(':').next().unwrap().to_owned())
            .collect();
        (lines, commands)
    };
    let all = ["calendar read", "calendar write", "export all"].map(str::to_owned);
    assert_eq!(
        told(Role::Admin),
        (all.to_vec(), json!(["calendar", "export"]))
    );
    assert_eq!(told(Role::User), (all[..2].to_vec(), json!(["calendar"])));
    assert_eq!(told(Role::Guest), (all[..1].to_vec(), json!(["calendar"])));
}

#[tokio::test]
async fn a_tool_that_a_role_may_call_nothing_of_is_not_listed() {
    let world = World::new();
    let export = entry_with(json!({ "effects": ["exec"] }));
    let session = world
        .session([world.program("probe", &description(json!([export])), "")])
        .await;
    assert!(session.view(Role::User).listing().is_empty());
    assert_eq!(session.view(Role::Admin).listing().len(), 1);
}

#[tokio::test]
async fn a_session_without_a_skill_has_none_of_its_commands() {
    let world = World::new();
    let mixed = entry_with(json!({
        "command": "calendar", "subcommand": "share", "skill": "contacts", "summary": "Shares.",
    }));
    let mixed = description(json!([
        mixed,
        entry_with(json!({ "command": "contacts", "skill": "contacts" }))
    ]));
    let mut text: Value = serde_json::from_str(&calendar()).unwrap();
    let more: Value = serde_json::from_str(&mixed).unwrap();
    let entries = text["commands"].as_array_mut().unwrap();
    entries.extend(more["commands"].as_array().unwrap().clone());
    let mut session = world
        .session([world.program("planner", &text.to_string(), "touch \"$OUT/ran\"")])
        .await;
    session.skills = NameSet::of(["calendar"]);
    let listing = session.view(Role::Admin).listing();
    let shown = format!("{} {}", listing[0].description, listing[0].input_schema);
    for hidden in ["share", "contacts", "export"] {
        assert!(!shown.contains(hidden), "{shown}");
    }
    for (command, subcommand, path) in [
        ("contacts", "run", "/command"),
        ("export", "all", "/command"),
        ("calendar", "share", "/subcommand"),
    ] {
        let call = json!({ "command": command, "subcommand": subcommand });
        let error = session.call(call).await.error.unwrap();
        assert_eq!(error.code, Code::InvalidArguments, "{error:?}");
        assert_eq!(error.path.as_deref(), Some(path));
        assert!(!format!("{:?}", error.expected).contains(subcommand));
    }
    session.skills = NameSet::none();
    let output = session
        .call(json!({ "command": "calendar", "subcommand": "read" }))
        .await;
    assert_eq!(output.error.unwrap().code, Code::InvalidArguments);
    assert!(!world.path("ran").exists());
}

#[tokio::test]
async fn only_narrows_what_a_program_offers() {
    let world = World::new();
    let mut planner = world.program("planner", &calendar(), "");
    planner.only = NameSet::of(["calendar r*", "export nothing"]);
    let session = world.session([planner]).await;
    let schema = session.view(Role::Admin).listing()[0].input_schema.clone();
    assert_eq!(schema["properties"]["command"]["enum"], json!(["calendar"]));
    let output = session
        .call(json!({ "command": "calendar", "subcommand": "write" }))
        .await;
    let error = output.error.unwrap();
    assert_eq!(error.message, "calendar has no subcommand \"write\"");
    let faults = &session.source.snapshot().faults;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].what, "planner: export nothing");
}

#[tokio::test]
async fn nothing_runs_and_nobody_waits_until_programs_are_asked() {
    let world = World::new();
    let source = world.source([world.program("probe", &description(json!([entry()])), "")]);
    let mut changes = source.changes();
    let before = source.snapshot();
    assert!(before.tools.is_empty());
    assert_eq!(before.faults[0].why, "it was not asked yet what it can do");
    assert!(!world.path("scratch").exists());

    source.describe().await.unwrap();
    assert_eq!(changes.next().await, Some(Generation(1)));
    let after = source.snapshot();
    assert_eq!((after.tools.len(), after.faults.len()), (1, 0));
}

#[tokio::test]
async fn a_program_that_does_not_answer_keeps_nobody_else() {
    let world = World::new();
    let mut slow = ProgramSettings::new("slow", "/bin/sh");
    slow.args = vec!["-c".into(), "sleep 1000".into()];
    slow.timeout = Duration::from_secs(3);
    let session = world
        .session([
            slow,
            ProgramSettings::new("gone", "/nowhere/program"),
            world.program("probe", &description(json!([entry()])), ""),
        ])
        .await;
    assert_eq!(session.view(Role::Admin).listing().len(), 1);
    let faults: Vec<String> = session
        .source
        .snapshot()
        .faults
        .iter()
        .map(|fault| format!("{}: {}", fault.what, fault.why))
        .collect();
    insta::assert_snapshot!(faults.join("\n"), @r"
    gone: /nowhere/program is not there
    slow: describe did not end within 3 s
    ");
}

#[tokio::test]
async fn a_command_in_two_programs_is_nobodys() {
    let world = World::new();
    let source = world.source([
        world.program("one", &calendar(), ""),
        world.program(
            "two",
            &description(json!([entry_with(json!({"command": "calendar"}))])),
            "",
        ),
    ]);
    let taken = source.describe().await.unwrap_err();
    assert_eq!(
        taken,
        CommandTaken {
            command: "calendar".to_owned(),
            first: "one".to_owned(),
            second: "two".to_owned(),
        }
    );
    let session = Session::of(source);
    let schema = session.view(Role::Admin).listing()[0].input_schema.clone();
    assert_eq!(schema["properties"]["command"]["enum"], json!(["export"]));
    let fault = &session.source.snapshot().faults[0];
    assert_eq!(
        (&*fault.what, &*fault.why),
        ("calendar", "one and two both have it")
    );
}

#[tokio::test]
async fn a_program_says_where_its_skills_are() {
    let world = World::new();
    let text = r#"{"v":1,"name":"probe","skills_dir":"/opt/probe/skills","commands":[]}"#;
    let source = world.source([world.program("probe", text, "")]);
    assert!(source.skills_dirs().is_empty());
    source.describe().await.unwrap();
    let dirs = source.skills_dirs();
    assert_eq!(dirs.len(), 1);
    assert_eq!(dirs[0].program, "probe");
    assert_eq!(dirs[0].path, std::path::Path::new("/opt/probe/skills"));
}

#[tokio::test]
async fn asked_again_a_program_may_say_something_else() {
    let world = World::new();
    let program = world.program("probe", "{}", "");
    let source = world.source([program.clone()]);
    source.describe().await.unwrap();
    assert!(source.snapshot().tools.is_empty());
    world.program("probe", &description(json!([entry()])), "");
    source.describe().await.unwrap();
    assert_eq!(source.snapshot().tools.len(), 1);
    assert_eq!(source.snapshot().generation, Generation(2));
}

#[tokio::test]
async fn a_failing_description_is_told_with_its_last_words() {
    let world = World::new();
    let mut program = world.program("probe", "", "");
    program.args = vec![
        "-c".into(),
        "echo first >&2; echo the disk is full >&2; exit 3".into(),
    ];
    let source = world.source([program]);
    source.describe().await.unwrap();
    assert_eq!(
        source.snapshot().faults[0].why,
        "describe ended with exit 3: the disk is full"
    );
}

#[tokio::test]
async fn a_description_is_made_without_a_credential() {
    let world = World::new();
    let mut program = world.program("probe", "", "");
    program.args = vec![
        "-c".into(),
        "env > \"$OUT/env\"; echo $* > \"$OUT/argv\"".into(),
        "x".into(),
    ];
    world.source([program]).describe().await.unwrap();
    assert_eq!(world.read("argv"), "describe --json\n");
    assert!(
        !world.read("env").contains("PROJECT_CLI"),
        "{}",
        world.read("env")
    );
}

#[tokio::test]
async fn a_tree_without_end_is_told_as_far_as_there_is_room() {
    let world = World::new();
    let entries: Vec<Value> = (0..200)
        .map(|n| {
            entry_with(json!({ "subcommand": format!("run-{n}-{}", "x".repeat(40)), "summary": "y".repeat(3000) }))
        })
        .collect();
    let text = description(json!(entries));
    let session = world.session([world.program("probe", &text, "")]).await;
    let description = session.view(Role::Admin).listing()[0].description.clone();
    assert!(description.len() < 6500, "{}", description.len());
    assert!(description.contains("more: a call with a subcommand that is not there"));
}

#[test]
fn two_programs_of_one_name_are_a_fault_of_the_configuration() {
    let world = World::new();
    let twice = [
        ProgramSettings::new("a", "/x"),
        ProgramSettings::new("a", "/y"),
    ];
    let error = ProjectCli::new(world.host(), twice).err().unwrap();
    assert_eq!(error, SettingsError::Twice("a".to_owned()));
}

/// Whoever listed tools read it, guests among them.
#[tokio::test]
async fn what_a_program_was_given_was_told_where_it_failed() {
    let world = World::new();
    let mut settings = ProgramSettings::new("q", "/bin/sh");
    let script = "echo \"bad $1 $2 $K\" >&2; exit 3";
    settings.args = ["-c", script, "sh", "--password", "SECP12345"]
        .map(Into::into)
        .to_vec();
    settings.env = vec![("K".to_owned(), "SECENV1234567".to_owned())];
    let source = world.source([settings]);
    source.describe().await.unwrap();
    let faults = source.snapshot().faults.clone();
    assert_eq!(
        faults[0].why,
        "describe ended with exit 3: bad --password [redacted] [redacted]"
    );
    assert_eq!(
        source.why_missing("project_cli").unwrap(),
        format!("q: {}", faults[0].why)
    );
    assert_eq!(source.why_missing("other"), None);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_by_its_path() {
    let world = World::new();
    let source = world.source([ProgramSettings::new("gone", "/nowhere/at-all")]);
    source.describe().await.unwrap();
    let why = "/nowhere/at-all is not there";
    assert_eq!(source.snapshot().faults[0].why, why);
    assert_eq!(source.status()[0].lacking.as_deref(), Some(why));
}
