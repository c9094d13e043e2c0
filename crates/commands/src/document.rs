//! The one JSON document of a call, held to the exit and to the schema of the result.

use outfitter_core::{Code, ErrorInfo, Outcome, OutcomeState, UiHints};
use outfitter_process::Ending;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::describe::{VERSION, one_document};
use crate::exit::exit_of;
use crate::schema;
use crate::subcommand::Subcommand;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    v: u64,
    status: Status,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Complaint>,
    #[serde(default)]
    ui: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Success,
    Partial,
    Error,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Complaint {
    code: Code,
    message: String,
    retryable: bool,
    #[serde(default)]
    details: Option<Map<String, Value>>,
}

/// Reads what a program printed, or says how it broke the protocol.
pub(crate) fn read(of: &Subcommand, ending: Ending, stdout: &[u8]) -> Result<Outcome, String> {
    let exit = match ending {
        Ending::Code(code) => code,
        Ending::Signal(signal) => return Err(format!("it was ended by signal {signal}")),
    };
    let document: Document = one_document(stdout)
        .and_then(|value| {
            outfitter_core::from_json_value(value)
                .map_err(|error| format!("its document is not as the protocol has it: {error}"))
        })
        .map_err(|why| format!("{why} (exit {exit})"))?;
    if document.v != VERSION {
        return Err(format!(
            "it speaks version {} of the protocol, not {VERSION}",
            document.v
        ));
    }
    let ui = match document.ui {
        None => None,
        Some(ui @ Value::Object(_)) => Some(UiHints(ui)),
        Some(_) => return Err("its ui is no template".to_owned()),
    };
    match (document.status, document.error) {
        (Status::Error, None) => Err("it reports an error and does not say which".to_owned()),
        (Status::Error, Some(error)) => complaint(error, document.result, ui, exit),
        (Status::Success | Status::Partial, Some(_)) => {
            Err("it reports an error beside a result that is none".to_owned())
        }
        (status, None) => {
            agree(exit, 0, "a result")?;
            let result = document
                .result
                .ok_or_else(|| "it reports success without a result".to_owned())?;
            let faults = of.result.faults(&result);
            if !faults.is_empty() {
                return Err(format!(
                    "its result does not fit its own schema: {}",
                    schema::listed(&faults)
                ));
            }
            let state = match status {
                Status::Partial => OutcomeState::Partial,
                Status::Success | Status::Error => OutcomeState::Complete,
            };
            Ok(Outcome {
                ui: ui.or_else(|| of.ui.clone()),
                state,
                ..Outcome::json(result)
            })
        }
    }
}

fn complaint(
    error: Complaint,
    result: Option<Value>,
    ui: Option<UiHints>,
    exit: i32,
) -> Result<Outcome, String> {
    let Some(expected) = exit_of(error.code) else {
        return Err(format!(
            "it reports {}, which is not for a program to say",
            error.code
        ));
    };
    agree(exit, expected.into(), error.code.as_str())?;
    let mut info = ErrorInfo::new(error.code, error.message);
    info.retryable = error.retryable;
    let mut details = error.details.unwrap_or_default();
    let mut word = |name: &str| match details.get(name) {
        Some(Value::String(word)) => {
            let word = word.clone();
            details.shift_remove(name);
            Some(word)
        }
        Some(_) | None => None,
    };
    // The program knows its own arguments; here they are a part of those of the tool.
    info.path = word("path").map(|path| match path.trim_start_matches('/') {
        "" => "/args".to_owned(),
        path => format!("/args/{path}"),
    });
    info.hint = word("hint");
    info.expected = details.shift_remove("expected");
    info.got = details.shift_remove("got");
    // What an error has no place for is not lost.
    let result = result.or_else(|| {
        (!details.is_empty())
            .then(|| Value::from(Map::from_iter([("details".to_owned(), details.into())])))
    });
    Ok(Outcome {
        ui,
        ..Outcome::json(result.unwrap_or(Value::Null)).failing(info)
    })
}

fn agree(exit: i32, expected: i32, what: &str) -> Result<(), String> {
    if exit == expected {
        Ok(())
    } else {
        Err(format!(
            "its exit {exit} does not go with {what}, which is exit {expected}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe;
    use proptest::prelude::*;
    use serde_json::json;

    fn subcommand() -> Subcommand {
        let description = json!({ "v": 1, "name": "p", "commands": [{
            "command": "a", "subcommand": "b", "skill": "s", "summary": "S.", "effects": ["read"],
            "args": {}, "result": { "type": "object" },
        }]});
        let described = describe::parse(description.to_string().as_bytes()).unwrap();
        std::sync::Arc::into_inner(described.subcommands.into_iter().next().unwrap()).unwrap()
    }

    proptest! {
        /// Whatever is printed is an outcome or a reason, and a success never comes of a wrong exit.
        #[test]
        fn no_output_is_too_strange(stdout in any::<Vec<u8>>(), exit in 0..300i32) {
            prop_assert!(read(&subcommand(), Ending::Code(exit), &stdout).is_err());
        }

        #[test]
        fn only_an_exit_that_agrees_is_believed(
            status in "success|partial|error",
            code in "failed|usage|not_found|timeout",
            with_error in any::<bool>(),
            exit in 0..10i32,
        ) {
            let mut document = json!({ "v": 1, "status": status, "result": {} });
            if with_error {
                document["error"] = json!({ "code": code, "message": "m", "retryable": false });
            }
            let said = read(&subcommand(), Ending::Code(exit), document.to_string().as_bytes());
            let agrees = match (status.as_str(), with_error, code.as_str()) {
                ("error", true, "failed") => exit == 1,
                ("error", true, "usage") => exit == 2,
                ("error", true, "not_found") => exit == 5,
                ("success" | "partial", false, _) => exit == 0,
                _ => false,
            };
            prop_assert_eq!(said.is_ok(), agrees);
        }
    }
}
