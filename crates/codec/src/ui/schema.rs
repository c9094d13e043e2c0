//! What a renderer draws. Every text is plain: no markup, no control characters, never longer than
//! the page says.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// The version of the form.
pub const UI_VERSION: u32 = 1;

/// The version, as a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(UI_VERSION)
    }
}

impl JsonSchema for Version {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "UiVersion".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "const": UI_VERSION })
    }
}

/// What a renderer draws for one result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UiSchema {
    /// The version of the form.
    pub v: Version,
    /// What to draw.
    pub root: Node,
    /// What could not be done as the tool meant it; for its author, not for readers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 16))]
    pub diagnostics: Vec<Diagnostic>,
}

/// One thing to draw.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Node {
    /// Some things, one below the other.
    Group {
        /// Its heading.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The things.
        children: Vec<Node>,
    },
    /// Words. Line feeds stand where lines end.
    Text {
        /// The words.
        text: String,
        /// How they are meant; left out for plain words.
        #[serde(skip_serializing_if = "Tone::is_plain")]
        tone: Tone,
    },
    /// Names and their values.
    KeyValues {
        /// Its heading.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The pairs, in order.
        entries: Vec<Entry>,
        /// How many more there are; left out when these are all.
        #[serde(skip_serializing_if = "is_zero")]
        #[schemars(range(min = 1))]
        omitted: u64,
    },
    /// Rows under columns. Every row has a cell for every column.
    Table {
        /// Its heading.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The columns.
        columns: Vec<Column>,
        /// The rows.
        rows: Vec<Vec<Cell>>,
        /// How many more rows there are; left out when these are all.
        #[serde(skip_serializing_if = "is_zero")]
        #[schemars(range(min = 1))]
        omitted: u64,
        /// What to say where there are no rows.
        #[serde(skip_serializing_if = "Option::is_none")]
        empty: Option<String>,
    },
    /// Items.
    List {
        /// Its heading.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Whether they are numbered.
        ordered: bool,
        /// The items.
        items: Vec<Cell>,
        /// How many more items there are; left out when these are all.
        #[serde(skip_serializing_if = "is_zero")]
        #[schemars(range(min = 1))]
        omitted: u64,
        /// What to say where there are no items.
        #[serde(skip_serializing_if = "Option::is_none")]
        empty: Option<String>,
    },
    /// Text whose blanks and lines matter.
    Code {
        /// Its heading.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its language, in lower case: `rust`, `json`.
        #[serde(skip_serializing_if = "Option::is_none")]
        language: Option<String>,
        /// The text.
        text: String,
        /// How many more bytes there are; left out when this is all.
        #[serde(skip_serializing_if = "is_zero")]
        #[schemars(range(min = 1))]
        omitted: u64,
    },
    /// What changed in a text.
    Diff {
        /// Its heading.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The lines.
        lines: Vec<DiffLine>,
        /// How many more lines there are; left out when these are all.
        #[serde(skip_serializing_if = "is_zero")]
        #[schemars(range(min = 1))]
        omitted: u64,
    },
    /// A way out.
    Link {
        /// What it says.
        label: String,
        /// Where it leads: `http` or `https`, without credentials.
        url: String,
    },
    /// A picture: of a URL, or of an artifact of the session.
    Image {
        /// What is in it, in words.
        alt: String,
        /// Where it is: `http` or `https`, without credentials.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Which artifact it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        artifact: Option<String>,
    },
    /// Numbers as bars or lines.
    Chart {
        /// Its heading.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Bars or lines.
        style: ChartStyle,
        /// What is drawn.
        series: Vec<Series>,
        /// How many more points there are; left out when these are all.
        #[serde(skip_serializing_if = "is_zero")]
        #[schemars(range(min = 1))]
        omitted: u64,
    },
    /// What a reader may say next, as buttons. Nothing happens until one is chosen.
    Actions {
        /// The buttons.
        actions: Vec<Action>,
    },
}

/// A name and its value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "UiEntry")]
pub struct Entry {
    /// The name.
    pub label: String,
    /// The value.
    pub value: Cell,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "UiColumn")]
pub struct Column {
    /// What stands above it.
    pub label: String,
}

/// One value, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[schemars(rename = "UiCell")]
pub struct Cell {
    /// The value in words; empty where there is none.
    pub text: String,
    /// What it is, for how it is aligned or spelled; left out for text.
    #[serde(skip_serializing_if = "CellKind::is_text")]
    pub kind: CellKind,
    /// Where a link leads: `http` or `https`, without credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// Words.
    #[default]
    Text,
    /// A number, written as in JSON.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An instant, as the tool wrote it: RFC 3339 text or Unix milliseconds.
    Datetime,
    /// A day, as the tool wrote it.
    Date,
    /// A number of bytes.
    Bytes,
    /// Words that lead somewhere.
    Link,
    /// An object or a list, as JSON.
    Json,
    /// Nothing.
    Empty,
}

impl CellKind {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands out a reference"
    )]
    fn is_text(&self) -> bool {
        *self == Self::Text
    }
}

/// How words are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Just words.
    #[default]
    Plain,
    /// Words that matter.
    Strong,
    /// Words beside the point.
    Muted,
    /// Good to know.
    Info,
    /// It went well.
    Success,
    /// It went, but.
    Warning,
    /// It did not go.
    Error,
}

impl Tone {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands out a reference"
    )]
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffOp {
    /// Names of files, and what else stands around the changes.
    Meta,
    /// Where in the file the next lines are.
    Hunk,
    /// The same before and after.
    Context,
    /// Only before.
    Remove,
    /// Only after.
    Add,
}

/// A line of a diff, without its sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffLine {
    /// What it is.
    pub op: DiffOp,
    /// The line.
    pub text: String,
}

/// How numbers are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartStyle {
    /// As bars.
    #[default]
    Bar,
    /// As lines.
    Line,
}

/// Some numbers of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "UiSeries")]
pub struct Series {
    /// What they are.
    pub label: String,
    /// The numbers, in order. Rows without one are left out.
    pub points: Vec<Point>,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "UiPoint")]
pub struct Point {
    /// What it belongs to.
    pub x: String,
    /// The number.
    pub y: f64,
}

/// A button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UiAction")]
pub struct Action {
    /// What it says.
    pub label: String,
    /// What it sends, as the reader's own words.
    pub prompt: String,
}

/// Something that could not be done as the tool meant it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UiDiagnostic")]
pub struct Diagnostic {
    /// What kind of fault.
    pub code: DiagnosticCode,
    /// Where in the hints, as a JSON Pointer (RFC 6901).
    pub path: String,
    /// One lowercase fragment.
    pub message: String,
}

/// What kind of fault. Closed, so that programs can tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticCode {
    /// Hints of no known form; a generic view stands in.
    Invalid,
    /// A pointer that is none, or that leads nowhere.
    Missing,
    /// A value that the template cannot show.
    WrongType,
    /// A URL that is not `http` or `https`, or has credentials.
    UnsafeUrl,
    /// Hints inside hints, too deep or too many.
    TooMany,
    /// More than is shown; what is left out is counted where it was.
    Truncated,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
