//! The most telling of a call's arguments.

use serde_json::Value;

use super::text::one_line;

/// What a reader wants to know of a call, on one line. Arguments that are no object are shown as
/// they are.
pub(super) fn telling(tool: &str, arguments: &Value) -> String {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let named = match tool {
        "execute_shell_command" => {
            text("command").map(|command| with_place(&line_by_line(command), text("workdir")))
        }
        "await_shell" | "kill_shell" => text("task_id").map(str::to_owned),
        "list_dir" => Some(text("path").unwrap_or(".").to_owned()),
        "glob" => text("pattern").map(|pattern| with_place(pattern, text("path"))),
        "grep" => text("pattern").map(|pattern| {
            with_place(
                &format!("“{pattern}”"),
                text("path").or_else(|| text("glob")),
            )
        }),
        "file_read" => text("path").map(|path| with_lines(path, arguments)),
        "calculator" => text("expression")
            .map(str::to_owned)
            .or_else(|| sum(arguments)),
        "load_skill" => text("skill_name").map(|skill| match text("path") {
            Some(file) => format!("{file} of {skill}"),
            None => skill.to_owned(),
        }),
        "project_cli" => command(arguments),
        _ => None,
    };
    one_line(&named.unwrap_or_else(|| any(arguments)))
}

/// A script on one line whose lines can still be told apart.
fn line_by_line(script: &str) -> String {
    script.trim().lines().collect::<Vec<_>>().join(" ⏎ ")
}

fn with_place(what: &str, place: Option<&str>) -> String {
    match place {
        Some(place) => format!("{what} in {place}"),
        None => what.to_owned(),
    }
}

fn with_lines(path: &str, arguments: &Value) -> String {
    let line = |key: &str| arguments.get(key).and_then(Value::as_u64);
    match (line("start_line"), line("end_line")) {
        (None, None) => path.to_owned(),
        (first, None) => format!("{path} from line {}", first.unwrap_or(1)),
        (first, Some(last)) => format!("{path} lines {}–{last}", first.unwrap_or(1)),
    }
}

fn sum(arguments: &Value) -> Option<String> {
    let part = |key: &str| {
        arguments.get(key).map(|value| match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        })
    };
    Some(format!(
        "{} {} {}",
        part("left")?,
        part("operation")?,
        part("right")?
    ))
}

/// A command of the project, as it would be written in a shell.
fn command(arguments: &Value) -> Option<String> {
    let word = |key: &str| arguments.get(key).and_then(Value::as_str);
    let mut line = format!("{} {}", word("command")?, word("subcommand")?);
    let args = arguments.get("args").and_then(Value::as_object);
    for (name, value) in args.into_iter().flatten() {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        line.push_str(&format!(" --{name}={value}"));
    }
    Some(line)
}

/// Of a tool we do not know: the argument that usually tells most, else all of them.
fn any(arguments: &Value) -> String {
    const TELLING: [&str; 11] = [
        "command", "path", "pattern", "query", "url", "question", "name", "title", "id", "text",
        "timezone",
    ];
    match arguments {
        Value::String(text) => text.clone(),
        Value::Object(map) if map.is_empty() => String::new(),
        Value::Object(map) => TELLING
            .iter()
            .find_map(|key| map.get(*key).and_then(Value::as_str))
            .map_or_else(|| arguments.to_string(), str::to_owned),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case("execute_shell_command", json!({"command": "cargo\n test", "workdir": "web"}), "cargo ⏎ test in web")]
    #[case("file_read", json!({"path": "a.rs", "start_line": 3, "end_line": 9}), "a.rs lines 3–9")]
    #[case("list_dir", json!({}), ".")]
    #[case("grep", json!({"pattern": "todo", "glob": "*.rs"}), "“todo” in *.rs")]
    #[case("calculator", json!({"left": 2, "operation": "*", "right": "21"}), "2 * 21")]
    #[case("get_weather", json!({"city": "Bern"}), "{\"city\":\"Bern\"}")]
    #[case("load_skill", json!({"skill_name": "report", "path": "style.md"}), "style.md of report")]
    #[case("project_cli", json!({"command": "calendar", "subcommand": "write", "args": {"title": "Tea", "delete": true}}), "calendar write --title=Tea --delete=true")]
    #[case("notes__add", json!({"title": "Tea", "text": "at four"}), "Tea")]
    #[case("current_time", json!({}), "")]
    #[case("file_write", json!("{\"path\": \"a"), "{\"path\": \"a")]
    #[case("execute_shell_command", json!({"command": "printf '\u{1b}[2J'"}), "printf '␛[2J'")]
    fn a_call_is_told_by_its_most_telling_argument(
        #[case] tool: &str,
        #[case] arguments: Value,
        #[case] told: &str,
    ) {
        assert_eq!(telling(tool, &arguments), told);
    }
}
