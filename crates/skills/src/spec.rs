//! What `load_skill` says of itself.

use std::sync::Arc;

use outfitter_core::{Effects, ToolName, ToolSpec};
use serde_json::{Value, json};

const DESCRIPTION: &str = "Loads a skill: instructions for one kind of work, with the names of the \
    files that come with it. Call it when a skill's description fits the task, before you begin, \
    and once per conversation is enough. With path it gives one of those files instead. It runs \
    nothing and gives no tools: for files of the workspace use file_read.";

/// The tool that loads skills. It is there while there is a skill.
pub const LOAD_SKILL: &str = "load_skill";

/// The spec as it is without a session.
pub(crate) fn load_skill_spec() -> ToolSpec {
    #[expect(
        clippy::expect_used,
        reason = "the name is a constant, and tests make it"
    )]
    let name = ToolName::new(LOAD_SKILL).expect("it is a tool name");
    let mut spec = ToolSpec::new(name, DESCRIPTION, input_schema());
    spec.output_schema = Some(Arc::new(output_schema()));
    spec.effects = Effects::READ;
    spec.idempotent = true;
    spec.keywords = [
        "skill",
        "instructions",
        "workflow",
        "how to",
        "guide",
        "技能",
        "说明",
        "步骤",
    ]
    .into_iter()
    .map(Into::into)
    .collect();
    spec
}

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "skill_name": {
                "type": "string", "minLength": 1, "maxLength": 128,
                "description": "The name of the skill, as it is listed.",
            },
            "path": {
                "type": "string", "minLength": 1, "maxLength": 1024,
                "description": "A file of the skill, as it is listed in files. Leave it out for the instructions.",
            },
        },
        "required": ["skill_name"],
        "additionalProperties": false,
    })
}

fn output_schema() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "version": { "type": "string" },
            "instructions": { "type": "string" },
            "files": texts,
            "files_omitted": { "type": "integer", "description": "Files that are not listed." },
            "dependencies": {
                "type": "array",
                "description": "What the skill is built on, the deepest first.",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "version": { "type": "string" },
                        "state": { "enum": ["loaded", "left_out", "unavailable"] },
                        "instructions": { "type": "string" },
                    },
                    "required": ["name", "state"],
                    "additionalProperties": false,
                },
            },
            "missing_tools": texts,
            "path": { "type": "string" },
            "size": { "type": "integer", "description": "Of the file, in bytes." },
            "content": { "type": "string" },
            "binary": { "const": true },
        },
        "required": ["name"],
        "additionalProperties": false,
    })
}
