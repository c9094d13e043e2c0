//! Calls that fail again and again in the same way. A model that repeats one to the letter has not
//! read why it failed, and will not the next time.

use std::collections::HashMap;

use outfitter_core::{Arguments, Code, Hash, REDACTED, ToolCall, ToolOutput, canonical};

/// The calls of a turn that fail, each with how often it has in the same way. Folded from the log,
/// so that it is the same after a restart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failures(HashMap<Hash, Failing>);

/// A call that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failing {
    /// The name it is called by.
    pub(crate) tool: String,
    /// Why, the last time.
    pub(crate) message: String,
    /// In how many replies of the model.
    pub(crate) times: u32,
    code: Code,
    /// The reply it was last made in. Calls of one reply do not know of each other's ends.
    reply: usize,
}

impl Failures {
    /// Takes in how a call of the `reply`th message ended. One that does not fail any more, or
    /// fails otherwise, begins anew.
    pub(crate) fn take(&mut self, call: &ToolCall, output: &ToolOutput, reply: usize) {
        let Some(error) = &output.error else {
            if !self.0.is_empty() {
                self.0.remove(&key(call, output));
            }
            return;
        };
        if !counts(error.code) {
            return;
        }
        let first = Failing {
            tool: call.name.clone(),
            message: error.message.clone(),
            times: 1,
            code: error.code,
            reply,
        };
        let failing = self
            .0
            .entry(key(call, output))
            .or_insert_with(|| first.clone());
        if failing.code != error.code {
            *failing = first;
        } else if failing.reply != reply {
            failing.times += 1;
            failing.reply = reply;
        }
    }

    /// A call that has failed as often as one may.
    pub(crate) fn at(&self, limit: u32) -> Option<&Failing> {
        self.0.values().find(|failing| failing.times >= limit)
    }
}

/// Whether the call itself is why it ended so.
fn counts(code: Code) -> bool {
    !matches!(code, Code::Cancelled | Code::Interrupted)
}

/// Tool and arguments, whatever the tool was called by and however the arguments were written: what
/// was recorded of the call has the tool's own name, and arguments as they were read. Where secrets
/// were taken out of these, other secrets are other arguments, so what was written counts.
fn key(call: &ToolCall, output: &ToolOutput) -> Hash {
    let tool = match &output.resolved {
        Some(tool) => tool.as_str(),
        None => &output.tool_name,
    };
    let arguments = Arguments::parse(call.arguments.clone());
    let arguments = match &arguments.parsed {
        Ok(written) => {
            let read = canonical(&output.tool_call_args);
            match read.contains(REDACTED) {
                true => canonical(written),
                false => read,
            }
        }
        Err(_) => call.arguments.to_string(),
    };
    Hash::of(canonical(&serde_json::json!([tool, arguments])).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{CallId, ErrorInfo, ToolName};
    use serde_json::json;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: CallId::new("c").unwrap(),
            name: name.to_owned(),
            arguments: arguments.into(),
        }
    }

    /// The end of a call that was read as these arguments.
    fn end_of(arguments: &str, code: Option<Code>) -> ToolOutput {
        let error = ErrorInfo::new(code.unwrap_or(Code::Failed), "no");
        let read = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
        let mut output = ToolOutput::failed("t", CallId::new("c").unwrap(), read, error);
        output.error = output.error.filter(|_| code.is_some());
        output
    }

    fn times(calls: &[(&str, Option<Code>, usize)]) -> u32 {
        let mut failures = Failures::default();
        for (arguments, code, reply) in calls {
            failures.take(&call("t", arguments), &end_of(arguments, *code), *reply);
        }
        let most = failures.0.values().map(|failing| failing.times).max();
        most.unwrap_or_default()
    }

    #[test]
    fn the_same_call_in_other_words_is_the_same_and_others_between_do_not_matter() {
        let failed = Some(Code::Failed);
        let calls = [
            (r#"{"a":1,"b":2}"#, failed, 1),
            (r#"{"b":2}"#, failed, 2),
            (r#" {"b": 2, "a": 1}"#, failed, 3),
            (r#"{"b":2}"#, None, 4),
        ];
        assert_eq!(times(&calls), 2);
    }

    #[test]
    fn another_end_begins_anew() {
        let (failed, denied) = (Some(Code::Failed), Some(Code::Denied));
        assert_eq!(
            times(&[("{}", failed, 1), ("{}", failed, 2), ("{}", None, 3)]),
            0
        );
        assert_eq!(
            times(&[("{}", failed, 1), ("{}", denied, 2), ("{}", denied, 3)]),
            2
        );
    }

    #[test]
    fn calls_of_one_reply_count_once_and_what_others_stopped_not_at_all() {
        let failed = Some(Code::Failed);
        assert_eq!(
            times(&[("{}", failed, 1), ("{}", failed, 1), ("{}", failed, 1)]),
            1
        );
        assert_eq!(
            times(&[
                ("{}", Some(Code::Cancelled), 1),
                ("{}", Some(Code::Interrupted), 2)
            ]),
            0
        );
    }

    #[test]
    fn a_number_in_quotes_was_another_call_than_the_number() {
        let mut failures = Failures::default();
        let calls = [r#"{"line":1}"#, r#"{"line":"1"}"#, r#"{"line":1}"#];
        for (reply, arguments) in calls.into_iter().enumerate() {
            let read = end_of(r#"{"line":1}"#, Some(Code::Failed));
            failures.take(&call("t", arguments), &read, reply);
        }
        assert!(failures.at(3).is_some(), "{failures:?}");
    }

    #[test]
    fn a_call_by_an_alias_was_another_than_the_same_by_the_tools_own_name() {
        let mut failures = Failures::default();
        for (reply, name) in ["file_read", "read", "file_read"].into_iter().enumerate() {
            let mut end = end_of(r#"{"path":"a"}"#, Some(Code::NotFound));
            end.tool_name = name.to_owned();
            end.resolved = (name == "read").then(|| ToolName::new("file_read").unwrap());
            failures.take(&call(name, r#"{"path":"a"}"#), &end, reply);
        }
        assert!(failures.at(3).is_some(), "{failures:?}");
        // What it does by one name ends what it did by the other.
        let mut end = end_of(r#"{"path":"a"}"#, None);
        end.tool_name = "read".to_owned();
        end.resolved = Some(ToolName::new("file_read").unwrap());
        failures.take(&call("read", r#"{"path":"a"}"#), &end, 3);
        assert!(failures.at(1).is_none(), "{failures:?}");
    }

    #[test]
    fn calls_with_other_secrets_were_the_same_call() {
        let failed = Some(Code::Failed);
        let shown = r#"{"url":"https://a.example/?key=[redacted]"}"#;
        let mut failures = Failures::default();
        for (reply, key) in ["one", "two", "one"].into_iter().enumerate() {
            let written = format!(r#"{{"url":"https://a.example/?key={key}"}}"#);
            failures.take(&call("t", &written), &end_of(shown, failed), reply);
        }
        assert!(failures.at(2).is_some() && failures.at(3).is_none());
    }

    #[test]
    fn cut_off_arguments_are_the_same_to_the_letter() {
        let bad = Some(Code::InvalidArguments);
        assert_eq!(times(&[("{\"a", bad, 1), ("{\"a", bad, 2)]), 2);
        assert_eq!(times(&[("{\"a", bad, 1), ("{\"b", bad, 2)]), 1);
    }
}
