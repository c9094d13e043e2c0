//! What a search looks for, made ready. What cannot be understood is refused here.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use outfitter_core::{FilesError, Search};

use super::error::invalid;
use super::limits::MAX_REGEX_BYTES;

/// The expression.
pub(super) fn matcher(search: &Search) -> Result<RegexMatcher, FilesError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(search.case_insensitive)
        .multi_line(true)
        .size_limit(MAX_REGEX_BYTES)
        .crlf(true);
    if search.multiline {
        builder.line_terminator(None);
    } else {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&search.pattern).map_err(|error| {
        let mut why = error.to_string();
        if !search.multiline && search.pattern.contains(r"\n") {
            why.push_str("; a match over lines needs `multiline`");
        }
        invalid(&search.pattern, why)
    })
}

/// Which names.
pub(super) fn names(glob: Option<&str>) -> Result<Override, FilesError> {
    let Some(glob) = glob else {
        return Ok(Override::empty());
    };
    let mut builder = OverrideBuilder::new("");
    builder
        .add(glob)
        .and_then(|builder| builder.build())
        .map_err(|error| invalid(glob, error.to_string()))
}

/// Which types.
pub(super) fn types(name: Option<&str>) -> Result<Types, FilesError> {
    let Some(name) = name else {
        return Ok(Types::empty());
    };
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(name);
    builder.build().map_err(|_| {
        invalid(
            name,
            "there is no such file type; the names are ripgrep's: rust, py, js, ts, go, md, …",
        )
    })
}
