//! What is looked for in files, and what was found.

use serde::{Deserialize, Serialize};

use super::Walked;

/// What a search gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// The lines.
    #[default]
    Content,
    /// The files that have one.
    Files,
    /// How many each file has.
    Count,
}

/// What to search for in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// A regular expression.
    pub pattern: String,
    /// Only files whose path matches this.
    pub glob: Option<String>,
    /// Only files of this type, by ripgrep's names: `rust`, `py`, …
    pub file_type: Option<String>,
    /// What to give.
    pub mode: SearchMode,
    /// Whether case does not matter.
    pub case_insensitive: bool,
    /// Whether a match may cross lines.
    pub multiline: bool,
    /// Lines of context before a match.
    pub before: u32,
    /// Lines of context after a match.
    pub after: u32,
    /// At most this many.
    pub limit: usize,
}

/// One match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// The file.
    pub path: String,
    /// The line, from 1; 0 where the mode gives no lines.
    pub line: u64,
    /// The column in characters, from 1; 0 where the mode gives no lines.
    pub column: u64,
    /// The matching line or lines without their end.
    pub text: String,
    /// The lines before.
    pub before: Vec<String>,
    /// The lines after.
    pub after: Vec<String>,
    /// How many matches the file has, in the modes that count.
    pub count: u64,
    /// In what the file is written, by its name (WHATWG Encoding Standard, section 4.2, in lower
    /// case), where that is no UTF-8. The lines are decoded.
    pub encoding: Option<&'static str>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchFound {
    /// The matches, by path and line.
    pub hits: Vec<SearchHit>,
    /// How many there are of what the mode gives, as far as was searched.
    pub count: u64,
    /// What the walk saw besides.
    pub walked: Walked,
}
