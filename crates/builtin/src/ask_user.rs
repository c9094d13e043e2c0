//! `ask_user`: a question to the person, and a call that waits for the answer without holding
//! anything.

use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Answer, AnswerKind, Ask, Code, Effect, Effects, Exposure, InterruptKind, OnExpiry, Outcome,
    Reply, Tool, ToolContext, ToolError, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::args;
use crate::spec::{Words, object, spec};

/// How long a question waits that does not say.
const DEFAULT_TIMEOUT_MINUTES: u64 = 24 * 60;

/// How long any question may wait.
const MOST_TIMEOUT_MINUTES: u64 = 30 * 24 * 60;

const WORDS: Words<'static> = Words {
    name: "ask_user",
    description: "Asks the person a question and waits for the answer, across a restart if need \
        be. Use it when you cannot go on without something only they know or may decide; ask once, \
        with choices where there are some. Not for telling them something: say that in your \
        answer. Not for what you can find out yourself: the date, for one, is what current_time is for.",
    keywords: &[
        "ask", "question", "confirm", "choose", "clarify", "human", "提问", "询问", "确认", "选择",
    ],
};

/// Asks the person.
#[derive(Debug)]
pub struct AskUser {
    spec: ToolSpec,
}

impl Default for AskUser {
    fn default() -> Self {
        let input = object(
            &["question"],
            json!({
                "question": {
                    "type": "string", "minLength": 1, "maxLength": 4000,
                    "description": "What the person reads. Say what you need it for.",
                },
                "choices": {
                    "type": "array", "items": { "type": "string", "minLength": 1, "maxLength": 200 },
                    "minItems": 2, "maxItems": 20, "uniqueItems": true,
                    "description": "The answers to choose from. Without them the answer is free text.",
                },
                "schema": {
                    "type": "object",
                    "description": "A JSON Schema that the answer must fit, where text will not do. Not together with choices.",
                },
                "timeout_minutes": {
                    "type": "integer", "minimum": 1, "maximum": MOST_TIMEOUT_MINUTES,
                    "default": DEFAULT_TIMEOUT_MINUTES,
                    "description": "How long to wait.",
                },
                "on_timeout": {
                    "type": "string", "enum": ["cancel", "continue", "default"], "default": "cancel",
                    "description": "When nobody answers in time: cancel the call, continue without an answer, or take `default`.",
                },
                "default": {
                    "description": "The answer when nobody answers in time and on_timeout is `default`.",
                },
                "sensitive": {
                    "type": "boolean", "default": false,
                    "description": "Whether the answer should not be shown while it is typed.",
                },
            }),
        );
        let output = object(
            &["answered"],
            json!({
                "answered": { "type": "boolean" },
                "answer": { "description": "What was answered." },
                "answered_by": { "type": "string", "description": "Who answered, or `default`." },
                "at": { "type": "integer", "description": "When, in Unix milliseconds." },
                "reason": { "type": "string", "enum": ["timeout", "cancelled"] },
            }),
        );
        Self {
            spec: ToolSpec {
                effects: Effects::of(&[Effect::Message]),
                exposure: Exposure::Always,
                ..spec(&WORDS, input, output)
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
    schema: Option<Value>,
    #[serde(default = "default_timeout", deserialize_with = "args::whole")]
    timeout_minutes: u64,
    #[serde(default)]
    on_timeout: OnTimeout,
    default: Option<Value>,
    #[serde(default)]
    sensitive: bool,
}

fn default_timeout() -> u64 {
    DEFAULT_TIMEOUT_MINUTES
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OnTimeout {
    #[default]
    Cancel,
    Continue,
    Default,
}

/// What the tool wants to see again when it is resumed.
#[derive(Serialize, Deserialize)]
struct State {
    on_timeout: OnTimeout,
}

#[async_trait]
impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn only_asks(&self) -> bool {
        true
    }

    async fn call(&self, _: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        Ok(Reply::Wait(Box::new(ask(args)?)))
    }

    async fn resume(
        &self,
        _: &ToolContext,
        _: Value,
        state: Value,
        answer: Answer,
    ) -> Result<Reply, ToolError> {
        let state: State = args::parse(state)?;
        Ok(told(state.on_timeout, &answer).into())
    }
}

fn ask(args: Args) -> Result<Ask, ToolError> {
    let schema = match (args.schema, args.choices.is_empty()) {
        (Some(_), false) => {
            return Err(ToolError::invalid(
                "/schema",
                "give choices or a schema, not both",
            ));
        }
        (Some(schema), true) => schema,
        (None, false) => json!({ "enum": args.choices }),
        (None, true) => json!({ "type": "string" }),
    };
    let on_expiry = match (args.on_timeout, args.default) {
        (OnTimeout::Default, Some(answer)) => OnExpiry::Default { answer },
        (OnTimeout::Default, None) => {
            return Err(ToolError::invalid(
                "/default",
                "on_timeout is `default`, and there is none",
            ));
        }
        // The tool says itself how a question without an answer ended.
        (OnTimeout::Cancel | OnTimeout::Continue, _) => OnExpiry::Continue,
    };
    Ok(Ask {
        kind: InterruptKind::Question {
            question: args.question,
            choices: args.choices,
            sensitive: args.sensitive,
            questionnaire: None,
        },
        schema: Some(schema),
        expires_in: Duration::from_secs(args.timeout_minutes.min(MOST_TIMEOUT_MINUTES) * 60),
        on_expiry,
        state: json!({ "on_timeout": args.on_timeout }),
    })
}

/// What the model reads of an answer, or of none.
fn told(on_timeout: OnTimeout, answer: &Answer) -> Outcome {
    let answered = |by: &str| {
        Outcome::json(json!({
            "answered": true,
            "answer": answer.value,
            "answered_by": by,
            "at": answer.at.0,
        }))
    };
    let silence = |reason: &str| Outcome::json(json!({ "answered": false, "reason": reason }));
    match (&answer.by, on_timeout) {
        (AnswerKind::Subject { subject }, _) => answered(subject.as_str()),
        (AnswerKind::Expired, OnTimeout::Default) => answered("default"),
        (AnswerKind::Expired, OnTimeout::Continue) => silence("timeout"),
        (AnswerKind::Expired, OnTimeout::Cancel) => {
            silence("timeout").stopped(Code::Cancelled, "nobody answered in time")
        }
        (AnswerKind::Cancelled, _) => {
            silence("cancelled").stopped(Code::Cancelled, "the question was called off")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{InterruptId, UnixMs};
    use rstest::rstest;

    fn asked(args: Value) -> Result<Ask, ToolError> {
        ask(args::parse(args)?)
    }

    #[rstest]
    #[case(json!({"question": "why?"}), json!({"type": "string"}))]
    #[case(json!({"question": "which?", "choices": ["a", "b"]}), json!({"enum": ["a", "b"]}))]
    #[case(json!({"question": "how many?", "schema": {"type": "integer"}}), json!({"type": "integer"}))]
    fn an_answer_must_be_of_the_form_that_was_asked_for(
        #[case] args: Value,
        #[case] schema: Value,
    ) {
        assert_eq!(asked(args).unwrap().schema, Some(schema));
    }

    #[rstest]
    #[case(json!({"question": "?", "choices": ["a", "b"], "schema": {}}), "/schema")]
    #[case(json!({"question": "?", "on_timeout": "default"}), "/default")]
    fn a_question_that_contradicts_itself_is_refused(#[case] args: Value, #[case] path: &str) {
        let error = asked(args).unwrap_err();
        assert_eq!(error.info().path.as_deref(), Some(path));
    }

    #[rstest]
    #[case(AnswerKind::Subject { subject: "ann".into() }, OnTimeout::Cancel, json!({"answered": true, "answer": "x", "answered_by": "ann", "at": 7}), None)]
    #[case(AnswerKind::Expired, OnTimeout::Default, json!({"answered": true, "answer": "x", "answered_by": "default", "at": 7}), None)]
    #[case(AnswerKind::Expired, OnTimeout::Continue, json!({"answered": false, "reason": "timeout"}), None)]
    #[case(AnswerKind::Expired, OnTimeout::Cancel, json!({"answered": false, "reason": "timeout"}), Some(Code::Cancelled))]
    #[case(AnswerKind::Cancelled, OnTimeout::Continue, json!({"answered": false, "reason": "cancelled"}), Some(Code::Cancelled))]
    fn what_came_of_a_question_is_told(
        #[case] by: AnswerKind,
        #[case] on_timeout: OnTimeout,
        #[case] result: Value,
        #[case] code: Option<Code>,
    ) {
        let interrupt = InterruptId::new("int_1").unwrap();
        let answer = Answer {
            interrupt,
            by,
            value: json!("x"),
            at: UnixMs(7),
        };
        let outcome = told(on_timeout, &answer);
        assert_eq!(outcome.result, result);
        assert_eq!(outcome.failed.map(|error| error.code), code);
    }
}
