//! The documents that commands print under `--json`: how they are written, and those that have no
//! other home, as types.

use outfitter_agent::SectionName;
use outfitter_core::Code;
use schemars::JsonSchema;
use serde::Serialize;

use super::Invocation;
use super::failure::{Failure, Stop};

/// Writes a document, readably.
pub(crate) fn write(at: &Invocation<'_>, document: &impl Serialize) -> Result<(), Stop> {
    let value =
        serde_json::to_value(document).map_err(|error| Failure::of(Code::Internal, &error))?;
    at.out.document(&value)
}

/// Writes a document on one line, for who reads line by line.
pub(crate) fn write_line(at: &Invocation<'_>, document: &impl Serialize) -> Result<(), Stop> {
    let value =
        serde_json::to_value(document).map_err(|error| Failure::of(Code::Internal, &error))?;
    at.out.json_line(&value)
}

/// A configuration that is right. One that is wrong is an error, with its problems.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConfigChecked {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub(crate) v: u32,
    /// Always true.
    #[schemars(extend("const" = true))]
    pub(crate) ok: bool,
    /// The file; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// What could not be looked at, as nothing is connected for a check; left out where all could.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unchecked: Vec<Unchecked>,
    /// What does not work now and may later, as programs that are not found; left out where there is
    /// nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// A key of the configuration that could not be looked at.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UncheckedKey")]
pub(crate) struct Unchecked {
    /// Where it stands, as `permissions.rules.0.tool`.
    key: String,
    /// What has to be there first: an MCP server, an API, the programs of the project.
    from: String,
}

impl From<&crate::outfit::UncheckedKey> for Unchecked {
    fn from(one: &crate::outfit::UncheckedKey) -> Self {
        Self {
            key: one.key.clone(),
            from: one.from.clone(),
        }
    }
}

/// What a model is told before the first words of a person.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToldFirst<'a> {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub(crate) v: u32,
    /// The system prompt, whole.
    pub(crate) system: &'a str,
    /// About how many tokens it has, as `[model] tokenizer` counts them.
    pub(crate) tokens: usize,
    /// The sections that it is made of, in order, with an empty line between two.
    pub(crate) sections: Vec<PromptSection<'a>>,
    /// What is loaded from the start; left out where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) opening: Option<&'a str>,
}

/// A section of the system prompt.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PromptSection<'a> {
    /// What it is about.
    #[schemars(extend("enum" = SectionName::ALL.map(SectionName::as_str)))]
    pub(crate) name: &'static str,
    /// About how many tokens it has.
    pub(crate) tokens: usize,
    /// What it says.
    pub(crate) text: &'a str,
}

/// A session that was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Deleted<'a> {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub(crate) v: u32,
    /// Its id.
    pub(crate) deleted: &'a str,
    /// What could not be removed, one sentence each; left out where nothing stays behind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_behind: Vec<String>,
}

/// Where a server listens: one line, once it does.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Serving {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub(crate) v: u32,
    /// Where.
    pub(crate) url: String,
    /// When it began, in Unix milliseconds.
    pub(crate) started_ms: u64,
    /// What of the configuration means nothing as things stand; left out where there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// What was written to begin with.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Init")]
pub(crate) struct Begun {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub(crate) v: u32,
    /// The files that were written.
    pub(crate) written: Vec<String>,
    /// The files that were there before and stay as they are.
    pub(crate) kept: Vec<String>,
}
