//! Calls as models really make them: without arguments, with an id twice, of a tool that is not
//! there, and too late.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::*;
use serde_json::{Value, json};

use crate::harness::*;

/// A tool of the tests with the rest of a specification.
struct Made {
    spec: ToolSpec,
    inner: Counting,
}

impl Made {
    fn of(name: &str, change: impl FnOnce(&mut ToolSpec)) -> Self {
        Self::acting(Counting::echo(name, Effects::READ), change)
    }

    fn acting(inner: Counting, change: impl FnOnce(&mut ToolSpec)) -> Self {
        let mut spec = inner.spec().clone();
        change(&mut spec);
        Self { spec, inner }
    }
}

#[async_trait]
impl Tool for Made {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }
    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        self.inner.call(cx, args).await
    }
}

fn results(events: &[Arc<Event>]) -> Vec<Arc<ToolOutput>> {
    let messages = events.iter().filter_map(|event| match &event.body {
        EventBody::Message(message) => message.output.clone(),
        _ => None,
    });
    messages.collect()
}

/// A02: no arguments are no arguments, however they are written; a tool that needs some says so by
/// its schema, and never that it could not read them.
#[tokio::test]
async fn a02_no_arguments_are_an_empty_object() {
    let bare = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let needy = json!({
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
    });
    let world = World::new(vec![
        Arc::new(Made::of("bare", |spec| spec.input_schema = bare.into())),
        Arc::new(Made::of("needy", |spec| spec.input_schema = needy.into())),
    ]);
    let written = ["", "  ", "null", "{}", "\n"];
    let process = world.alive(Arc::new(move |replies, _| match replies {
        0 => {
            let both = written.iter().enumerate().flat_map(|(n, arguments)| {
                [
                    (format!("bare{n}"), "bare", *arguments),
                    (format!("needy{n}"), "needy", *arguments),
                ]
            });
            let both: Vec<_> = both.collect();
            let both: Vec<_> = both
                .iter()
                .map(|(id, name, arguments)| (id.as_str(), *name, *arguments))
                .collect();
            calls(&both)
        }
        _ => say("ok"),
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let outputs = world.outputs().await;
    for n in 0..written.len() {
        let ran = &outputs[&format!("bare{n}")][0];
        assert_eq!(ran.result, Some(json!({})), "{:?}", written[n]);
        let refused = outputs[&format!("needy{n}")][0].error.clone().unwrap();
        assert_eq!(refused.code, Code::InvalidArguments);
        let said = refused.to_string();
        assert!(said.contains("path") && !said.contains("JSON"), "{said}");
    }
}

/// What is shown of arguments that are no JSON: the text that was written, without the password.
const MALFORMED: [(&str, &str); 3] = [
    (
        r#"{"command":"echo 1","password":"hunter22","n":1,"n":2}"#,
        r#"{"command":"echo 1","password":"[redacted]","n":1,"n":2}"#,
    ),
    (
        r#"{"command":"echo 1","password":"hunter22""#,
        r#"{"command":"echo 1","password":"[redacted]""#,
    ),
    (
        r#"{"password":"hunter22",}"#,
        r#"{"password":"[redacted]",}"#,
    ),
];

#[tokio::test]
async fn malformed_arguments_showed_a_password_under_its_name() {
    for (written, shown) in MALFORMED {
        let world = World::new(vec![Arc::new(Counting::echo("read", Effects::READ))]);
        let process = world.alive(Arc::new(move |replies, _| match replies {
            0 => calls(&[("x", "read", written)]),
            _ => say("ok"),
        }));
        let (_, events) = process.prompt("go").await;
        let (mut deltas, mut called, mut replied) = (String::new(), Vec::new(), Vec::new());
        for body in bodies(&events) {
            match body {
                EventBody::Delta {
                    kind: DeltaKind::ToolArguments,
                    text,
                    ..
                } => deltas.push_str(text),
                EventBody::ToolCall { arguments, .. } => called.push(arguments.clone()),
                EventBody::Message(message) => {
                    replied.extend(message.parts.iter().filter_map(|part| match part {
                        Part::ToolCall(call) => {
                            Some(redact_arguments(&call.arguments).into_owned())
                        }
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        assert_eq!(deltas, shown);
        assert_eq!(replied, [shown]);
        assert_eq!(called, [json!(shown)]);
        let outputs = results(&events);
        let output = outputs.first().unwrap();
        assert_eq!(output.tool_call_args, json!(shown));
        let error = output.error.as_ref().unwrap();
        assert_eq!(error.code, Code::InvalidArguments);
        assert_eq!(error.got, Some(json!(shown)));
        assert!(!format!("{outputs:?}").contains("hunter22"), "{outputs:?}");
    }
}

/// A03: an id that a model gives twice, in one reply or in a later one, is two calls with two
/// results, and the next process asks with the same.
#[tokio::test]
async fn a03_calls_with_one_id_are_calls_of_their_own_also_when_they_are_told_again() {
    let world = World::new(vec![Arc::new(Counting::echo("read", Effects::READ))]);
    let script: Script = Arc::new(|replies, _| match replies {
        0 => calls(&[
            ("x", "read", r#"{"of":"a"}"#),
            ("x", "read", r#"{"of":"b"}"#),
        ]),
        1 => calls(&[("x", "read", r#"{"of":"c"}"#)]),
        _ => say("ok"),
    });
    let process = world.alive(script.clone());
    let (end, events) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let told: Vec<Value> = results(&events)
        .iter()
        .map(|output| output.result.clone().unwrap())
        .collect();
    assert_eq!(
        told,
        [json!({"of": "a"}), json!({"of": "b"}), json!({"of": "c"})]
    );
    let outputs = world.outputs().await;
    assert_eq!(outputs.len(), 3, "{:?}", outputs.keys());
    assert!(outputs.values().all(|one| one.len() == 1));

    let last = process.model.asked.lock().unwrap().last().unwrap().clone();
    let request: Value = serde_json::from_str(&last).unwrap();
    let of = |role: &str| -> Vec<Value> {
        let messages = request["messages"].as_array().unwrap().iter();
        messages
            .filter(|message| message[0] == role)
            .cloned()
            .collect()
    };
    let answered: Vec<Value> = of("tool")
        .iter()
        .map(|message| message[2].clone())
        .collect();
    assert_eq!(answered.len(), 3);
    for id in &answered {
        let said = of("assistant")
            .iter()
            .map(ToString::to_string)
            .collect::<String>();
        assert!(
            said.contains(&id.to_string()),
            "{id} answers no call of {said}"
        );
        assert!(outputs.contains_key(id.as_str().unwrap()));
    }

    let next = world.alive(Arc::new(|_, _| say("again")));
    next.prompt("more").await;
    let again = next.model.asked.lock().unwrap()[0].clone();
    let again: Value = serde_json::from_str(&again).unwrap();
    let (before, after) = (&request["messages"], &again["messages"]);
    let before = before.as_array().unwrap();
    assert_eq!(&after.as_array().unwrap()[..before.len()], &before[..]);
}

/// A05: what comes after the end of its time is nobody's result.
#[tokio::test]
async fn a05_a_call_that_ends_too_late_has_one_result_which_is_the_timeout() {
    let (done, was_done) = tokio::sync::oneshot::channel::<()>();
    let done = Arc::new(std::sync::Mutex::new(Some(done)));
    let act: Act = Arc::new(move |cx, _| {
        let done = done.clone();
        Box::pin(async move {
            // Goes on whatever becomes of the call, as what runs elsewhere does.
            let late = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(300));
                cx.progress.emit(Stream::Stdout, b"late");
                drop(done.lock().unwrap().take());
            });
            tokio::task::spawn_blocking(move || late.join())
                .await
                .unwrap()
                .unwrap();
            Ok(Outcome::json(json!("late")).into())
        })
    });
    let slow = Counting::new("slow", Effects::READ, act);
    let slow = Made::acting(slow, |spec| spec.timeout = Some(Duration::from_millis(100)));
    let world = World::new(vec![Arc::new(slow)]);
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => calls(&[("c", "slow", "{}")]),
        _ => say("went on"),
    }));
    let (end, events) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    // Its sender is dropped when the work is over.
    assert!(was_done.await.is_err());
    let told = results(&events);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].error.as_ref().unwrap().code, Code::Timeout);
    let outputs = world.outputs().await;
    assert_eq!(outputs["c"].len(), 1);
    assert_eq!(outputs["c"][0].error.as_ref().unwrap().code, Code::Timeout);
}

/// A06: a name that is none is answered with those that are close to it and may be known, and the
/// run goes on to its end.
#[tokio::test]
async fn a06_a_made_up_name_is_answered_with_close_ones_and_never_with_hidden_ones() {
    let mut world = World::new(vec![
        Arc::new(Counting::echo("read_file", Effects::READ)),
        Arc::new(Made::of("erase_disk", |spec| spec.min_role = Role::Admin)),
    ]);
    world.who = Arc::new(Principal {
        role: Role::User,
        ..(*world.who).clone()
    });
    let names = ["raed_file", "nope", "READ_FILE", "erase_dsik", "erase_disk"];
    let process = world.alive(Arc::new(move |replies, _| match replies {
        0 => calls(&names.map(|name| (name, name, "{}"))),
        _ => say("ok"),
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let outputs = world.outputs().await;
    let said = |name: &str| {
        let error = outputs[name][0].error.clone().unwrap();
        let whole = serde_json::to_string(&error).unwrap();
        (error.code, whole)
    };
    for name in ["raed_file", "READ_FILE"] {
        let (code, whole) = said(name);
        assert_eq!(code, Code::UnknownTool);
        assert!(whole.contains("read_file"), "{whole}");
    }
    assert_eq!(said("nope").0, Code::UnknownTool);
    let (code, whole) = said("erase_dsik");
    assert_eq!(code, Code::UnknownTool);
    assert!(!whole.contains("erase_disk"), "{whole}");
    for name in names {
        let (_, whole) = said(name);
        let own = whole.replace(&format!("\"{name}\""), "").replace(name, "");
        assert!(!own.contains("erase_disk"), "{name}: {whole}");
    }
}
