//! What came of a call, in a few words.

use outfitter_core::{Status, ToolOutput, canonical};
use serde_json::Value;

use super::Ink;
use super::text::one_line;
use super::units;

/// How a call ended, for people.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) mark: &'static str,
    pub(super) ink: Ink,
    pub(super) words: String,
}

/// Whether a reader sees the result itself, so that nothing of it has to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Yes,
    No,
}

/// Tells how a call ended.
pub(super) fn told(output: &ToolOutput, seen: Seen) -> Told {
    let result = output.result.as_ref();
    let exit = result.and_then(|result| number(result, "exit_code"));
    let (mark, ink) = match output.status {
        Status::Success if exit.is_some_and(|exit| exit != 0) => ("✗", Ink::Caution),
        Status::Success => ("✓", Ink::Good),
        Status::Partial => ("◐", Ink::Caution),
        Status::Running => ("…", Ink::Active),
        Status::Cancelled | Status::Interrupted => ("■", Ink::Caution),
        Status::Error | Status::Denied | Status::Timeout => ("✗", Ink::Bad),
    };

    let mut words = Vec::new();
    if let Some(error) = &output.error {
        let word = match output.status {
            Status::Denied | Status::Timeout | Status::Cancelled | Status::Interrupted => {
                output.status.as_str()
            }
            Status::Success | Status::Partial | Status::Running | Status::Error => {
                error.code.as_str()
            }
        };
        words.push(format!("{}: {}", word.replace('_', " "), error.message));
    }
    if let Some(result) = result
        && seen == Seen::No
    {
        words.extend(of_result(result));
    }
    if let Some(truncated) = &output.truncated {
        words.push(format!(
            "{} are in {}",
            units::bytes(truncated.total_bytes),
            truncated.artifact
        ));
    }
    if words.is_empty() {
        words.push("done".to_owned());
    }
    Told {
        mark,
        ink,
        words: one_line(&words.join(" · ")),
    }
}

fn number(value: &Value, key: &str) -> Option<i64> {
    value.get(key).and_then(Value::as_i64)
}

/// What the sandbox refused a command: the first, and the key that would allow it.
fn refused_by_the_sandbox(refused: &Value) -> Option<String> {
    let refused = refused.as_array()?;
    let first = refused.first()?;
    let text = |key: &str| first.get(key).and_then(Value::as_str);
    let what = text("path").or_else(|| text("why"))?;
    let mut line = format!("refused by the sandbox: {what}");
    match refused.len() - 1 {
        0 => {}
        more => line.push_str(&format!(" and {more} more")),
    }
    if let Some(key) = text("allow") {
        line.push_str(&format!(" ({key})"));
    }
    Some(line)
}

/// What a result says, by its shape: the shapes of the tools that ship, then any other.
fn of_result(result: &Value) -> Vec<String> {
    let text = |key: &str| result.get(key).and_then(Value::as_str);
    let length = |key: &str| {
        let items = result.get(key)?.as_array()?;
        Some(items.len() as u64)
    };
    let whole = |key: &str| result.get(key).and_then(Value::as_u64);

    let mut words = Vec::new();
    if let Some(code) = number(result, "exit_code") {
        words.push(format!("exit {code}"));
        words.extend(text("signal").map(|signal| format!("killed by {signal}")));
        let printed = whole("stdout_bytes").unwrap_or(0) + whole("stderr_bytes").unwrap_or(0);
        if printed > 0 {
            words.push(units::bytes(printed));
        }
        if let Some(killed) = whole("killed_children").filter(|killed| *killed > 0) {
            words.push(format!(
                "{} left behind, killed",
                units::count(killed, "process", "processes")
            ));
        }
        words.extend(result.get("sandbox").and_then(refused_by_the_sandbox));
    } else if let (Some("running"), Some(task)) = (text("status"), text("task_id")) {
        words.push(format!("running on as {task}"));
    } else if let Some(instructions) = text("instructions") {
        let lines = instructions.lines().count() as u64;
        words.push(units::count(
            lines,
            "line of instructions",
            "lines of instructions",
        ));
        if let Some(files) = length("files").filter(|files| *files > 0) {
            words.push(units::count(files, "file", "files"));
        }
    } else if let (Some(answer), Some(by)) = (result.get("answer"), text("answered_by")) {
        words.push(plain(answer));
        words.push(format!("answered by {by}"));
    } else if result.get("matches").is_some() {
        let found = whole("count").or_else(|| length("matches")).unwrap_or(0);
        words.push(units::count(found, "match", "matches"));
    } else if let Some(files) = length("files") {
        words.push(units::count(
            whole("count").unwrap_or(files),
            "file",
            "files",
        ));
    } else if let Some(entries) = length("entries") {
        words.push(units::count(entries, "entry", "entries"));
    } else if let Some(replaced) = whole("replacements") {
        words.push(units::count(replaced, "replacement", "replacements"));
    } else if let Some(written) = whole("bytes_written") {
        if result.get("created") == Some(&Value::Bool(true)) {
            words.push("created".to_owned());
        }
        words.push(format!("{} written", units::bytes(written)));
    } else if result.get("binary") == Some(&Value::Bool(true)) {
        words.push(format!(
            "binary, {}",
            units::bytes(whole("size").unwrap_or(0))
        ));
    } else if let Some(total) = whole("total_lines") {
        words.push(match (whole("start_line"), whole("end_line")) {
            (Some(first), Some(last)) if first > 1 || last < total => {
                format!("lines {first}–{last} of {total}")
            }
            _ => units::count(total, "line", "lines"),
        });
    } else if let Some(total) = whole("total_bytes") {
        words.push(format!("of {}", units::bytes(total)));
    } else if let (Some(path), Some(size)) = (text("path"), whole("size")) {
        words.push(path.to_owned());
        words.push(units::bytes(size));
    } else if let Some(value) = result.get("value") {
        words.push(plain(value));
    } else if let Some(instant) = text("iso") {
        words.push(instant.to_owned());
    } else {
        words.push(plain(result));
    }
    if result
        .get("truncated")
        .is_some_and(|cut| *cut != Value::Bool(false))
    {
        words.push("cut short".to_owned());
    }
    words
}

/// A value as it is, cut short where it is long.
fn plain(value: &Value) -> String {
    const MOST_CHARS: usize = 100;
    let text = match value {
        Value::String(text) => text.clone(),
        other => canonical(other),
    };
    super::text::clip(&one_line(&text), MOST_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{ArtifactId, CallId, Code, ErrorInfo, Truncated};
    use rstest::rstest;
    use serde_json::json;

    fn output(status: Status, result: Option<Value>, error: Option<ErrorInfo>) -> ToolOutput {
        ToolOutput {
            tool_name: "tool".to_owned(),
            resolved: None,
            tool_call_id: CallId::new("c1").unwrap(),
            tool_call_args: json!({}),
            status,
            result,
            error,
            ui_hints: None,
            artifacts: Vec::new(),
            truncated: None,
        }
    }

    #[rstest]
    #[case(json!({"exit_code": 0, "stdout_bytes": 1200, "stderr_bytes": 34}), "✓ exit 0 · 1.2 kB")]
    #[case(json!({"exit_code": 1, "stdout_bytes": 0}), "✗ exit 1")]
    #[case(
        json!({"exit_code": 1, "sandbox": [{"path": "/usr/x", "allow": "[sandbox] write", "why": "it is read-only"}]}),
        "✗ exit 1 · refused by the sandbox: /usr/x ([sandbox] write)"
    )]
    #[case(
        json!({"exit_code": 1, "sandbox": [{"rule": "network", "allow": null, "why": "a.example:443 leads home"}, {}]}),
        "✗ exit 1 · refused by the sandbox: a.example:443 leads home and 1 more"
    )]
    #[case(json!({"exit_code": 0, "killed_children": 2}), "✓ exit 0 · 2 processes left behind, killed")]
    #[case(json!({"matches": [{}, {}], "count": 2}), "✓ 2 matches")]
    #[case(json!({"files": ["a"], "count": 1, "truncated": true}), "✓ 1 file · cut short")]
    #[case(json!({"entries": []}), "✓ 0 entries")]
    #[case(json!({"bytes_written": 5, "created": true}), "✓ created · 5 bytes written")]
    #[case(json!({"replacements": 1, "diff": "…"}), "✓ 1 replacement")]
    #[case(json!({"total_lines": 120, "start_line": 1, "end_line": 40}), "✓ lines 1–40 of 120")]
    #[case(json!({"name": "report", "instructions": "one\ntwo", "files": ["a"]}), "✓ 2 lines of instructions · 1 file")]
    #[case(json!({"name": "report", "path": "style.md", "size": 7, "content": "Short.\n"}), "✓ style.md · 7 bytes")]
    #[case(json!({"answered": true, "answer": "red", "answered_by": "default", "at": 1}), "✓ red · answered by default")]
    #[case(json!({"value": "42"}), "✓ 42")]
    #[case(json!("a text\nof two lines"), "✓ a text of two lines")]
    #[case(json!({"temperature": 21}), "✓ {\"temperature\":21}")]
    fn a_result_is_told_by_its_shape(#[case] result: Value, #[case] words: &str) {
        let told = told(&output(Status::Success, Some(result), None), Seen::No);
        assert_eq!(format!("{} {}", told.mark, told.words), words);
    }

    #[test]
    fn a_refusal_says_that_it_is_one() {
        let error = ErrorInfo::new(Code::NotPermitted, "the path leaves the workspace");
        let told = told(&output(Status::Denied, None, Some(error)), Seen::No);
        assert_eq!(told.words, "denied: the path leaves the workspace");
        assert_eq!(told.ink, Ink::Bad);
    }

    #[test]
    fn what_did_not_fit_says_where_it_is() {
        let mut output = output(Status::Success, Some(json!("long")), None);
        output.truncated = Some(Truncated {
            total_bytes: 90_000,
            omitted_bytes: 80_000,
            artifact: ArtifactId::new("art_1").unwrap(),
        });
        assert_eq!(told(&output, Seen::No).words, "long · 90.0 kB are in art_1");
    }
}
