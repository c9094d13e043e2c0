//! What a person may want to do next: asked of the model once a turn has its answer.
//!
//! They are a model's words, for a person to see and to choose from. Nothing here or behind it ever
//! does one of them by itself. Whatever goes wrong, the run is the success that it was.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{
    EntryBody, MessageRole, ModelError, RunOutcome, SuggestedAction, WarningCode,
};
use outfitter_text::is_invisible;
use outfitter_tools::Redactor;
use serde_json::Value;

use crate::aside;
use crate::choose::usage;
use crate::meter::{Meter, Metered};
use crate::run::Run;
use crate::start::warning;
use crate::texts;
use crate::turn_log::TurnLog;

/// How many actions there are at most.
pub const MAX_SUGGESTED_ACTIONS: usize = 5;

/// How many characters a label has at most. A longer one is cut.
pub const MAX_LABEL_CHARS: usize = 80;

/// How many characters a prompt has at most. An action with a longer one is left out: cut, it would
/// mean something else.
pub const MAX_PROMPT_CHARS: usize = 2_000;

/// The same for a command.
pub const MAX_COMMAND_CHARS: usize = 500;

/// How much of the words of the person and of the answer is told to who suggests.
const MAX_TEXT_BYTES: usize = 8_000;

/// What is suggested, and what is recorded of how it came about.
#[derive(Default)]
pub(crate) struct Actions {
    pub(crate) suggested: Vec<SuggestedAction>,
    pub(crate) entries: Vec<EntryBody>,
}

impl Run<'_> {
    /// What might be done next, where that is wanted and the turn has an answer.
    pub(crate) async fn suggest_actions(&self, outcome: RunOutcome, answer: &str) -> Actions {
        let settings = &self.parts.settings;
        let wanted = settings.suggested_actions
            && outcome == RunOutcome::Success
            && !answer.trim().is_empty()
            && !self.cancel.is_cancelled();
        if !wanted {
            return Actions::default();
        }
        let limit = settings.limits.max_total_tokens;
        let (words, tokens) = self
            .writer
            .folded(|log| (last_words(log), tokens(log)))
            .await;
        if limit.is_some_and(|limit| tokens >= limit) {
            return Actions::default();
        }
        let meter = Arc::new(Meter::default());
        let model = Metered {
            model: self.parts.model.clone(),
            meter: meter.clone(),
        };
        let (words, answer) = (bounded(&words), bounded(answer));
        let question = texts::which_actions(words, answer);
        let clock = &*self.parts.clock;
        let said = aside::ask(
            &model,
            clock,
            &self.cancel,
            texts::ASK_FOR_ACTIONS,
            question,
        )
        .await;
        let read = said.and_then(|said| {
            aside::array_in(&said).ok_or_else(|| ModelError::Protocol {
                message: "the reply has no list of actions".to_owned(),
            })
        });
        let mut entries: Vec<EntryBody> = usage(&meter).collect();
        let suggested = match read {
            Ok(list) => read_actions(&list, &self.parts.pipeline.redactor()),
            Err(ModelError::Cancelled) => Vec::new(),
            Err(error) => {
                let why = error.to_info().message;
                let message = format!("the model suggested no actions, so there are none: {why}");
                entries.push(warning(WarningCode::Fallback, message));
                Vec::new()
            }
        };
        Actions { suggested, entries }
    }
}

fn tokens(log: &TurnLog) -> u64 {
    log.turn.as_ref().map_or(0, |turn| turn.tokens)
}

fn last_words(log: &TurnLog) -> String {
    let said = log.history.iter().rev().map(|exchange| &exchange.message);
    said.into_iter()
        .find(|message| message.role == MessageRole::User)
        .map(|message| message.content())
        .unwrap_or_default()
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

/// The actions of a list, as far as they are any.
fn read_actions(list: &[Value], redactor: &Redactor) -> Vec<SuggestedAction> {
    let mut seen = BTreeSet::new();
    list.iter()
        .filter_map(|one| action(one, redactor))
        .filter(|action| seen.insert((action.prompt.clone(), action.command.clone())))
        .take(MAX_SUGGESTED_ACTIONS)
        .collect()
}

/// An action with a label and just one of the two that it may do.
fn action(value: &Value, redactor: &Redactor) -> Option<SuggestedAction> {
    let text = |key: &str| {
        let text = value.get(key)?.as_str()?.trim();
        (!text.is_empty()).then(|| redactor.text(text).into_owned())
    };
    let label = one_line(&text("label")?);
    let (prompt, command) = (text("prompt"), text("command"));
    let fits = match (&prompt, &command) {
        (Some(prompt), None) => prompt.chars().count() <= MAX_PROMPT_CHARS,
        // One that has more to it than can be seen is none.
        (None, Some(command)) => {
            command.chars().count() <= MAX_COMMAND_CHARS && !command.chars().any(is_unseen)
        }
        (Some(_), Some(_)) | (None, None) => false,
    };
    fits.then_some(SuggestedAction {
        label,
        prompt,
        command,
    })
}

/// A label on one line, cut where it is long.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|c| !is_unseen(*c)).collect();
    if line.chars().count() <= MAX_LABEL_CHARS {
        return line;
    }
    let mut cut: String = line.chars().take(MAX_LABEL_CHARS - 1).collect();
    cut.push('…');
    cut
}

/// Controls, breaks of lines and paragraphs, and whatever shows nothing or another order.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || is_invisible(character)
        || matches!(character, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn read(list: &Value) -> Vec<SuggestedAction> {
        read_actions(list.as_array().unwrap(), &Redactor::default())
    }

    #[rstest]
    #[case::no_label(json!([{"prompt": "p"}]))]
    #[case::empty_label(json!([{"label": " ", "prompt": "p"}]))]
    #[case::nothing_to_do(json!([{"label": "l"}]))]
    #[case::both(json!([{"label": "l", "prompt": "p", "command": "c"}]))]
    #[case::empty(json!([{"label": "l", "prompt": "  "}]))]
    #[case::no_object(json!(["l", 1, null, ["label"]]))]
    #[case::another_type(json!([{"label": "l", "prompt": 1}]))]
    #[case::two_lines(json!([{"label": "l", "command": "ls\nrm -rf ."}]))]
    #[case::hidden(json!([{"label": "l", "command": "ls \u{202e}x"}]))]
    #[case::long(json!([{"label": "l", "command": "x".repeat(MAX_COMMAND_CHARS + 1)}]))]
    #[case::long_prompt(json!([{"label": "l", "prompt": "汉".repeat(MAX_PROMPT_CHARS + 1)}]))]
    fn what_is_no_action_is_left_out(#[case] list: Value) {
        assert_eq!(read(&list), []);
    }

    #[rstest]
    fn a_command_with_anything_unseen_in_it_is_left_out(
        #[values(
            '\u{ad}',
            '\u{34f}',
            '\u{200b}',
            '\u{2028}',
            '\u{2029}',
            '\u{2066}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{e0080}',
            '\u{e0fff}'
        )]
        unseen: char,
    ) {
        let command = format!("ls{unseen}x");
        assert_eq!(read(&json!([{"label": "l", "command": command}])), []);
        let label = format!("l{unseen}l");
        let shown = read(&json!([{"label": label, "prompt": "p"}]));
        assert!(!shown[0].label.contains(unseen), "{shown:?}");
    }

    #[test]
    fn at_most_five_that_differ_are_kept_in_order_and_bounded() {
        let mut all = vec![
            json!({"label": "  two\n lines ", "prompt": " one\ntwo "}),
            json!({"label": "again", "prompt": "one\ntwo"}),
            json!({"label": "汉".repeat(100), "command": "cargo test", "more": 1}),
        ];
        all.extend((0..9).map(|n| json!({"label": "l", "prompt": n.to_string()})));
        let read = read(&Value::from(all));
        assert_eq!(read.len(), MAX_SUGGESTED_ACTIONS);
        assert_eq!(read[0].label, "two lines");
        assert_eq!(read[0].prompt.as_deref(), Some("one\ntwo"));
        assert_eq!(read[1].label.chars().count(), MAX_LABEL_CHARS);
        assert!(read[1].label.ends_with('…'));
        assert_eq!(read[1].command.as_deref(), Some("cargo test"));
        assert_eq!(read[2].prompt.as_deref(), Some("0"));
    }

    #[test]
    fn what_is_secret_is_taken_out() {
        let redactor = Redactor::new(["hunter22".to_owned().into()]);
        let list = [json!({"label": "use hunter22", "command": "login hunter22"})];
        let read = read_actions(&list, &redactor);
        assert_eq!(read[0].label, "use [redacted]");
        assert_eq!(read[0].command.as_deref(), Some("login [redacted]"));
    }
}
