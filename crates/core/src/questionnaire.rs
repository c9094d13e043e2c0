//! Several questions that are put together and answered together.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The most characters of a text that answers a question.
pub const MAX_TEXT_ANSWER: usize = 10_000;

/// What a set of questions is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionnaireKind {
    /// Anything.
    #[default]
    General,
    /// What a plan needs to know.
    PlanInformation,
    /// Whether a plan is right.
    PlanConfirmation,
}

/// Questions that are answered together: the answer is an object with a member for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Questionnaire {
    /// What stands above them.
    pub title: String,
    /// What they are for.
    pub kind: QuestionnaireKind,
    /// In the order in which they are asked.
    pub questions: Vec<QuestionnaireItem>,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemType {
    /// With a text.
    Text,
    /// With one of the options.
    Single,
    /// With any of the options, as an array.
    Multi,
    /// With a number.
    Number,
    /// With true or false.
    Confirm,
}

/// One of the questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionnaireItem {
    /// The member of the answer.
    pub id: String,
    /// How it is answered.
    #[serde(rename = "type")]
    pub answer: ItemType,
    /// The question as a person reads it.
    pub label: String,
    /// What to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Whether it must be answered. One with a default need not be: that is then its answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// The answer of who gives none.
    #[serde(
        default,
        deserialize_with = "crate::any_value::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub default: Option<Value>,
}

impl Questionnaire {
    /// What an answer must look like, as a JSON Schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .questions
            .iter()
            .map(|item| (item.id.clone(), item.schema()))
            .collect();
        let required: Vec<&str> = self
            .questions
            .iter()
            .filter(|item| item.must_be_answered())
            .map(|item| item.id.as_str())
            .collect();
        json!({
            "type": "object",
            "title": self.title,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    /// What was answered, with the defaults where nothing was.
    #[must_use]
    pub fn completed(&self, answered: &Map<String, Value>) -> Map<String, Value> {
        self.questions
            .iter()
            .filter_map(|item| {
                let answer = answered.get(&item.id).or(item.default.as_ref())?;
                Some((item.id.clone(), answer.clone()))
            })
            .collect()
    }
}

impl QuestionnaireItem {
    /// Whether an answer without this one is none.
    #[must_use]
    pub fn must_be_answered(&self) -> bool {
        self.required && self.default.is_none()
    }

    /// What its answer must look like, as a JSON Schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        let least = u8::from(self.required);
        let mut schema = match self.answer {
            ItemType::Text => {
                json!({ "type": "string", "minLength": least, "maxLength": MAX_TEXT_ANSWER })
            }
            ItemType::Single => json!({ "type": "string", "enum": self.options }),
            ItemType::Multi => json!({
                "type": "array", "items": { "type": "string", "enum": self.options },
                "uniqueItems": true, "minItems": least,
            }),
            ItemType::Number => json!({ "type": "number" }),
            ItemType::Confirm => json!({ "type": "boolean" }),
        };
        schema["title"] = self.label.as_str().into();
        if let Some(default) = &self.default {
            schema["default"] = default.clone();
        }
        schema
    }

    /// Whether this answers it.
    #[must_use]
    pub fn takes(&self, answer: &Value) -> bool {
        let is_option = |value: &Value| {
            let text = value.as_str();
            text.is_some_and(|text| self.options.iter().any(|option| option == text))
        };
        match (self.answer, answer) {
            (ItemType::Text, Value::String(text)) => {
                (!self.required || !text.is_empty()) && text.chars().count() <= MAX_TEXT_ANSWER
            }
            (ItemType::Single, one) => is_option(one),
            (ItemType::Multi, Value::Array(some)) => {
                let differ = (1..)
                    .zip(some)
                    .all(|(next, one)| some.get(next..).is_none_or(|others| !others.contains(one)));
                differ && some.iter().all(is_option) && (!self.required || !some.is_empty())
            }
            (ItemType::Number, Value::Number(_)) | (ItemType::Confirm, Value::Bool(_)) => true,
            (ItemType::Text | ItemType::Multi | ItemType::Number | ItemType::Confirm, _) => false,
        }
    }
}
