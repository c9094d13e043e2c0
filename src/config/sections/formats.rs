//! What a value that is a text must be: a path, a URL, one of some words.

use outfitter_core::{Mode, Role};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

macro_rules! text_with_format {
    ($($(#[$doc:meta])* $name:ident $format:literal,)+) => {$(
        $(#[$doc])*
        pub(in crate::config) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": $format })
            }
        }
    )+};
}

text_with_format! {
    /// A path. A relative one starts at the directory of the file it stands in, else at the current
    /// one.
    FilePath "path",
    /// The name of a program, or its path.
    ProgramName "program",
    /// An IP address and a port.
    Address "address",
    /// An IP address.
    IpText "ip",
    /// The name of an environment variable.
    VariableName "variable",
    /// A URL of http or https.
    Url "http-url",
    /// Where the log is.
    StoreText "store-url",
    /// A path, or a URL of http or https.
    PathOrUrl "path-or-url",
}

/// A table, or a path to what could stand in one.
pub(in crate::config) struct TableOrPath;

impl JsonSchema for TableOrPath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TableOrPath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["object", "string"], "format": "table-or-path" })
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $words:expr,)+) => {$(
        $(#[$doc])*
        pub(in crate::config) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let words: Vec<&str> = $words;
                json_schema!({ "type": "string", "enum": words })
            }
        }
    )+};
}

words! {
    /// The words of [`Role`], which itself knows nothing of schemas.
    RoleWord = Role::ALL.map(Role::as_str).into(),
    /// The words of [`Mode`].
    ModeWord = Mode::ALL.map(Mode::as_str).into(),
    /// The names of the one table of providers.
    ProviderWord = outfitter_model::PROVIDERS.iter().map(|provider| provider.name).collect(),
}
