//! `questionnaire`: several questions put to the person at once, as one wait.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Answer, AnswerKind, Ask, Code, Effect, Effects, InterruptKind, ItemType, OnExpiry, Outcome,
    Questionnaire as Questions, QuestionnaireItem, QuestionnaireKind, Reply, Tool, ToolContext,
    ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args;
use crate::spec::{Words, object, spec};

/// How long the questions wait that do not say.
const DEFAULT_WAIT_SECONDS: u64 = 300;

/// How long any questions may wait.
const MOST_WAIT_SECONDS: u64 = 3600;

/// How many questions may be put at once, and how many options each may have.
const MOST_QUESTIONS: usize = 30;
const MOST_OPTIONS: usize = 50;

const WORDS: Words<'static> = Words {
    name: "questionnaire",
    description: "Puts several questions to the person as one form and waits for it. Use it when \
        you need some answers together: details for a plan, or a yes to one before you begin. \
        Questions that nobody answers in time count as unanswered, also where their defaults are \
        given back. Not for one question: that is what ask_user is for.",
    keywords: &[
        "form",
        "survey",
        "questions",
        "confirm",
        "plan",
        "问卷",
        "表单",
        "调查",
        "确认",
        "提问",
    ],
};

/// Puts several questions at once.
#[derive(Debug)]
pub struct Questionnaire {
    spec: ToolSpec,
}

impl Default for Questionnaire {
    fn default() -> Self {
        let item = object(
            &["id", "type", "label"],
            json!({
                "id": {
                    "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$",
                    "description": "What its answer is called in `answers`. No two are the same.",
                },
                "type": {
                    "type": "string", "enum": ["text", "single", "multi", "number", "confirm"],
                    "description": "A text, one of the options, any of the options, a number, or yes or no.",
                },
                "label": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "The question as the person reads it.",
                },
                "options": {
                    "type": "array", "items": { "type": "string", "minLength": 1, "maxLength": 200 },
                    "minItems": 1, "maxItems": MOST_OPTIONS, "uniqueItems": true,
                    "description": "What to choose from, for `single` and `multi`.",
                },
                "required": {
                    "type": "boolean", "default": false,
                    "description": "Whether it must be answered.",
                },
                "default": {
                    "description": "The answer of who gives none; it must be one that the question takes.",
                },
            }),
        );
        let input = object(
            &["title", "questions"],
            json!({
                "title": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "What stands above the questions. Say what you need them for.",
                },
                "questions": {
                    "type": "array", "items": item, "minItems": 1, "maxItems": MOST_QUESTIONS,
                    "description": "The questions, in the order in which they are asked.",
                },
                "kind": {
                    "type": "string", "enum": ["general", "plan_information", "plan_confirmation"],
                    "default": "general",
                    "description": "What the answers are for.",
                },
                "wait_seconds": {
                    "type": "integer", "minimum": 0, "maximum": MOST_WAIT_SECONDS,
                    "default": DEFAULT_WAIT_SECONDS,
                    "description": "How long to wait.",
                },
            }),
        );
        let output = object(
            &["status", "answers", "auto_submit"],
            json!({
                "status": { "type": "string", "enum": ["submitted", "timeout"] },
                "answers": {
                    "type": "object",
                    "description": "An answer for each question that has one, by its id.",
                },
                "auto_submit": {
                    "type": "boolean",
                    "description": "Whether nobody answered, and the answers are defaults.",
                },
            }),
        );
        Self {
            spec: ToolSpec {
                effects: Effects::of(&[Effect::Message]),
                ..spec(&WORDS, input, output)
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    title: String,
    questions: Vec<QuestionnaireItem>,
    #[serde(default)]
    kind: QuestionnaireKind,
    #[serde(default = "default_wait", deserialize_with = "args::whole")]
    wait_seconds: u64,
}

fn default_wait() -> u64 {
    DEFAULT_WAIT_SECONDS
}

#[async_trait]
impl Tool for Questionnaire {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn only_asks(&self) -> bool {
        true
    }

    async fn call(&self, _: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        ask(args)
    }

    async fn resume(
        &self,
        _: &ToolContext,
        args: Value,
        _: Value,
        answer: Answer,
    ) -> Result<Reply, ToolError> {
        let (questions, _) = questions(args)?;
        told(&questions, &answer).map(Into::into)
    }
}

fn ask(args: Value) -> Result<Reply, ToolError> {
    let (questions, wait) = questions(args)?;
    if wait.is_zero() {
        return Ok(unanswered(&questions).into());
    }
    Ok(Reply::Wait(Box::new(Ask {
        schema: Some(questions.schema()),
        kind: InterruptKind::Question {
            question: questions.title.clone(),
            choices: Vec::new(),
            sensitive: false,
            questionnaire: Some(Box::new(questions)),
        },
        expires_in: wait,
        // The tool says itself how questions without an answer ended.
        on_expiry: OnExpiry::Continue,
        state: Value::Null,
    })))
}

/// The questions, if they can be answered, and how long they wait.
fn questions(args: Value) -> Result<(Questions, Duration), ToolError> {
    let args: Args = args::parse(args)?;
    let mut ids = HashSet::new();
    for (at, item) in args.questions.iter().enumerate() {
        check(item).map_err(|(member, why)| {
            ToolError::invalid(format!("/questions/{at}/{member}"), why)
        })?;
        if !ids.insert(item.id.as_str()) {
            let why = format!("an earlier question is called {:?} too", item.id);
            return Err(ToolError::invalid(format!("/questions/{at}/id"), why));
        }
    }
    let questions = Questions {
        title: args.title,
        kind: args.kind,
        questions: args.questions,
    };
    let wait = Duration::from_secs(args.wait_seconds.min(MOST_WAIT_SECONDS));
    Ok((questions, wait))
}

/// What is wrong with a question, and where.
fn check(item: &QuestionnaireItem) -> Result<(), (&'static str, &'static str)> {
    let chooses = matches!(item.answer, ItemType::Single | ItemType::Multi);
    if chooses && item.options.is_empty() {
        return Err(("options", "there is nothing to choose from"));
    }
    if !chooses && !item.options.is_empty() {
        return Err(("options", "only single and multi have options"));
    }
    match &item.default {
        Some(default) if !item.takes(default) => {
            Err(("default", "it is no answer that the question takes"))
        }
        _ => Ok(()),
    }
}

/// What the model reads of the answers, or of none.
fn told(questions: &Questions, answer: &Answer) -> Result<Outcome, ToolError> {
    match (&answer.by, &answer.value) {
        (AnswerKind::Subject { .. }, Value::Object(answers)) => {
            let known = |id: &String| questions.questions.iter().any(|item| item.id == *id);
            let fits = |item: &QuestionnaireItem| match answers.get(&item.id) {
                Some(answer) => item.takes(answer),
                None => !item.must_be_answered(),
            };
            let misfit = questions.questions.iter().find(|item| !fits(item));
            if let Some(item) = misfit {
                let at = format!("/answers/{}", item.id);
                return Err(ToolError::invalid(&at, "it does not answer the question"));
            }
            if !answers.keys().all(known) {
                return Err(ToolError::invalid("/answers", "there is no such question"));
            }
            Ok(given("submitted", &questions.completed(answers)))
        }
        (AnswerKind::Subject { .. }, _) => {
            Err(ToolError::invalid("/answers", "the answers are an object"))
        }
        (AnswerKind::Expired, _) => Ok(unanswered(questions)),
        (AnswerKind::Cancelled, _) => {
            Ok(Outcome::default().stopped(Code::Cancelled, "the questions were called off"))
        }
    }
}

/// Nobody answered. What would have been taken is shown, and is no answer.
fn unanswered(questions: &Questions) -> Outcome {
    given("timeout", &questions.completed(&Map::new()))
        .stopped(Code::Timeout, "nobody answered in time")
}

fn given(status: &str, answers: &Map<String, Value>) -> Outcome {
    Outcome::json(json!({
        "status": status,
        "answers": answers,
        "auto_submit": status == "timeout",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{InterruptId, UnixMs};
    use proptest::prelude::*;
    use rstest::rstest;

    fn form() -> Value {
        json!({
            "title": "A trip",
            "kind": "plan_information",
            "questions": [
                {"id": "where", "type": "text", "label": "Where to?", "required": true},
                {"id": "how", "type": "single", "label": "How?", "options": ["rail", "road"], "default": "rail"},
                {"id": "with", "type": "multi", "label": "With whom?", "options": ["ann", "bob"]},
                {"id": "days", "type": "number", "label": "How long?", "required": true, "default": 3},
                {"id": "sure", "type": "confirm", "label": "Sure?"},
            ],
        })
    }

    fn answered(by: AnswerKind, value: Value) -> Result<Outcome, ToolError> {
        let interrupt = InterruptId::new("int_1").unwrap();
        let at = UnixMs(7);
        let answer = Answer {
            interrupt,
            by,
            value,
            at,
        };
        told(&questions(form()).unwrap().0, &answer)
    }

    fn ann() -> AnswerKind {
        AnswerKind::Subject {
            subject: "ann".into(),
        }
    }

    #[test]
    fn questions_are_one_wait_whose_schema_has_a_member_for_each() {
        let Reply::Wait(ask) = ask(form()).unwrap() else {
            panic!("it does not wait");
        };
        insta::assert_json_snapshot!(ask.schema);
        assert_eq!(ask.expires_in, Duration::from_secs(300));
        let InterruptKind::Question {
            question,
            questionnaire: Some(asked),
            ..
        } = ask.kind
        else {
            panic!("it asks nothing");
        };
        assert_eq!(question, "A trip");
        assert_eq!(asked.kind, QuestionnaireKind::PlanInformation);
        assert_eq!(asked.questions.len(), 5);
    }

    #[rstest]
    #[case(json!({"where": "sea"}), json!({"where": "sea", "how": "rail", "days": 3}))]
    #[case(
        json!({"where": "sea", "how": "road", "with": ["bob"], "days": 1.5, "sure": false}),
        json!({"where": "sea", "how": "road", "with": ["bob"], "days": 1.5, "sure": false})
    )]
    fn answers_are_submitted_and_defaults_fill_the_rest(#[case] given: Value, #[case] all: Value) {
        let outcome = answered(ann(), given).unwrap();
        assert_eq!(outcome.failed, None);
        assert_eq!(
            outcome.result,
            json!({"status": "submitted", "answers": all, "auto_submit": false})
        );
    }

    #[rstest]
    #[case(json!({}), "/answers/where")]
    #[case(json!({"where": ""}), "/answers/where")]
    #[case(json!({"where": "x", "how": "air"}), "/answers/how")]
    #[case(json!({"where": "x", "with": ["ann", "ann"]}), "/answers/with")]
    #[case(json!({"where": "x", "with": "ann"}), "/answers/with")]
    #[case(json!({"where": "x", "days": "3"}), "/answers/days")]
    #[case(json!({"where": "x", "sure": "yes"}), "/answers/sure")]
    #[case(json!({"where": "x", "who": "me"}), "/answers")]
    #[case(json!("x"), "/answers")]
    fn an_answer_that_does_not_fit_its_question_is_none(#[case] given: Value, #[case] at: &str) {
        let schema = questions(form()).unwrap().0.schema();
        assert!(!jsonschema::is_valid(&schema, &given), "nor by the schema");
        let error = answered(ann(), given).unwrap_err();
        assert_eq!(error.info().path.as_deref(), Some(at));
    }

    #[test]
    fn a_timeout_is_no_success_whatever_the_defaults() {
        let outcome = answered(AnswerKind::Expired, Value::Null).unwrap();
        assert_eq!(
            outcome.result,
            json!({"status": "timeout", "answers": {"how": "rail", "days": 3}, "auto_submit": true})
        );
        assert_eq!(outcome.failed.unwrap().code, Code::Timeout);
        let mut hasty = form();
        hasty["wait_seconds"] = 0.into();
        let Reply::Done(outcome) = ask(hasty).unwrap() else {
            panic!("it waits");
        };
        assert_eq!(outcome.failed.unwrap().code, Code::Timeout);
        let off = answered(AnswerKind::Cancelled, Value::Null).unwrap();
        assert_eq!(off.failed.unwrap().code, Code::Cancelled);
    }

    #[rstest]
    #[case(json!({"id": "a", "type": "single", "label": "?"}), "/questions/1/options")]
    #[case(json!({"id": "a", "type": "text", "label": "?", "options": ["x"]}), "/questions/1/options")]
    #[case(json!({"id": "a", "type": "number", "label": "?", "default": "3"}), "/questions/1/default")]
    #[case(json!({"id": "a", "type": "multi", "label": "?", "options": ["x"], "default": ["y"]}), "/questions/1/default")]
    #[case(json!({"id": "a", "type": "confirm", "label": "?", "default": "yes"}), "/questions/1/default")]
    #[case(json!({"id": "first", "type": "text", "label": "?"}), "/questions/1/id")]
    fn questions_that_cannot_be_answered_are_refused(#[case] item: Value, #[case] at: &str) {
        let first = json!({"id": "first", "type": "text", "label": "?"});
        let error = ask(json!({"title": "t", "questions": [first, item]})).unwrap_err();
        assert_eq!(error.info().path.as_deref(), Some(at));
    }

    proptest! {
        #[test]
        fn what_a_question_takes_is_what_its_schema_takes(
            answer in prop_oneof![
                Just(ItemType::Text), Just(ItemType::Single), Just(ItemType::Multi),
                Just(ItemType::Number), Just(ItemType::Confirm),
            ],
            required: bool,
            value in prop_oneof![
                "[ab]?".prop_map(Value::from), any::<bool>().prop_map(Value::from),
                (0..3).prop_map(Value::from), Just(Value::Null),
                proptest::collection::vec("[abc]", 0..3).prop_map(Value::from),
            ],
        ) {
            let item = QuestionnaireItem {
                id: "q".to_owned(), answer, label: "?".to_owned(), required, default: None,
                options: vec!["a".to_owned(), "b".to_owned()],
            };
            prop_assert_eq!(item.takes(&value), jsonschema::is_valid(&item.schema(), &value));
        }
    }
}
