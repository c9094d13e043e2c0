//! Several questions at the terminal, one after another.

use outfitter_core::{ItemType, Questionnaire, QuestionnaireItem};
use serde_json::{Map, Value};

use crate::render::text::one_line;

/// What a line answers.
#[derive(Debug, PartialEq)]
pub(super) enum Given {
    /// This.
    Answer(Value),
    /// Nothing, which is an answer, too.
    Skipped,
    /// Nothing, where something must be answered: the questions stay open.
    Open,
}

/// Asks all of them. `ask` shows a text and reads a line; none at the end of the input. None when
/// they stay open.
pub(super) async fn asked(
    form: &Questionnaire,
    mut ask: impl AsyncFnMut(&str) -> Option<String>,
) -> Option<Value> {
    let mut answers = Map::new();
    for (number, item) in (1..).zip(&form.questions) {
        let place = format!("{number}/{}", form.questions.len());
        let mut text = prompt(item, &place);
        loop {
            match read(&ask(&text).await?, item) {
                Ok(Given::Answer(answer)) => {
                    answers.insert(item.id.clone(), answer);
                    break;
                }
                Ok(Given::Skipped) => break,
                Ok(Given::Open) => return None,
                Err(why) => text = format!("{why} > "),
            }
        }
    }
    Some(Value::Object(answers))
}

fn prompt(item: &QuestionnaireItem, place: &str) -> String {
    let options: String = (1..)
        .zip(&item.options)
        .map(|(number, option)| format!("  {number}  {}\n", one_line(option)))
        .collect();
    let how = match item.answer {
        ItemType::Text => "a text",
        ItemType::Single => "one of them",
        ItemType::Multi => "any of them, with commas between",
        ItemType::Number => "a number",
        ItemType::Confirm => "y or n",
    };
    let empty = match &item.default {
        Some(default) => format!("an empty line means {}", one_line(&default.to_string())),
        None if item.required => "an empty line leaves all of it open".to_owned(),
        None => "an empty line skips it".to_owned(),
    };
    format!(
        "{place} {}\n{options}{how}; {empty} > ",
        one_line(&item.label)
    )
}

fn read(line: &str, item: &QuestionnaireItem) -> Result<Given, &'static str> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(if item.must_be_answered() {
            Given::Open
        } else {
            Given::Skipped
        });
    }
    let answer = match item.answer {
        ItemType::Text => Value::from(line),
        ItemType::Single => option(line, item),
        ItemType::Multi => line
            .split([',', '，'])
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(|word| option(word, item))
            .collect(),
        ItemType::Number => match serde_json::from_str(line) {
            Ok(number @ Value::Number(_)) => number,
            _ => return Err("write a number"),
        },
        ItemType::Confirm => match &*line.to_lowercase() {
            "y" | "yes" => Value::Bool(true),
            "n" | "no" => Value::Bool(false),
            _ => return Err("write y or n"),
        },
    };
    if item.takes(&answer) {
        Ok(Given::Answer(answer))
    } else {
        Err("that is not one of the answers it can have")
    }
}

/// An option by its number, or as it is written.
fn option(word: &str, item: &QuestionnaireItem) -> Value {
    let at = word.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
    let chosen = at.and_then(|at| item.options.get(at));
    Value::from(chosen.map_or(word, String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn form() -> Questionnaire {
        serde_json::from_value(json!({
            "title": "A trip", "kind": "general",
            "questions": [
                {"id": "where", "type": "text", "label": "Where to?", "required": true},
                {"id": "how", "type": "single", "label": "How?", "options": ["rail", "road"], "default": "rail"},
                {"id": "with", "type": "multi", "label": "With whom?", "options": ["ann", "bob"]},
                {"id": "days", "type": "number", "label": "How long?"},
                {"id": "sure", "type": "confirm", "label": "Sure?"},
            ],
        }))
        .unwrap()
    }

    async fn typed(lines: &[&str]) -> (Option<Value>, String) {
        let (mut lines, mut shown) = (lines.iter(), String::new());
        let answers = asked(&form(), async |text: &str| {
            shown.push_str(text);
            shown.push('\n');
            lines.next().map(|line| (*line).to_owned())
        })
        .await;
        (answers, shown)
    }

    #[tokio::test]
    async fn one_question_comes_after_another() {
        let (answers, shown) = typed(&["the sea", "2", "1, bob", "2.5", "y"]).await;
        assert_eq!(
            answers,
            Some(json!({
                "where": "the sea", "how": "road", "with": ["ann", "bob"], "days": 2.5,
                "sure": true,
            }))
        );
        insta::assert_snapshot!(shown);
    }

    #[rstest]
    #[case(&["sea", "", "", "", ""], Some(json!({"where": "sea"})))]
    #[case(&["sea", "air", "1", "", "long", "3", "maybe", "n"], Some(json!({"where": "sea", "how": "rail", "days": 3, "sure": false})))]
    #[case(&[""], None)]
    #[case(&["sea", "1"], None)]
    #[tokio::test]
    async fn what_does_not_fit_is_asked_again_and_what_must_be_answered_stays_open(
        #[case] lines: &[&str],
        #[case] answers: Option<Value>,
    ) {
        assert_eq!(typed(lines).await.0, answers);
    }
}
