//! The pieces that every spec here is made of.

use std::sync::Arc;

use outfitter_core::{ToolName, ToolSpec};
use serde_json::{Value, json};

/// What a tool is called and found by.
pub(crate) struct Words<'a> {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does, when to use it, and when not.
    pub(crate) description: &'a str,
    /// Words it is found by.
    pub(crate) keywords: &'static [&'static str],
}

/// A spec for a guest's tool that reads; the tools change what is otherwise.
pub(crate) fn spec(words: &Words<'_>, input: Value, output: Value) -> ToolSpec {
    #[expect(
        clippy::expect_used,
        reason = "the names are constants, and a test makes every one"
    )]
    let name = ToolName::new(words.name).expect("a built-in's name is a tool name");
    let mut spec = ToolSpec::new(name, words.description, input);
    spec.output_schema = Some(Arc::new(output));
    spec.keywords = words.keywords.iter().map(|&word| word.into()).collect();
    spec
}

/// The schema of an object that has these properties and no others.
pub(crate) fn object(required: &[&str], properties: Value) -> Value {
    let mut schema = json!({ "type": "object" });
    schema["properties"] = properties;
    schema["required"] = json!(required);
    schema["additionalProperties"] = Value::Bool(false);
    schema
}
