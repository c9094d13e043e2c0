//! What a program answers to `describe --json`.

use std::path::Path;
use std::sync::Arc;

use outfitter_core::{Arguments, Effects, UiHints};
use serde::Deserialize;
use serde_json::Value;

use crate::reserved;
use crate::schema::Schema;
use crate::settings::is_name;
use crate::subcommand::Subcommand;

/// The version of the protocol.
pub(crate) const VERSION: u64 = 1;

/// The most subcommands of one program.
const MAX_SUBCOMMANDS: usize = 256;

/// The longest summary, in bytes.
const MAX_SUMMARY_BYTES: usize = 500;

/// Flags that are ours.
const FLAGS: [&str; 3] = ["help", "json", "stdin"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    v: u64,
    name: String,
    #[serde(default)]
    skills_dir: Option<String>,
    commands: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    command: String,
    subcommand: String,
    skill: String,
    summary: String,
    effects: Effects,
    args: Value,
    result: Value,
    #[serde(default)]
    ui: Option<Value>,
}

/// What a program can do.
#[derive(Clone)]
pub(crate) struct Described {
    pub(crate) subcommands: Vec<Arc<Subcommand>>,
    /// Subcommands that cannot be offered: which, and why.
    pub(crate) left_out: Vec<(String, String)>,
    /// Where the skills are that say how it is used, as the program says it.
    pub(crate) skills_dir: Option<String>,
    /// All of it, as it was said.
    pub(crate) document: Value,
}

/// Reads a description. One that does not keep to the protocol is refused whole; a subcommand that
/// cannot be offered is left out.
pub(crate) fn parse(stdout: &[u8]) -> Result<Described, String> {
    read(one_document(stdout)?)
}

/// The same of a document that was read.
pub(crate) fn read(said: Value) -> Result<Described, String> {
    let document: Document = outfitter_core::from_json_value(said.clone())
        .map_err(|error| format!("its description is not as the protocol has it: {error}"))?;
    if document.v != VERSION {
        return Err(format!(
            "it speaks version {} of the protocol, not {VERSION}",
            document.v
        ));
    }
    if !is_name(&document.name) {
        return Err(format!("its name {:?} is no name", document.name));
    }
    if document.commands.len() > MAX_SUBCOMMANDS {
        return Err(format!("it has more than {MAX_SUBCOMMANDS} subcommands"));
    }
    if let Some(directory) = &document.skills_dir
        && !Path::new(directory).is_absolute()
    {
        return Err(format!("its skills_dir {directory:?} is not absolute"));
    }
    let mut described = Described {
        subcommands: Vec::new(),
        left_out: Vec::new(),
        skills_dir: document.skills_dir,
        document: said,
    };
    for (at, entry) in document.commands.into_iter().enumerate() {
        for word in [&entry.command, &entry.subcommand] {
            if !is_name(word) {
                return Err(format!(
                    "the name {word:?} of a command is not of a-z, 0-9, _ and -, a letter first"
                ));
            }
        }
        let subject = format!("{} {}", entry.command, entry.subcommand);
        let twice = |known: &Arc<Subcommand>| known.subject() == subject;
        if described.subcommands.iter().any(twice) {
            return Err(format!("it describes {subject} twice"));
        }
        let said = described.document["commands"][at].clone();
        match usable(entry, said) {
            Ok(subcommand) => described.subcommands.push(Arc::new(subcommand)),
            Err(why) => described.left_out.push((subject, why)),
        }
    }
    Ok(described)
}

/// The one JSON document of an output, read strictly: a key given twice is a fault.
pub(crate) fn one_document(stdout: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(stdout).map_err(|_| "it printed no UTF-8".to_owned())?;
    if text.trim().is_empty() {
        return Err("it printed nothing".to_owned());
    }
    Arguments::parse(text)
        .parsed
        .map_err(|fault| format!("it printed something other than one JSON object: {fault}"))
}

fn usable(entry: Entry, said: Value) -> Result<Subcommand, String> {
    if let Some(why) = reserved::refused(&entry.args) {
        return Err(format!("the schema of its arguments {why}"));
    }
    check_arguments(&entry.args)?;
    let args =
        Schema::compile(entry.args).map_err(|why| format!("the schema of its arguments {why}"))?;
    let result =
        Schema::compile(entry.result).map_err(|why| format!("the schema of its result {why}"))?;
    let ui = match entry.ui {
        None => None,
        Some(ui @ Value::Object(_)) => Some(UiHints(ui)),
        Some(_) => return Err("its ui is no template".to_owned()),
    };
    if entry.effects == Effects::NONE {
        return Err("it says of no effect, and even reading is one".to_owned());
    }
    let summary: String = entry
        .summary
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    Ok(Subcommand {
        command: entry.command,
        subcommand: entry.subcommand,
        skill: entry.skill,
        summary: summary[..summary.floor_char_boundary(MAX_SUMMARY_BYTES)].to_owned(),
        effects: entry.effects,
        args,
        result,
        ui,
        said,
    })
}

/// Arguments become flags, so they have names that a flag can have.
fn check_arguments(schema: &Value) -> Result<(), String> {
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return Err("its arguments are no object".to_owned());
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for name in properties.keys() {
        if !is_name(name) {
            return Err(format!("its argument {name:?} cannot be a flag"));
        }
        if FLAGS.contains(&name.as_str()) {
            return Err(format!("its argument {name} is a flag of the protocol"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_process::Ending;

    /// The fences of the protocol's page that are of this kind.
    fn examples(kind: &str) -> Vec<String> {
        let page = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/protocols/project-cli.md"
        );
        let page = std::fs::read_to_string(page).unwrap();
        let opening = format!("```json {kind}\n");
        page.split(&opening)
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn the_page_of_the_protocol_says_what_is_read() {
        let descriptions = examples("describe");
        let [description] = &descriptions[..] else {
            unreachable!("{descriptions:?}")
        };
        let described = parse(description.as_bytes()).unwrap();
        assert!(described.left_out.is_empty(), "{:?}", described.left_out);
        let [read] = &described.subcommands[..] else {
            unreachable!("one subcommand")
        };
        let answers = examples("answer");
        assert_eq!(answers.len(), 2);
        for (answer, exit) in answers.iter().zip([0, 6]) {
            crate::document::read(read, Ending::Code(exit), answer.as_bytes()).unwrap();
        }
    }
}
