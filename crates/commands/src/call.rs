//! What a model calls: a command, a subcommand and its arguments.

use outfitter_core::{Code, ErrorInfo, ToolError};
use serde_json::{Map, Value, json};

use crate::program::Program;
use crate::subcommand::Subcommand;
use crate::tree::Tree;

/// A call of something that is there.
pub(crate) struct Call<'t> {
    pub(crate) program: &'t Program,
    pub(crate) subcommand: &'t Subcommand,
    pub(crate) args: Map<String, Value>,
}

impl<'t> Call<'t> {
    /// Reads the arguments of the tool, which fit its schema. Those of the subcommand are not held to
    /// anything yet.
    pub(crate) fn read(tree: &'t Tree, args: &Value) -> Result<Self, ToolError> {
        let word = |name: &str| args[name].as_str().unwrap_or_default();
        let (command, name) = (word("command"), word("subcommand"));
        let Some((program, subcommand)) = tree.find(command, name) else {
            return Err(unknown(tree, command, name));
        };
        let args = match &args["args"] {
            Value::Object(map) => map.clone(),
            // The schema leaves nothing else but none at all.
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        Ok(Self {
            program,
            subcommand,
            args,
        })
    }
}

/// Says nothing of what there is: not all of it is for every session, and the description that this
/// one has says what is.
fn unknown(tree: &Tree, command: &str, subcommand: &str) -> ToolError {
    let (path, message, got) = if tree.commands.contains_key(command) {
        let message = format!("{command} has no subcommand {subcommand:?}");
        ("/subcommand", message, subcommand)
    } else {
        let message = format!("there is no command {command:?}");
        ("/command", message, command)
    };
    let mut info = ErrorInfo::new(Code::InvalidArguments, message)
        .at(path)
        .with_hint("the description of this tool says which commands there are");
    info.got = Some(json!(got));
    info.into()
}
