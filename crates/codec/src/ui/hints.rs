//! The templates that a tool may use. A template is bound to the result of the call.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::schema::{ChartStyle, Tone};

/// What a result means to a reader.
///
/// `from` and `path` are JSON Pointers (RFC 6901): `from` into the result, `path` into the row that
/// `from` leads to. A text may hold `{/pointer}` into the result; `{{` is a brace.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "template", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Hints {
    /// Templates, one below the other.
    Group {
        /// Its heading; may hold `{/pointer}`.
        title: Option<String>,
        /// The templates.
        #[schemars(with = "Vec<Hints>", length(max = 64))]
        children: Vec<Value>,
    },
    /// Words; may hold `{/pointer}`.
    Text {
        /// The words.
        text: String,
        /// How they are meant.
        #[serde(default)]
        tone: Tone,
    },
    /// The members of an object.
    KeyValues {
        /// Its heading; may hold `{/pointer}`.
        title: Option<String>,
        /// Where the object is.
        #[serde(default)]
        from: String,
        /// Which members; all when left out.
        #[serde(default)]
        entries: Vec<Field>,
    },
    /// A list of objects, one a row.
    Table {
        /// Its heading; may hold `{/pointer}`.
        title: Option<String>,
        /// Where the list is.
        #[serde(default)]
        from: String,
        /// Which members; all of the first rows when left out.
        #[serde(default)]
        columns: Vec<Field>,
        /// What to say where there are no rows; may hold `{/pointer}`.
        empty: Option<String>,
    },
    /// A list of values.
    List {
        /// Its heading; may hold `{/pointer}`.
        title: Option<String>,
        /// Where the list is.
        #[serde(default)]
        from: String,
        /// What of each item is shown; all of it when left out.
        #[serde(default)]
        path: String,
        /// Whether the items are numbered.
        #[serde(default)]
        ordered: bool,
        /// How the items are shown.
        #[serde(default)]
        format: Format,
        /// What to say where there are no items; may hold `{/pointer}`.
        empty: Option<String>,
    },
    /// Text whose blanks and lines matter; what is no text is shown as JSON.
    Code {
        /// Its heading; may hold `{/pointer}`.
        title: Option<String>,
        /// Where the text is.
        #[serde(default)]
        from: String,
        /// Its language.
        language: Option<String>,
    },
    /// A unified diff.
    Diff {
        /// Its heading; may hold `{/pointer}`.
        title: Option<String>,
        /// Where its text is.
        #[serde(default)]
        from: String,
    },
    /// A way out.
    Link {
        /// What it says; the URL itself when left out; may hold `{/pointer}`.
        label: Option<String>,
        /// Where it leads, `http` or `https`; may hold `{/pointer}`.
        url: String,
    },
    /// A picture, of a URL or of an artifact: one of both.
    Image {
        /// What is in it, in words; may hold `{/pointer}`.
        alt: String,
        /// Where it is, `http` or `https`; may hold `{/pointer}`.
        url: Option<String>,
        /// The id of the artifact; may hold `{/pointer}`.
        artifact: Option<String>,
    },
    /// Numbers of a list of objects.
    Chart {
        /// Its heading; may hold `{/pointer}`.
        title: Option<String>,
        /// Where the list is.
        #[serde(default)]
        from: String,
        /// Bars or lines.
        #[serde(default)]
        style: ChartStyle,
        /// What the numbers of a row belong to, in the row.
        x: String,
        /// Which numbers, in the row.
        #[schemars(length(min = 1, max = 8))]
        series: Vec<Field>,
    },
    /// What a reader may say next. Nothing of the result goes into it.
    Actions {
        /// The buttons.
        #[schemars(length(max = 8))]
        actions: Vec<Button>,
    },
}

/// Which member of a row, and how it is shown.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    /// What stands beside or above it; the last part of the path when left out.
    pub(crate) label: Option<String>,
    /// Where it is in the row.
    pub(crate) path: String,
    /// How it is shown.
    #[serde(default)]
    pub(crate) format: Format,
}

/// How a value is shown. A value that does not fit is shown as what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// As what it is.
    #[default]
    Auto,
    /// As words.
    Text,
    /// As an instant: RFC 3339 text or Unix milliseconds.
    Datetime,
    /// As a day.
    Date,
    /// As a number of bytes.
    Bytes,
    /// As a way out: `http` or `https`.
    Link,
}

/// A button.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Button {
    /// What it says.
    pub(crate) label: String,
    /// What it sends, as the reader's own words.
    pub(crate) prompt: String,
}
