//! The runs that `docs/protocols/events.md` shows.

use std::sync::Arc;

use outfitter_core::{
    Audience, DeltaKind, Event, EventBody, Hash, Interrupt, InterruptId, InterruptKind, MessageId,
    MessageRole, Mode, OnExpiry, Part, Role, RunOutcome, RunOutput, RunStarted, SandboxSummary,
    Status, Stream, TokenUsage, ToolCall, ToolOutput, UnixMs, UsageSource,
};
use serde_json::json;

use super::{answer, call, message, numbered};

fn started(tools: &[&str]) -> EventBody {
    EventBody::RunStarted(RunStarted {
        resumes: None,
        model: Some("openai/gpt-5".to_owned()),
        mode: Mode::Agent,
        tools: tools.iter().map(|&name| name.to_owned()).collect(),
        skills: Vec::new(),
        sandbox: SandboxSummary {
            backend: "local".to_owned(),
            level: "full".to_owned(),
        },
        workflow: None,
        client_run: None,
    })
}

fn text(text: &str) -> Part {
    Part::Text {
        text: text.to_owned(),
    }
}

fn wanted(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall {
        id: call(id),
        name: name.to_owned(),
        arguments: arguments.into(),
    })
}

fn printed(text: &str, closed: bool) -> EventBody {
    EventBody::ToolProgress {
        tool_call_id: call("call_1"),
        text: text.to_owned(),
        stream: Stream::Stdout,
        closed,
        dropped_bytes: 0,
    }
}

fn finished(outcome: RunOutcome, answer: &str) -> EventBody {
    EventBody::RunFinished {
        outcome,
        output: Arc::new(RunOutput {
            status: outcome,
            answer: answer.to_owned(),
            suggested_actions: Vec::new(),
            error: None,
        }),
    }
}

/// One call of one tool.
pub(crate) fn run() -> Vec<Event> {
    let arguments = json!({"command": "echo hello"});
    let usage = TokenUsage {
        input_tokens: 812,
        output_tokens: 21,
        source: UsageSource::Reported,
        ..TokenUsage::default()
    };
    let output = ToolOutput {
        tool_name: "execute_shell_command".to_owned(),
        resolved: None,
        tool_call_id: call("call_1"),
        tool_call_args: arguments.clone(),
        status: Status::Success,
        result: Some(json!({"exit_code": 0, "stdout": "hello\n"})),
        error: None,
        ui_hints: None,
        artifacts: Vec::new(),
        truncated: None,
    };
    numbered(
        "run_1",
        vec![
            started(&["execute_shell_command"]),
            message("msg_1", MessageRole::User, vec![text("Say hello.")]),
            EventBody::Delta {
                message_id: MessageId::new("msg_2").unwrap(),
                kind: DeltaKind::ToolArguments,
                text: r#"{"command":"echo hello"}"#.to_owned(),
                tool_call_id: Some(call("call_1")),
            },
            EventBody::Usage(usage),
            message(
                "msg_2",
                MessageRole::Assistant,
                vec![wanted(
                    "call_1",
                    "execute_shell_command",
                    r#"{"command":"echo hello"}"#,
                )],
            ),
            EventBody::ToolCall {
                tool_call_id: call("call_1"),
                tool_name: "execute_shell_command".to_owned(),
                arguments,
            },
            printed("hello\n", false),
            printed("", true),
            answer("msg_3", output),
            EventBody::Delta {
                message_id: MessageId::new("msg_4").unwrap(),
                kind: DeltaKind::Text,
                text: "Done.".to_owned(),
                tool_call_id: None,
            },
            message("msg_4", MessageRole::Assistant, vec![text("Done.")]),
            finished(RunOutcome::Success, "Done."),
        ],
    )
}

/// A run that ends because a call waits for a person.
pub(crate) fn waiting_run() -> Vec<Event> {
    let arguments = json!({"question": "Which colour?"});
    numbered(
        "run_2",
        vec![
            started(&["ask_user"]),
            message("msg_5", MessageRole::User, vec![text("Paint it.")]),
            message(
                "msg_6",
                MessageRole::Assistant,
                vec![wanted(
                    "call_2",
                    "ask_user",
                    r#"{"question": "Which colour?"}"#,
                )],
            ),
            EventBody::ToolCall {
                tool_call_id: call("call_2"),
                tool_name: "ask_user".to_owned(),
                arguments: arguments.clone(),
            },
            EventBody::Interrupt(Box::new(Interrupt {
                id: InterruptId::new("int_1").unwrap(),
                call: call("call_2"),
                kind: InterruptKind::Question {
                    question: "Which colour?".to_owned(),
                    choices: vec!["red".to_owned(), "blue".to_owned()],
                    sensitive: false,
                    questionnaire: None,
                },
                schema: Some(json!({"enum": ["red", "blue"]})),
                audience: Audience {
                    tenant: "local".into(),
                    subject: "me".into(),
                    min_role: Role::User,
                },
                expires: UnixMs(1_767_312_000_000),
                on_expiry: OnExpiry::Cancel,
                args_hash: Hash::of_json(&arguments),
                state: json!(null),
            })),
            finished(RunOutcome::Waiting, ""),
        ],
    )
}
