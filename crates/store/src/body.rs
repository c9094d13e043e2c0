//! The bodies of entries as text.
//!
//! The text is JSON in the order the fields came in, so that what a provider gave us goes back to
//! it unchanged. Nesting is bounded here and not by `serde_json`, whose own bound counts our
//! wrapping too and would leave rows that were written but never read back.

use outfitter_core::{EntryBody, Stored};
use serde::Deserialize;
use serde_json::value::RawValue;

/// How deep the JSON of a body may nest. What models and servers send is read with a bound of 128.
pub const MAX_BODY_DEPTH: usize = 200;

/// The form that this program writes.
const FORM: u8 = 1;

/// Why a body does not become text, or a text no body.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// Not the JSON of a body that this program knows.
    #[error("read it as an entry")]
    Json(#[source] serde_json::Error),
    /// A form of a later program.
    #[error("read it as an entry: it has form {found}, this program knows form {FORM}")]
    UnknownForm {
        /// The form it has.
        found: u64,
    },
    /// Deeper than [`MAX_BODY_DEPTH`].
    #[error("keep it: it nests deeper than {MAX_BODY_DEPTH} levels")]
    TooDeep,
}

/// Writes a body.
pub(crate) fn write(body: EntryBody) -> Result<String, BodyError> {
    let stored = Stored { v: FORM, body };
    let text = serde_json::to_string(&stored).map_err(BodyError::Json)?;
    bounded(&text)?;
    Ok(text)
}

#[derive(Deserialize)]
struct Form<'a> {
    v: u64,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// Reads a body.
pub(crate) fn read(text: &str) -> Result<EntryBody, BodyError> {
    let form: Form<'_> = serde_json::from_str(text).map_err(BodyError::Json)?;
    if form.v != u64::from(FORM) {
        return Err(BodyError::UnknownForm { found: form.v });
    }
    bounded(form.body.get())?;
    let mut reader = serde_json::Deserializer::from_str(form.body.get());
    reader.disable_recursion_limit();
    EntryBody::deserialize(&mut reader).map_err(BodyError::Json)
}

fn bounded(json: &str) -> Result<(), BodyError> {
    if depth(json.as_bytes()) > MAX_BODY_DEPTH {
        return Err(BodyError::TooDeep);
    }
    Ok(())
}

/// How deep a valid JSON text nests.
fn depth(json: &[u8]) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    let mut in_string = false;
    let mut at = 0;
    while at < json.len() {
        match json[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                now += 1;
                most = most.max(now);
            }
            b'}' | b']' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{EventBody, WarningCode};
    use rstest::rstest;

    #[rstest]
    #[case("1", 0)]
    #[case("{}", 1)]
    #[case(r#"[[{"a":[1]}],[]]"#, 4)]
    #[case(r#"["[[[", "\"[[", "\\"]"#, 1)]
    fn depth_counts_what_is_not_in_a_string(#[case] json: &str, #[case] deep: usize) {
        assert_eq!(depth(json.as_bytes()), deep);
    }

    #[test]
    fn the_form_of_a_row() {
        let body = EntryBody::Event(EventBody::Warning {
            code: WarningCode::Recovered,
            message: "a\0b".to_owned(),
        });
        insta::assert_snapshot!(
            write(body).unwrap(),
            @r#"{"v":1,"body":{"entry":"event","body":{"type":"warning","code":"recovered","message":"a\u0000b"}}}"#
        );
    }

    #[rstest]
    #[case(
        r#"{"v":2,"body":{}}"#,
        "read it as an entry: it has form 2, this program knows form 1"
    )]
    #[case("not json", "read it as an entry")]
    #[case(
        r#"{"v":1,"body":{"entry":"prophecy","body":{}}}"#,
        "read it as an entry"
    )]
    fn a_body_of_another_program_is_an_error(#[case] text: &str, #[case] message: &str) {
        assert_eq!(read(text).unwrap_err().to_string(), message);
    }
}
