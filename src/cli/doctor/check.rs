//! One thing that was looked at.

use schemars::JsonSchema;
use serde::Serialize;

use crate::render::Ink;

/// How one thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Health {
    /// It works.
    Ok,
    /// Something is missing that may be wanted.
    Warn,
    /// It does not work.
    Fail,
}

impl Health {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    pub(super) fn ink(self) -> Ink {
        match self {
            Self::Ok => Ink::Good,
            Self::Warn => Ink::Caution,
            Self::Fail => Ink::Bad,
        }
    }
}

/// What works here and what does not.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Doctor")]
pub(crate) struct Report {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub(super) v: u32,
    /// What was looked at.
    pub(super) checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Check {
    /// What: `configuration`, `model`, `tools`, `skills`, `mcp`, `plugin_api`, `commands`, `store`, `leftovers`, `sandbox`, `files`,
    /// `browser`, and each backend of it by its name: `local`, `bwrap`, `ssh`, `passthrough`; `connections` where they cannot be
    /// looked at.
    pub(super) what: &'static str,
    /// How it is.
    #[serde(rename = "status")]
    pub(super) health: Health,
    /// What was found.
    pub(super) finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

impl Check {
    pub(super) fn ok(what: &'static str, finding: impl Into<String>) -> Self {
        Self {
            what,
            health: Health::Ok,
            finding: finding.into(),
            hint: None,
        }
    }

    pub(super) fn warn(what: &'static str, finding: impl Into<String>) -> Self {
        Self {
            health: Health::Warn,
            ..Self::ok(what, finding)
        }
    }

    pub(super) fn fail(what: &'static str, finding: impl Into<String>) -> Self {
        Self {
            health: Health::Fail,
            ..Self::ok(what, finding)
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
