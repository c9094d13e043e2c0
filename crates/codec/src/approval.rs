//! What an answer to an approval can say.

use outfitter_core::{ApprovalScope, Interrupt, InterruptKind};
use serde_json::Value;

/// For how long a yes to what waits can hold: `once`, and what else its schema has.
pub(crate) fn scopes(interrupt: &Interrupt) -> impl Iterator<Item = ApprovalScope> {
    let forms = interrupt
        .schema
        .as_ref()
        .and_then(|schema| schema.get("anyOf"))
        .and_then(Value::as_array);
    let longer = forms
        .into_iter()
        .flatten()
        .filter_map(|form| form.pointer("/const/scope").and_then(Value::as_str))
        .filter_map(ApprovalScope::of);
    std::iter::once(ApprovalScope::Once).chain(longer)
}

/// The answers that what waits can have, as the command line takes them, with `|` between; `VALUE`
/// where they are not counted. None where nobody answers.
#[must_use]
pub fn answer_words(interrupt: &Interrupt) -> Option<String> {
    /// Longer than this, nobody reads them in a hint.
    const MOST_BYTES: usize = 120;
    match &interrupt.kind {
        InterruptKind::Approval { .. } => {
            let longer = scopes(interrupt).filter(|scope| *scope != ApprovalScope::Once);
            let longer = longer.map(ApprovalScope::as_str);
            let words: Vec<&str> = ["true", "false"].into_iter().chain(longer).collect();
            Some(words.join("|"))
        }
        InterruptKind::Question { choices, .. } => {
            let words: Option<Vec<String>> = choices.iter().map(|one| as_a_word(one)).collect();
            let words = words.map(|words| words.join("|"));
            let fits = |words: &String| !words.is_empty() && words.len() <= MOST_BYTES;
            Some(words.filter(fits).unwrap_or_else(|| "VALUE".to_owned()))
        }
        InterruptKind::Delay | InterruptKind::Remote { .. } => None,
    }
}

/// A text as one word of a shell; none where that is hard to read.
fn as_a_word(text: &str) -> Option<String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return Some(text.to_owned());
    }
    let quoted = |c: char| !c.is_control() && c != '\'';
    text.chars().all(quoted).then(|| format!("'{text}'"))
}

#[cfg(test)]
mod tests {
    use outfitter_core::{Audience, CallId, Hash, InterruptId, OnExpiry, Role, UnixMs};
    use serde_json::json;

    use super::*;

    fn with(kind: InterruptKind, schema: Option<Value>) -> Interrupt {
        Interrupt {
            id: InterruptId::new("int_1").unwrap(),
            call: CallId::new("c").unwrap(),
            kind,
            schema,
            audience: Audience {
                tenant: "t".into(),
                subject: "s".into(),
                min_role: Role::Guest,
            },
            expires: UnixMs(1),
            on_expiry: OnExpiry::Deny,
            args_hash: Hash::of(b""),
            state: Value::Null,
        }
    }

    /// The hint had `true|false` where a yes for the session could be given too.
    #[test]
    fn an_answer_that_could_be_given_was_not_in_the_hint() {
        let approval = |schema| {
            let reason = String::new();
            answer_words(&with(InterruptKind::Approval { reason }, schema))
        };
        let one = |scope: &str| json!({ "const": { "approved": true, "scope": scope } });
        let of = |forms: &[&str]| {
            let forms = forms.iter().map(|scope| one(scope));
            let all: Vec<Value> = forms.chain([json!({ "type": "boolean" })]).collect();
            approval(Some(json!({ "anyOf": all })))
        };
        assert_eq!(approval(None).as_deref(), Some("true|false"));
        assert_eq!(of(&["session"]).as_deref(), Some("true|false|session"));
        let all = Some("true|false|session|always");
        assert_eq!(of(&["session", "always"]).as_deref(), all);
        let question = |choices: &[&str]| {
            let question = InterruptKind::Question {
                question: "which?".to_owned(),
                choices: choices.iter().map(|one| (*one).to_owned()).collect(),
                sensitive: false,
                questionnaire: None,
            };
            answer_words(&with(question, None))
        };
        assert_eq!(question(&[]).as_deref(), Some("VALUE"));
        let words = Some("red|'the blue one'");
        assert_eq!(question(&["red", "the blue one"]).as_deref(), words);
        assert_eq!(question(&["it's", "red"]).as_deref(), Some("VALUE"));
        assert_eq!(question(&[&"x".repeat(121)]).as_deref(), Some("VALUE"));
        assert_eq!(answer_words(&with(InterruptKind::Delay, None)), None);
    }

    #[test]
    fn the_scopes_are_those_that_an_answer_can_have() {
        let with = |schema: Option<Value>| {
            let reason = String::new();
            with(InterruptKind::Approval { reason }, schema)
        };
        let one = |scope: &str| json!({ "const": { "approved": true, "scope": scope } });
        let forms = json!({ "anyOf": [{ "type": "boolean" }, one("session"), one("always")] });
        let once = [ApprovalScope::Once];
        let of = |schema| scopes(&with(schema)).collect::<Vec<_>>();
        assert_eq!(of(None), once);
        assert_eq!(of(Some(json!({ "type": "boolean" }))), once);
        assert_eq!(of(Some(forms)), ApprovalScope::ALL);
    }
}
