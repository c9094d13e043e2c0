//! Several questions that are answered together.

use outfitter_core as core;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The questions, where there are several: the answer is an object with a member for each.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Form<'a> {
    /// What stands above them.
    title: &'a str,
    /// What they are for.
    kind: FormKind,
    /// In the order in which they are asked.
    questions: Vec<Item<'a>>,
}

/// What a set of questions is for.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FormKind {
    General,
    PlanInformation,
    PlanConfirmation,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ItemType {
    Text,
    Single,
    Multi,
    Number,
    Confirm,
}

/// One of the questions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Item<'a> {
    /// The member of the answer.
    id: &'a str,
    /// How it is answered: with a text, one of the options, an array of some, a number, or true or
    /// false.
    r#type: ItemType,
    /// The question as a person reads it.
    label: &'a str,
    /// What to choose from; left out where it is not chosen.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    options: &'a [String],
    /// Whether it must be answered. One with a default need not be.
    required: bool,
    /// The answer of who gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'a Value>,
}

impl<'a> From<&'a core::Questionnaire> for Form<'a> {
    fn from(form: &'a core::Questionnaire) -> Self {
        Self {
            title: &form.title,
            kind: match form.kind {
                core::QuestionnaireKind::General => FormKind::General,
                core::QuestionnaireKind::PlanInformation => FormKind::PlanInformation,
                core::QuestionnaireKind::PlanConfirmation => FormKind::PlanConfirmation,
            },
            questions: form.questions.iter().map(Item::from).collect(),
        }
    }
}

impl<'a> From<&'a core::QuestionnaireItem> for Item<'a> {
    fn from(item: &'a core::QuestionnaireItem) -> Self {
        Self {
            id: &item.id,
            r#type: match item.answer {
                core::ItemType::Text => ItemType::Text,
                core::ItemType::Single => ItemType::Single,
                core::ItemType::Multi => ItemType::Multi,
                core::ItemType::Number => ItemType::Number,
                core::ItemType::Confirm => ItemType::Confirm,
            },
            label: &item.label,
            options: &item.options,
            required: item.required,
            default: item.default.as_ref(),
        }
    }
}
