//! Values of a frontmatter, with where they stand.

use crate::problem::Place;

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) at: Place,
    pub(crate) value: Value,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    pub(crate) at: Place,
    pub(crate) kind: Kind,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Null,
    /// A string.
    Text(String),
    /// A number or a boolean, as it is written: `1.10` stays `1.10`.
    Other(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The text of a scalar, whatever YAML thinks that it is: a name may be `yes` or `123`.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) | Kind::Other(text) => Some(text),
            Kind::Null | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    pub(crate) fn kind_word(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Text(_) => "a text",
            Kind::Other(_) => "a number or boolean",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }
}
