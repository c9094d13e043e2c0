//! `[store]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::{FilePath, StoreText};

/// Where sessions are kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// The log of the sessions: `sqlite:PATH`, or `memory:`, which is gone when the program ends.
    /// Without it, `outfitter.db` in `data_dir`.
    #[schemars(with = "Option<StoreText>")]
    pub url: Option<String>,
    /// Where everything else that is kept lives. Without it, `outfitter` in the person's data
    /// directory.
    #[schemars(with = "Option<FilePath>")]
    pub data_dir: Option<PathBuf>,
}
