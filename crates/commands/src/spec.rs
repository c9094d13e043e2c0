//! What a model is told of the tree: what its session may call, as much of it as there is room for.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use outfitter_core::{NameSet, Role, SourceStart, ToolName, ToolSpec};
use serde_json::{Value, json};

use crate::subcommand::{Detail, Subcommand};
use crate::tree::Tree;

/// What the tool has more time than its programs.
const MARGIN: Duration = Duration::from_secs(5);

/// Bytes of the tree in the description.
const TREE_BYTES: usize = 6000;

const PREFACE: &str = "Calls one of the project's own commands. Use it for what the commands below \
are about; not for files or shell commands of the workspace. `args` is an object of the subcommand's \
arguments; * marks those it needs.";

/// What a session may see.
pub(crate) struct Sees {
    pub(crate) role: Role,
    /// A subcommand belongs to a skill, and is there for whoever has it.
    pub(crate) skills: NameSet,
}

impl Sees {
    /// Everything.
    pub(crate) fn all() -> Self {
        Self {
            role: Role::Admin,
            skills: NameSet::all(),
        }
    }

    pub(crate) fn may(&self, one: &Subcommand) -> bool {
        one.least_role() <= self.role && self.has_skill(one)
    }

    fn has_skill(&self, one: &Subcommand) -> bool {
        self.skills.has(&one.skill)
    }
}

/// The spec of a session that sees this much.
pub(crate) fn of(tree: &Tree, name: ToolName, sees: &Sees) -> ToolSpec {
    let visible: Vec<&Subcommand> = tree.subcommands().filter(|one| sees.may(one)).collect();
    let mut spec = ToolSpec::new(name, description(&visible), schema(tree, sees, &visible));
    spec.min_role = tree.least_role();
    spec.effects = tree.effects();
    spec.keywords = ["command", "project", "命令", "项目"]
        .into_iter()
        .map(Into::into)
        .chain(names(&visible).into_iter().map(Into::into))
        .collect();
    // Each program has a time of its own, which is up before this one.
    spec.timeout = tree
        .commands
        .values()
        .map(|command| {
            let settings = &command.program.settings;
            match settings.start {
                SourceStart::AtOnce => settings.timeout,
                // Its first call asks it before.
                SourceStart::AtFirstCall => settings.timeout * 2,
            }
        })
        .max()
        .map(|longest| longest + MARGIN);
    spec
}

fn names<'s>(visible: &[&'s Subcommand]) -> BTreeSet<&'s str> {
    visible.iter().map(|one| one.command.as_str()).collect()
}

fn schema(tree: &Tree, sees: &Sees, visible: &[&Subcommand]) -> Value {
    let names = names(visible);
    let mut command = json!({ "type": "string", "description": "The command." });
    if names.is_empty() {
        // A list of choices cannot be empty.
        command["const"] = Value::Null;
    } else {
        command["enum"] = json!(names);
    }
    let mut schema = json!({
        "type": "object",
        "properties": {
            "command": command,
            "subcommand": { "type": "string", "description": "A subcommand of the command." },
            "args": {
                "type": "object",
                "description": "The arguments of the subcommand, by name.",
            },
        },
        "required": ["command", "subcommand"],
        "additionalProperties": false,
    });
    let narrowed = narrowed(tree, sees, visible);
    if !narrowed.is_empty() {
        schema["allOf"] = json!(narrowed);
    }
    schema
}

/// A skill that a session has not is not called either: where it leaves only a part of a command, the
/// schema says which. A role that does not suffice is refused by the call.
fn narrowed(tree: &Tree, sees: &Sees, visible: &[&Subcommand]) -> Vec<Value> {
    let part = |command: &&str| {
        let hidden = |one: &Subcommand| one.command == *command && !sees.has_skill(one);
        tree.subcommands().any(hidden)
    };
    names(visible)
        .into_iter()
        .filter(part)
        .map(|command| {
            let left: Vec<&str> = visible
                .iter()
                .filter(|one| one.command == command)
                .map(|one| one.subcommand.as_str())
                .collect();
            json!({
                "if": { "properties": { "command": { "const": command } } },
                "then": { "properties": { "subcommand": { "enum": left } } },
            })
        })
        .collect()
}

fn description(visible: &[&Subcommand]) -> String {
    let mut text = PREFACE.to_owned();
    let ways: [fn(&Subcommand) -> String; 4] = [
        |one| line(one, Detail::Words),
        |one| line(one, Detail::Types),
        |one| format!("{}: {}", one.subject(), one.summary),
        Subcommand::subject,
    ];
    let mut trees = ways
        .into_iter()
        .map(|way| visible.iter().map(|one| way(one)).collect::<Vec<_>>());
    let fitting = trees.find(|lines| size(lines) <= TREE_BYTES);
    match fitting {
        Some(lines) => push(&mut text, &lines),
        None => {
            let mut lines: Vec<String> = visible.iter().map(|one| one.subject()).collect();
            let mut left = 0;
            while size(&lines) > TREE_BYTES && lines.pop().is_some() {
                left += 1;
            }
            push(&mut text, &lines);
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\nand {left} more: a call with a subcommand that is not there says which there are"
            );
        }
    }
    text
}

fn line(one: &Subcommand, detail: Detail) -> String {
    let (subject, signature) = (one.subject(), one.signature(detail));
    format!(
        "{subject}: {} [{signature}] (skill {})",
        one.summary, one.skill
    )
}

fn size(lines: &[String]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}

fn push(text: &mut String, lines: &[String]) {
    for line in lines {
        text.push('\n');
        text.push_str(line);
    }
}
