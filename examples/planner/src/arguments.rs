//! The command line: words, then `--name=value`, and `{"args":{…}}` on standard input.

use std::ffi::OsString;
use std::io::Read;

use serde_json::{Map, Value, json};

use crate::describe::{Subcommand, subcommands};
use crate::fault::Fault;
use crate::who::Asks;

/// The most that is read from standard input, in bytes.
const MAX_INPUT_BYTES: u64 = 4 * 1024 * 1024;

/// What is asked for.
pub(crate) enum Wanted {
    /// How it is used.
    Help,
    /// What it can do.
    Describe,
    /// A subcommand with these arguments.
    Call {
        subcommand: Box<Subcommand>,
        args: Map<String, Value>,
        asks: Asks,
    },
}

/// Whether a document is wanted; known before anything else, so that also a wrong command line is
/// answered with one.
pub(crate) fn asks(args: &[OsString]) -> Asks {
    if args.iter().any(|arg| arg == "--json") {
        Asks::Program
    } else {
        Asks::Person
    }
}

pub(crate) fn parse(args: &[OsString], stdin: &mut dyn Read) -> Result<Wanted, Fault> {
    let words: Vec<&str> = args
        .iter()
        .map(|arg| {
            arg.to_str()
                .ok_or_else(|| Fault::usage("an argument is no UTF-8"))
        })
        .collect::<Result<_, _>>()?;
    match words[..] {
        [] => return Err(Fault::usage("there is no command: try --help")),
        ["--help" | "-h" | "help", ..] => return Ok(Wanted::Help),
        ["describe", "--json"] | ["describe"] => return Ok(Wanted::Describe),
        _ => {}
    }
    let [command, name, flags @ ..] = &words[..] else {
        return Err(Fault::usage(format!("{} needs a subcommand", words[0])));
    };
    let subcommand = subcommands()
        .into_iter()
        .find(|one| (one.command, one.name) == (*command, *name))
        .ok_or_else(|| Fault::usage(format!("there is no {command} {name}: try --help")))?;
    let mut given = Map::new();
    let mut from_input = false;
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match *flag {
            "--json" => {}
            "--stdin" => from_input = true,
            flag => {
                let flag = flag
                    .strip_prefix("--")
                    .ok_or_else(|| Fault::usage(format!("{flag:?} is no flag")))?;
                let (name, text) = match flag.split_once('=') {
                    Some((name, text)) => (name, text),
                    None if kind(&subcommand, flag) == Some("boolean") => (flag, "true"),
                    // As people write it.
                    None => match flags.next() {
                        Some(text) => (flag, *text),
                        None => return Err(Fault::usage(format!("--{flag} has no value"))),
                    },
                };
                let value = typed(&subcommand, name, text)?;
                if given.insert(name.to_owned(), value).is_some() {
                    return Err(Fault::usage(format!("--{name} is there twice")));
                }
            }
        }
    }
    if from_input {
        for (name, value) in input(stdin)? {
            if given.insert(name.clone(), value).is_some() {
                return Err(Fault::usage(format!("{name} is a flag and input, too")));
            }
        }
    }
    Ok(Wanted::Call {
        subcommand: Box::new(subcommand),
        args: given,
        asks: asks(args),
    })
}

fn kind<'s>(subcommand: &'s Subcommand, name: &str) -> Option<&'s str> {
    subcommand.args["properties"][name]["type"].as_str()
}

/// The value of a flag, as the schema of the subcommand has it.
fn typed(subcommand: &Subcommand, name: &str, text: &str) -> Result<Value, Fault> {
    let wrong = |what: &str| Fault::invalid(name, format!("{name} is no {what}: {text:?}"));
    match kind(subcommand, name) {
        Some("string") => Ok(json!(text)),
        Some("integer") => text
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| wrong("whole number")),
        Some("number") => text
            .parse::<serde_json::Number>()
            .map(Value::Number)
            .map_err(|_| wrong("number")),
        Some("boolean") => text
            .parse::<bool>()
            .map(Value::from)
            .map_err(|_| wrong("true or false")),
        Some(kind) => Err(Fault::usage(format!(
            "{name} is an {kind}, which only --stdin can hold"
        ))),
        None => Err(Fault::usage(format!("there is no flag --{name}"))),
    }
}

fn input(stdin: &mut dyn Read) -> Result<Map<String, Value>, Fault> {
    let mut text = String::new();
    stdin
        .take(MAX_INPUT_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| Fault::usage(format!("standard input cannot be read: {error}")))?;
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(mut map)) => match (map.remove("args"), map.is_empty()) {
            (Some(Value::Object(args)), true) => Ok(args),
            _ => Err(Fault::usage("standard input is not {\"args\":{…}}")),
        },
        Ok(_) => Err(Fault::usage("standard input is not {\"args\":{…}}")),
        Err(error) => Err(Fault::usage(format!("standard input is no JSON: {error}"))),
    }
}
