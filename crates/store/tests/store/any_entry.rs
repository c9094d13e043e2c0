//! Any entry there is.

use std::sync::Arc;

use outfitter_core::{
    Answer, AnswerKind, ArtifactId, Audience, CallId, Code, EntryBody, ErrorInfo, EventBody,
    EventSeq, Hash, Intent, Interrupt, InterruptId, InterruptKind, Message, MessageId, MessageRole,
    Mode, NewEntry, OnExpiry, Part, PartSource, RequestMade, Role, RunId, RunOutcome, RunOutput,
    RunStarted, SandboxSummary, Status, SuggestedAction, TokenUsage, ToolCall, ToolName,
    ToolOutput, Truncated, UiHints, UnixMs, UsageSource, WarningCode, WorkflowInUse,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::Union;
use serde_json::{Value, json};

/// A text of any characters, NUL among them.
pub(crate) fn text() -> BoxedStrategy<String> {
    prop_oneof![any::<String>(), "[\0-\u{1f}\"\\\\a\u{2028}😀]{0,6}"].boxed()
}

pub(crate) fn some_text() -> BoxedStrategy<String> {
    text().prop_map(|text| format!("x{text}")).boxed()
}

fn key() -> BoxedStrategy<String> {
    prop_oneof![
        text(),
        Just("$serde_json::private::RawValue".to_owned()),
        Just("$serde_json::private::Number".to_owned()),
        Just("type".to_owned()),
        Just("entry".to_owned()),
    ]
    .boxed()
}

pub(crate) fn value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!(-0.0)),
        Just(json!(1e300)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((key(), inner), 0..5).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
    .boxed()
}

fn call() -> BoxedStrategy<CallId> {
    some_text()
        .prop_map(|text| CallId::new(text).unwrap())
        .boxed()
}

fn artifact() -> BoxedStrategy<ArtifactId> {
    "[a-zA-Z0-9_]{1,9}"
        .prop_map(|text| ArtifactId::new(text).unwrap())
        .boxed()
}

fn tool() -> BoxedStrategy<ToolName> {
    "[a-z_]{1,9}"
        .prop_map(|text| ToolName::new(text).unwrap())
        .boxed()
}

fn interrupt_id() -> BoxedStrategy<InterruptId> {
    some_text()
        .prop_map(|text| InterruptId::new(text).unwrap())
        .boxed()
}

fn hash() -> BoxedStrategy<Hash> {
    any::<[u8; 4]>().prop_map(Hash::of).boxed()
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(all: &[T]) -> Union<Just<T>> {
    Union::new(all.iter().cloned().map(Just))
}

fn error() -> BoxedStrategy<ErrorInfo> {
    (
        one_of(&Code::ALL),
        text(),
        any::<bool>(),
        option::of(text()),
        option::of(value()),
        option::of(value()),
        option::of(text()),
    )
        .prop_map(
            |(code, message, retryable, path, expected, got, hint)| ErrorInfo {
                code,
                message,
                retryable,
                path,
                expected,
                got,
                hint,
            },
        )
        .boxed()
}

fn output() -> BoxedStrategy<ToolOutput> {
    let statuses = [
        Status::Success,
        Status::Partial,
        Status::Running,
        Status::Error,
        Status::Denied,
        Status::Cancelled,
        Status::Timeout,
        Status::Interrupted,
    ];
    let truncated = (any::<u64>(), any::<u64>(), artifact()).prop_map(
        |(total_bytes, omitted_bytes, artifact)| Truncated {
            total_bytes,
            omitted_bytes,
            artifact,
        },
    );
    (
        (text(), call(), value(), one_of(&statuses)),
        option::of(value()),
        option::of(error()),
        option::of(value().prop_map(UiHints)),
        vec(artifact(), 0..3),
        option::of(truncated),
    )
        .prop_map(
            |(
                (tool_name, tool_call_id, tool_call_args, status),
                result,
                error,
                ui_hints,
                artifacts,
                truncated,
            )| {
                ToolOutput {
                    tool_name,
                    resolved: None,
                    tool_call_id,
                    tool_call_args,
                    status,
                    result,
                    error,
                    ui_hints,
                    artifacts,
                    truncated,
                }
            },
        )
        .boxed()
}

fn part() -> BoxedStrategy<Part> {
    let source = prop_oneof![
        text().prop_map(|data| PartSource::Base64 { data }),
        artifact().prop_map(|id| PartSource::Artifact { id }),
        text().prop_map(|url| PartSource::Url { url }),
    ];
    prop_oneof![
        text().prop_map(|text| Part::Text { text }),
        (text(), option::of(text()))
            .prop_map(|(text, signature)| Part::Reasoning { text, signature }),
        text().prop_map(|text| Part::Refusal { text }),
        (call(), text(), text()).prop_map(|(id, name, arguments)| Part::ToolCall(ToolCall {
            id,
            name,
            arguments: arguments.into(),
        })),
        (text(), source.clone()).prop_map(|(mime, source)| Part::Image { mime, source }),
        (text(), text(), source).prop_map(|(mime, name, source)| Part::File { mime, name, source }),
        (text(), value()).prop_map(|(provider, data)| Part::Provider { provider, data }),
    ]
    .boxed()
}

fn message() -> BoxedStrategy<Message> {
    let roles = [
        MessageRole::System,
        MessageRole::User,
        MessageRole::Assistant,
        MessageRole::Tool,
    ];
    (
        some_text(),
        one_of(&roles),
        vec(part(), 0..4),
        option::of(output()),
    )
        .prop_map(|(id, role, parts, output)| Message {
            id: MessageId::new(id).unwrap(),
            role,
            parts,
            output: output.map(Arc::new),
        })
        .boxed()
}

fn interrupt() -> BoxedStrategy<Interrupt> {
    let kind = prop_oneof![
        (text(), vec(text(), 0..3)).prop_map(|(question, choices)| InterruptKind::Question {
            question,
            choices,
            sensitive: true,
            questionnaire: None,
        }),
        text().prop_map(|reason| InterruptKind::Approval { reason }),
        Just(InterruptKind::Delay),
        text().prop_map(|what| InterruptKind::Remote { what }),
    ];
    let on_expiry = prop_oneof![
        Just(OnExpiry::Cancel),
        Just(OnExpiry::Continue),
        value().prop_map(|answer| OnExpiry::Default { answer }),
        Just(OnExpiry::Deny),
    ];
    let audience =
        (text(), text(), one_of(&Role::ALL)).prop_map(|(tenant, subject, min_role)| Audience {
            tenant: tenant.as_str().into(),
            subject: subject.as_str().into(),
            min_role,
        });
    (
        (interrupt_id(), call(), kind, option::of(value()), audience),
        any::<u64>(),
        on_expiry,
        hash(),
        value(),
    )
        .prop_map(
            |((id, call, kind, schema, audience), expires, on_expiry, args_hash, state)| {
                Interrupt {
                    id,
                    call,
                    kind,
                    schema,
                    audience,
                    expires: UnixMs(expires),
                    on_expiry,
                    args_hash,
                    state,
                }
            },
        )
        .boxed()
}

fn run_started() -> BoxedStrategy<RunStarted> {
    (
        option::of("[a-z]{1,9}"),
        option::of(text()),
        proptest::sample::select(Mode::ALL.to_vec()),
        vec(text(), 0..3),
        (text(), text()),
        (option::of(text()), option::of(text())),
    )
        .prop_map(
            |(resumes, model, mode, tools, (backend, level), (workflow, client_run))| RunStarted {
                resumes: resumes.map(|run| RunId::new(run).unwrap()),
                model,
                mode,
                skills: tools.clone(),
                tools: tools.into(),
                sandbox: SandboxSummary { backend, level },
                workflow,
                client_run,
            },
        )
        .boxed()
}

fn run_output() -> BoxedStrategy<(RunOutcome, RunOutput)> {
    let outcomes = [
        RunOutcome::Success,
        RunOutcome::Failed,
        RunOutcome::Cancelled,
        RunOutcome::Waiting,
        RunOutcome::Limit,
    ];
    let action =
        (text(), option::of(text()), option::of(text())).prop_map(|(label, prompt, command)| {
            SuggestedAction {
                label,
                prompt,
                command,
            }
        });
    (
        one_of(&outcomes),
        text(),
        vec(action, 0..3),
        option::of(error()),
    )
        .prop_map(|(status, answer, suggested_actions, error)| {
            let output = RunOutput {
                status,
                answer,
                suggested_actions,
                error,
            };
            (status, output)
        })
        .boxed()
}

fn usage() -> BoxedStrategy<TokenUsage> {
    (
        any::<[u64; 5]>(),
        one_of(&[UsageSource::Reported, UsageSource::Estimated]),
    )
        .prop_map(
            |([input, output, read, write, reasoning], source)| TokenUsage {
                input_tokens: input,
                output_tokens: output,
                cache_read_tokens: read,
                cache_write_tokens: write,
                reasoning_tokens: reasoning,
                source,
            },
        )
        .boxed()
}

/// Every kind of entry that is kept.
pub(crate) fn body() -> BoxedStrategy<EntryBody> {
    let event = prop_oneof![
        run_started().prop_map(EventBody::RunStarted),
        message().prop_map(|message| EventBody::Message(Arc::new(message))),
        (call(), text(), value()).prop_map(|(tool_call_id, tool_name, arguments)| {
            EventBody::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
            }
        }),
        interrupt().prop_map(|interrupt| EventBody::Interrupt(Box::new(interrupt))),
        interrupt_id().prop_map(|interrupt| EventBody::Answered { interrupt }),
        text().prop_map(|message| EventBody::Warning {
            code: WarningCode::ViewChanged,
            message,
        }),
        usage().prop_map(EventBody::Usage),
        run_output().prop_map(|(outcome, output)| EventBody::RunFinished {
            outcome,
            output: Arc::new(output),
        }),
    ];
    let by = prop_oneof![
        text().prop_map(|subject| AnswerKind::Subject {
            subject: subject.as_str().into(),
        }),
        Just(AnswerKind::Expired),
        Just(AnswerKind::Cancelled),
    ];
    prop_oneof![
        8 => event.prop_map(EntryBody::Event),
        1 => (hash(), hash(), vec(tool(), 0..3)).prop_map(|(hash, view, tools)| {
            EntryBody::Request(RequestMade { hash, view, tools })
        }),
        1 => (call(), tool(), any::<bool>()).prop_map(|(call, tool, idempotent)| {
            EntryBody::Intent(Intent {
                call,
                tool,
                idempotent,
            })
        }),
        1 => (interrupt_id(), by, value(), any::<u64>()).prop_map(
            |(interrupt, by, value, at)| EntryBody::Answer(Answer {
                interrupt,
                by,
                value,
                at: UnixMs(at),
            })
        ),
        1 => vec(tool(), 0..3).prop_map(EntryBody::Suggested),
        1 => option::of((text(), text())).prop_map(|chosen| {
            EntryBody::Workflow(chosen.map(|(name, text)| WorkflowInUse { name, text }))
        }),
    ]
    .boxed()
}

pub(crate) fn entry() -> BoxedStrategy<NewEntry> {
    let small = || 0..=i64::MAX.cast_unsigned();
    ("[A-Za-z0-9._:-]{3,9}", small(), option::of(small()), body())
        .prop_map(|(run, at, event, body)| NewEntry {
            run: RunId::new(run).unwrap(),
            at: UnixMs(at),
            event: event.map(EventSeq),
            body,
        })
        .boxed()
}
