//! `[skills]`.

use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::formats::FilePath;

/// Instruction packs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Skills {
    /// The directories they are in.
    #[schemars(with = "Vec<FilePath>", extend("uniqueItems" = true))]
    pub dirs: Vec<PathBuf>,
    /// The skills that may be used: names, and globs with `*` and `?`. An empty list gives none.
    #[schemars(extend("uniqueItems" = true))]
    pub available: Vec<String>,
    /// The skills that are in context from the first request on; `auto` takes those that fit the
    /// first prompt.
    pub load: Load,
}

impl Default for Skills {
    fn default() -> Self {
        Self {
            dirs: vec![PathBuf::from("skills")],
            available: vec!["*".to_owned()],
            load: Load::default(),
        }
    }
}

/// The skills that are in context from the first request on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Load {
    /// These.
    Names(Vec<String>),
    /// Those that fit the first prompt.
    Auto,
}

impl Default for Load {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

const AUTO: &str = "auto";

impl Serialize for Load {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Names(names) => names.serialize(serializer),
            Self::Auto => serializer.serialize_str(AUTO),
        }
    }
}

impl<'de> Deserialize<'de> for Load {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(word) if word == AUTO => Ok(Self::Auto),
            list => serde_json::from_value(list)
                .map(Self::Names)
                .map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for Load {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Load".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "array", "items": { "type": "string" } },
                { "const": AUTO },
            ]
        })
    }
}
