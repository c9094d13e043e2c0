//! One event of every kind, with everything said that can be said.

use std::sync::Arc;

use outfitter_core::{
    ArtifactId, Audience, Code, DeltaKind, ErrorInfo, Event, EventBody, Hash, Interrupt,
    InterruptId, InterruptKind, ItemType, MessageId, MessageRole, Mode, OnExpiry, Part,
    Questionnaire, QuestionnaireItem, QuestionnaireKind, Role, RunId, RunOutcome, RunOutput,
    RunStarted, SandboxSummary, Status, Stream, SuggestedAction, TokenUsage, ToolCall, ToolOutput,
    Truncated, UiHints, UnixMs, UsageSource, WarningCode,
};
use serde_json::json;

use super::{answer, call, message, numbered, via};

fn waits(kind: InterruptKind) -> EventBody {
    EventBody::Interrupt(Box::new(Interrupt {
        id: InterruptId::new("int_1").unwrap(),
        call: call("call_1"),
        kind,
        schema: Some(json!({"type": "string"})),
        audience: Audience {
            tenant: "local".into(),
            subject: "me".into(),
            min_role: Role::Admin,
        },
        expires: UnixMs(1_767_225_601_001),
        on_expiry: OnExpiry::Deny,
        args_hash: Hash::of(b"x"),
        state: json!({"secret": "stays inside"}),
    }))
}

pub(crate) fn full_error() -> ErrorInfo {
    ErrorInfo {
        expected: Some(json!("integer")),
        got: Some(json!("string")),
        ..ErrorInfo::new(Code::InvalidArguments, "/limit is no integer")
            .at("/limit")
            .with_hint("leave it out for the default")
    }
}

pub(crate) fn full_output() -> ToolOutput {
    let artifact = ArtifactId::new("art_1").unwrap();
    ToolOutput {
        tool_name: "grep".to_owned(),
        resolved: None,
        tool_call_id: call("call_1"),
        tool_call_args: json!({"pattern": "x", "limit": null}),
        status: Status::Error,
        result: Some(json!([1, null, {"a": 1.5}])),
        error: Some(full_error()),
        ui_hints: Some(UiHints(json!({"template": "table"}))),
        artifacts: vec![artifact.clone()],
        truncated: Some(Truncated {
            total_bytes: 90_000,
            omitted_bytes: 60_000,
            artifact,
        }),
    }
}

/// Every kind of question in one form.
fn form() -> Questionnaire {
    let item = |answer, options: &[&str], default| QuestionnaireItem {
        id: format!("{answer:?}").to_lowercase(),
        answer,
        label: "Which?".to_owned(),
        options: options.iter().map(|&option| option.to_owned()).collect(),
        required: answer == ItemType::Text,
        default,
    };
    Questionnaire {
        title: "A trip".to_owned(),
        kind: QuestionnaireKind::PlanInformation,
        questions: vec![
            item(ItemType::Text, &[], None),
            item(ItemType::Single, &["a", "b"], Some(json!("a"))),
            item(ItemType::Multi, &["a", "b"], None),
            item(ItemType::Number, &[], Some(json!(3))),
            item(ItemType::Confirm, &[], None),
        ],
    }
}

/// One event of every kind. They are no run: nothing about their order is right.
pub(crate) fn every_kind() -> Vec<Event> {
    let text = |text: &str| Part::Text {
        text: text.to_owned(),
    };
    let mut events = numbered(
        "run_9",
        vec![
            EventBody::RunStarted(RunStarted {
                resumes: Some(RunId::new("run_8").unwrap()),
                model: Some("anthropic/claude".to_owned()),
                mode: Mode::Plan,
                tools: ["grep".to_owned()].into(),
                skills: vec!["pdf".to_owned()],
                sandbox: SandboxSummary {
                    backend: "local".to_owned(),
                    level: "partial".to_owned(),
                },
                workflow: Some("review".to_owned()),
                client_run: Some("r9".to_owned()),
            }),
            EventBody::Delta {
                message_id: MessageId::new("msg_1").unwrap(),
                kind: DeltaKind::Reasoning,
                text: "Hm.\u{2028}\u{85}\n".to_owned(),
                tool_call_id: Some(call("call_1")),
            },
            message(
                "msg_1",
                MessageRole::Assistant,
                vec![
                    Part::Reasoning {
                        text: "not shown".to_owned(),
                        signature: Some("not shown".to_owned()),
                    },
                    text("one "),
                    Part::Provider {
                        provider: "x".to_owned(),
                        data: json!("not shown"),
                    },
                    Part::ToolCall(ToolCall {
                        id: call("call_1"),
                        name: "grep".to_owned(),
                        arguments: r#"{"pattern": "x", "#.into(),
                    }),
                    text("two"),
                    Part::Refusal {
                        text: ", but no".to_owned(),
                    },
                ],
            ),
            message("msg_2", MessageRole::System, vec![]),
            answer("msg_3", full_output()),
            EventBody::ToolCall {
                tool_call_id: call("call_1"),
                tool_name: "grep".to_owned(),
                arguments: json!(r#"{"pattern": "x", "#),
            },
            EventBody::ToolProgress {
                tool_call_id: call("call_1"),
                text: "é\u{2029}".to_owned(),
                stream: Stream::Stderr,
                closed: false,
                dropped_bytes: 7,
            },
            waits(InterruptKind::Question {
                question: "Which?".to_owned(),
                choices: vec!["a".to_owned()],
                sensitive: false,
                questionnaire: None,
            }),
            waits(InterruptKind::Question {
                question: "A trip".to_owned(),
                choices: Vec::new(),
                sensitive: false,
                questionnaire: Some(Box::new(form())),
            }),
            waits(InterruptKind::Approval {
                reason: "it writes outside the workspace".to_owned(),
            }),
            waits(InterruptKind::Delay),
            waits(InterruptKind::Remote {
                what: "the build".to_owned(),
            }),
            EventBody::Answered {
                interrupt: InterruptId::new("int_1").unwrap(),
            },
            EventBody::Warning {
                code: WarningCode::RepairedCallId,
                message: "two calls had one id".to_owned(),
            },
            EventBody::Usage(TokenUsage {
                input_tokens: 10,
                output_tokens: 20,
                cache_read_tokens: 3,
                cache_write_tokens: 4,
                reasoning_tokens: 5,
                source: UsageSource::Estimated,
            }),
            EventBody::RunFinished {
                outcome: RunOutcome::Failed,
                output: Arc::new(RunOutput {
                    status: RunOutcome::Failed,
                    answer: String::new(),
                    suggested_actions: vec![
                        SuggestedAction {
                            label: "Again".to_owned(),
                            prompt: Some("Try again.".to_owned()),
                            command: None,
                        },
                        SuggestedAction {
                            label: "Look".to_owned(),
                            prompt: None,
                            command: Some("outfitter doctor".to_owned()),
                        },
                    ],
                    error: Some(full_error()),
                }),
            },
        ],
    );
    for event in &mut events {
        event.via = Some(via());
    }
    events
}
