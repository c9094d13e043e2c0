//! An OpenAPI document: read within bounds, its references followed inside it.

use outfitter_net::reqwest::Url;
use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

use super::ApiError;
use super::error::Unusable;
use super::text::percent_decode;

/// The largest document.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// How deep a document written in YAML nests; JSON has a bound of its own.
const MAX_YAML_DEPTH: usize = 128;

/// How many values a document written in YAML has, those of its aliases counted each time.
const MAX_YAML_VALUES: usize = 2_000_000;

/// How many references lead on from one to the next.
const MAX_HOPS: usize = 32;

/// Which rules a document follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// 3.0: schemas of a dialect of their own.
    V30,
    /// 3.1: schemas are JSON Schema 2020-12.
    V31,
}

/// A document that was read.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) root: Value,
    pub(super) version: Version,
    /// Where it was fetched from, unless it is a file.
    pub(super) from: Option<Url>,
}

impl Document {
    /// Reads one: JSON where it begins as an object of JSON, else YAML.
    pub(super) fn read(text: &str, from: Option<Url>) -> Result<Self, ApiError> {
        if text.len() > MAX_DOCUMENT_BYTES {
            return Err(ApiError::TooLarge {
                limit: MAX_DOCUMENT_BYTES,
            });
        }
        let text = text.trim_start_matches('\u{feff}');
        let root = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| ApiError::Unreadable {
                why: format!("it is no JSON: {error}"),
            })?
        } else {
            yaml(text)?
        };
        let version = version(&root)?;
        if !root["paths"].is_object() {
            return Err(ApiError::NotOpenApi {
                why: "it has no paths".to_owned(),
            });
        }
        Ok(Self {
            root,
            version,
            from,
        })
    }

    /// What a reference into the document leads to.
    pub(super) fn at(&self, reference: &str) -> Result<&Value, Unusable> {
        let pointer = pointer(reference)?;
        self.root
            .pointer(&pointer)
            .ok_or_else(|| Unusable::new(format!("the reference {reference:?} leads to nothing")))
    }

    /// The value itself where it is no reference, else what it leads to.
    pub(super) fn resolve<'d>(&'d self, value: &'d Value) -> Result<&'d Value, Unusable> {
        let mut at = value;
        for _ in 0..MAX_HOPS {
            match at.get("$ref") {
                Some(Value::String(reference)) => at = self.at(reference)?,
                _ => return Ok(at),
            }
        }
        Err(Unusable::new("its references lead round in a circle"))
    }
}

/// The JSON Pointer of a reference into the document.
pub(super) fn pointer(reference: &str) -> Result<String, Unusable> {
    let fragment = reference.strip_prefix('#').ok_or_else(|| {
        Unusable::new(format!(
            "the reference {reference:?} leads out of the document; only those inside it are followed"
        ))
    })?;
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return Err(Unusable::new(format!(
            "the reference {reference:?} is no path in the document"
        )));
    }
    percent_decode(fragment)
        .ok_or_else(|| Unusable::new(format!("the reference {reference:?} is not UTF-8")))
}

fn yaml(text: &str) -> Result<Value, ApiError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_YAML_DEPTH,
            flow_nesting_limit: MAX_YAML_DEPTH,
            max_events: MAX_YAML_VALUES,
            max_nodes: MAX_YAML_VALUES,
            max_documents: 1,
            max_total_scalar_bytes: 2 * MAX_DOCUMENT_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_YAML_VALUES,
            max_replay_stack_depth: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = error.without_snippet().to_string();
        let line = message.lines().next().unwrap_or_default();
        let line: String = line.chars().take(300).collect();
        ApiError::Unreadable {
            why: format!("it is neither JSON nor YAML: {line}"),
        }
    })
}

fn version(root: &Value) -> Result<Version, ApiError> {
    let not = |why: String| Err(ApiError::NotOpenApi { why });
    if !root.is_object() {
        return not("it is no object".to_owned());
    }
    match (root.get("openapi"), root.get("swagger")) {
        (Some(Value::String(version)), _) if version.starts_with("3.0.") => Ok(Version::V30),
        (Some(Value::String(version)), _) if version.starts_with("3.1.") => Ok(Version::V31),
        (Some(other), _) => not(format!(
            "it follows OpenAPI {other}; only 3.0 and 3.1 are read"
        )),
        (None, Some(other)) => not(format!(
            "it follows Swagger {other}; only OpenAPI 3.0 and 3.1 are read"
        )),
        (None, None) => not("it does not say which OpenAPI it follows".to_owned()),
    }
}
