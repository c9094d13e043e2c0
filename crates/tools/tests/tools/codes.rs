//! How a call ends when it ends badly: one row a code.

use std::collections::BTreeMap;
use std::sync::Arc;

use outfitter_core::{
    CallFacts, Code, Decision, Effect, Effects, Exposure, Facts, Grant, NameSet, Outcome, Policy,
    Principal, Role, Status, ToolError, ToolSpec,
};
use outfitter_tools::{DefaultPolicy, ToolsConfig};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Probe, World, sandbox};

fn reader() -> Probe {
    Probe::new("file_read").schema(json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "lines": {"type": "integer", "minimum": 1},
            "mode": {"enum": ["text", "hex"]},
            "password": {"type": "string"},
            "nested": {
                "type": "object",
                "properties": {"deep/key": {"type": "boolean"}},
                "required": ["deep/key"],
            },
            "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
        },
        "required": ["path"],
        "additionalProperties": false,
    }))
}

#[rstest]
#[case::cut_off("cut_off", r#"{"path":"a.txt","content":"abc"#)]
#[case::not_json("not_json", "{'path': 'a.txt'}")]
#[case::twice("twice", r#"{"path":"a","path":"b"}"#)]
#[case::too_large("too_large", r#"{"path":"a","lines":123456789012345678901234567890}"#)]
#[case::list("list", r#"["a.txt"]"#)]
#[case::missing("missing", "{}")]
#[case::wrong_type("wrong_type", r#"{"path":5}"#)]
#[case::no_number("no_number", r#"{"path":"a","lines":"5px"}"#)]
#[case::a_number_too_small("a_number_too_small", r#"{"path":"a","lines":"0"}"#)]
#[case::unknown_name("unknown_name", r#"{"path":"a","pth":"b","other":1}"#)]
#[case::many(
    "many",
    r#"{"lines":0,"mode":"bin","nested":{"deep/key":"no"},"either":{},"path":""}"#
)]
#[case::nested_missing("nested_missing", r#"{"path":"a","nested":{}}"#)]
#[case::secret("secret", r#"{"path":"a","password":1234}"#)]
#[case::secret_inside("secret_inside", r#"{"path":{"password":"hunter2"}}"#)]
#[case::long("long", &format!(r#"{{"path":"a","lines":"{}"}}"#, "9".repeat(500)))]
#[tokio::test]
async fn arguments_that_do_not_fit_never_run_and_say_what_is_wrong(
    #[case] name: &str,
    #[case] raw: &str,
) {
    let world = World::new([reader().gives(|| panic!("it ran"))]);
    let output = world.output("file_read", raw).await;
    assert_eq!(output.status, Status::Error);
    assert_eq!(output.error.as_ref().unwrap().code, Code::InvalidArguments);
    assert_eq!(world.journal.messages().len(), 1);
    insta::assert_json_snapshot!(format!("invalid_{name}"), &*output);
}

#[tokio::test]
async fn a_flood_of_faults_is_counted_and_not_listed() {
    let world = World::new([reader()]);
    let many: serde_json::Map<String, Value> =
        (0..5000).map(|n| (format!("key_{n}"), json!(n))).collect();
    let output = world.output("file_read", &json!(many).to_string()).await;
    let message = &output.error.as_ref().unwrap().message;
    assert!(message.ends_with("; and 4981 more"), "{message}");
    assert!(message.len() < 2000, "{message}");
}

#[rstest]
#[case("")]
#[case("  ")]
#[case("null")]
#[case("{}")]
#[tokio::test]
async fn no_arguments_are_an_empty_object(#[case] raw: &str) {
    let world = World::new([Probe::new("nothing_needed"), reader()]);
    let ran = world.output("nothing_needed", raw).await;
    assert_eq!(
        (ran.status, &ran.result),
        (Status::Success, &Some(json!({})))
    );
    let refused = world.output("file_read", raw).await;
    let error = refused.error.as_ref().unwrap();
    assert!(error.message.contains("/path is missing"), "{error:?}");
}

struct Denies;

impl Policy for Denies {
    fn visible(&self, who: &Principal, spec: &ToolSpec) -> bool {
        DefaultPolicy.visible(who, spec) && spec.name.as_str() != "invisible"
    }
    fn decide(&self, who: &Principal, call: &CallFacts<'_>) -> Decision {
        assert_ne!(call.args.get("path"), Some(&json!("/dev/panic")));
        let first = DefaultPolicy.decide(who, call);
        if call
            .args
            .get("path")
            .is_some_and(|path| path == "/etc/shadow")
        {
            first.meet(Decision::deny("that file is nobody's"))
        } else {
            first
        }
    }
}

fn gated() -> World {
    let with = |name: &str, effects: &[Effect]| {
        let effects = Effects::of(effects);
        Probe::new(name).spec(move |spec| spec.effects = effects)
    };
    let mut world = World::new([
        Probe::new("file_read"),
        Probe::new("file_write"),
        Probe::new("invisible"),
        Probe::new("admins_only").spec(|spec| spec.min_role = Role::Admin),
        Probe::new("later").spec(|spec| spec.exposure = Exposure::Deferred),
        Probe::new("unlisted").spec(|spec| spec.exposure = Exposure::Hidden),
        Probe::new("left_out"),
        with("fetch", &[Effect::Network]),
        with("shell", &[Effect::Exec]),
        with("post", &[Effect::MessageOther]),
        Probe::new("judged_more").facts(|spec, _| {
            Ok(Facts {
                effects: Effects::of(&[Effect::WriteOutside]),
                ..Facts::of(spec)
            })
        }),
        // It would ask, too; but no approval lends a role.
        Probe::new("judged_higher").facts(|spec, _| {
            Ok(Facts {
                effects: Effects::of(&[Effect::WriteOutside]),
                min_role: Role::Admin,
                ..Facts::of(spec)
            })
        }),
        Probe::new("judged_beyond").facts(|spec, _| {
            Ok(Facts {
                effects: Effects::of(&[Effect::MessageOther]),
                ..Facts::of(spec)
            })
        }),
        Probe::new("cannot_judge").facts(|_, _| Err(ToolError::invalid("/x", "no such host"))),
        Probe::new("judge_crashes").facts(|_, _| panic!("inside facts")),
        Probe::new("wraps").facts(|spec, args| {
            let inner = args["tool"].as_str().and_then(|name| {
                Some((
                    outfitter_core::ToolName::new(name).ok()?,
                    args["args"].clone(),
                ))
            });
            Ok(Facts {
                inner,
                ..Facts::of(spec)
            })
        }),
    ]);
    world.registry.configure(ToolsConfig {
        available: NameSet::all(),
        aliases: BTreeMap::from([("read".to_owned(), "file_read".to_owned())]),
        policy: Arc::new(Denies),
        ..ToolsConfig::default()
    });
    world.grant = Grant {
        tools: NameSet::of([
            "file_*",
            "invisible",
            "admins_only",
            "later",
            "unlisted",
            "fetch",
            "shell",
            "post",
            "judge*",
            "cannot_judge",
            "wraps",
        ]),
        effects: Effects::ALL.without(Effects::of(&[Effect::MessageOther])),
        ..Grant::full(Role::Admin)
    };
    world
}

#[tokio::test]
async fn every_gate_has_its_code() {
    let world = gated();
    let mut rows = Vec::new();
    for (name, raw) in [
        ("file_read", "{}"),
        ("read", "{}"),
        ("raed_file", "{}"),
        ("File_Read", "{}"),
        ("nope", "{}"),
        ("left_out", "{}"),
        ("admins_only", "{}"),
        ("admin_only", "{}"),
        ("invisible", "{}"),
        ("invisibel", "{}"),
        ("post", "{}"),
        ("later", "{}"),
        ("unlisted", "{}"),
        ("unlistd", "{}"),
        ("fetch", "{}"),
        ("shell", "{}"),
        ("judged_more", "{}"),
        ("judged_beyond", "{}"),
        ("judged_higher", "{}"),
        ("wraps", r#"{"tool":"judged_higher","args":{}}"#),
        ("cannot_judge", "{}"),
        ("judge_crashes", "{}"),
        ("file_read", r#"{"path":"/etc/shadow"}"#),
        ("file_read", r#"{"path":"/dev/panic"}"#),
        (
            "wraps",
            r#"{"tool":"file_read","args":{"path":"/etc/shadow"}}"#,
        ),
        ("wraps", r#"{"tool":"fetch","args":{}}"#),
        ("wraps", r#"{"tool":"admins_only","args":{}}"#),
        ("wraps", r#"{"tool":"left_out","args":{}}"#),
        ("wraps", r#"{"tool":"later","args":{}}"#),
        (
            "wraps",
            r#"{"tool":"wraps","args":{"tool":"wraps","args":{"tool":"wraps","args":{"tool":"wraps","args":{"tool":"wraps","args":{}}}}}}"#,
        ),
        ("admins_only", "{"),
    ] {
        let output = world.output(name, raw).await;
        let error = output.error.as_ref().map(|error| {
            format!(
                "{}: {} | {}",
                error.code,
                error.message,
                error.hint.as_deref().unwrap_or("-")
            )
        });
        let raw = if raw == "{}" { "" } else { raw };
        rows.push(format!(
            "{name} {raw}\n    {} {}",
            output.status.as_str(),
            error.unwrap_or_default()
        ));
    }
    insta::assert_snapshot!(rows.join("\n"));
}

#[tokio::test]
async fn a_command_runs_freely_only_where_it_is_isolated() {
    let mut world = gated();
    assert_eq!(world.output("shell", "").await.status, Status::Success);
    world.run.sandbox = sandbox(false);
    let output = world.output("shell", "").await;
    assert_eq!(output.status, Status::Denied);
    assert_eq!(output.error.as_ref().unwrap().code, Code::NeedsApproval);
}

#[tokio::test]
async fn a_role_that_is_taken_away_after_the_view_was_made_counts() {
    let mut world = gated().role(Role::Admin);
    let view = world.view();
    world = world.role(Role::User);
    let end = world
        .pipeline
        .run(&view, crate::support::call("admins_only", ""), &world.run)
        .await;
    let outfitter_core::CallEnd::Output(output) = end.unwrap() else {
        panic!("it waits");
    };
    assert_eq!(output.error.as_ref().unwrap().code, Code::NotPermitted);
}

#[tokio::test]
async fn a_tool_that_fails_keeps_its_code_and_its_status_follows() {
    let mut rows = Vec::new();
    for code in Code::ALL {
        let world = World::new([
            Probe::new("errs").gives(move || {
                Err(ToolError::new(code, "it did not work").with_source("for operators only"))
            }),
            Probe::new("shows").gives(move || {
                let outcome = Outcome::json(json!({"so": "far"}));
                Ok(outcome.stopped(code, "it did not work").into())
            }),
        ]);
        let (errs, shows) = (
            world.output("errs", "").await,
            world.output("shows", "").await,
        );
        assert_eq!(errs.status, shows.status);
        assert_eq!(errs.error.as_ref().unwrap().code, code);
        assert_eq!(
            (&errs.result, &shows.result),
            (&None, &Some(json!({"so": "far"})))
        );
        assert!(!world.read_by_model().contains("operators"));
        rows.push(format!("{code} {}", errs.status.as_str()));
    }
    insta::assert_snapshot!(rows.join("\n"));
}

#[tokio::test]
async fn a_panic_is_internal_and_says_nothing_of_our_insides() {
    let world = World::new([
        Probe::new("panics").gives(|| panic!("secret detail")),
        Probe::new("panics_at_once").call(|_, _| panic!("secret detail")),
        Probe::new("panics_later").call(|_, _| {
            Box::pin(async {
                tokio::task::yield_now().await;
                panic!("secret detail")
            })
        }),
    ]);
    for name in ["panics", "panics_at_once", "panics_later"] {
        let output = world.output(name, "").await;
        assert_eq!(output.status, Status::Error, "{name}");
        assert_eq!(output.error.as_ref().unwrap().code, Code::Internal);
        assert!(!world.read_by_model().contains("secret"), "{name}");
    }
    assert_eq!(world.journal.messages().len(), 3);
}

#[tokio::test]
async fn an_output_is_exactly_this() {
    let world = World::new([Probe::new("echo")]);
    let output = world
        .output("echo", r#"{"b":[1,2.5],"a":"é","api_key":"k"}"#)
        .await;
    insta::assert_json_snapshot!(&*output);
    // The result is the tool's own affair; the arguments are shown.
    assert_eq!(
        world.read_by_model(),
        r#"{"a":"é","api_key":"k","b":[1,2.5]}"#
    );
    let text: Value = serde_json::from_str(&serde_json::to_string(&*output).unwrap()).unwrap();
    let back: outfitter_core::ToolOutput = serde_json::from_value(text).unwrap();
    assert_eq!(back, *output);
}
