//! Reads bodies: bounded in size and in time, strictly JSON.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError};
use outfitter_core::{Code, ErrorInfo, from_json_slice};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// The whole body. Its size is bounded by the gate.
pub(crate) async fn read(body: Body) -> Result<Bytes, Problem> {
    match tokio::time::timeout(ARRIVAL, body.collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if is_too_large(&error) => Err(ErrorInfo::new(
            Code::TooLarge,
            "the body is larger than this endpoint reads",
        )
        .into()),
        Ok(Err(_)) => Err(Problem::malformed("the body broke off")),
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            ErrorInfo::new(Code::Timeout, "the body took too long to arrive"),
        )),
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The body as JSON of this form.
pub(crate) async fn json<T: DeserializeOwned>(body: Body) -> Result<T, Problem> {
    parse(&read(body).await?)
}

/// Every body is an object: a list is not read as the values of one in their order.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first.is_some_and(|first| *first != b'{') {
        return Err(Problem::malformed(
            "failed to read the body: it must be a JSON object",
        ));
    }
    from_json_slice(bytes).map_err(|error| {
        let why = without_types(&error.to_string());
        Problem::malformed(format!("failed to read the body: {why}"))
    })
}

/// What a reader says, without the names that types have in this program.
fn without_types(why: &str) -> String {
    let mut said = why.to_owned();
    for (kind, instead) in [("struct ", "an object"), ("enum ", "a word")] {
        let expected = format!("expected {kind}");
        while let Some(start) = said.find(&expected) {
            let name = start + expected.len();
            let end = said[name..]
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(said.len(), |length| name + length);
            said.replace_range(start..end, &format!("expected {instead}"));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Wanted {
        decision: String,
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        #[expect(dead_code, reason = "only its being read is of interest")]
        a: u32,
    }

    #[rstest]
    #[case(r#"["approve", null]"#)]
    #[case(r#" [["approve", null]]"#)]
    #[case("\"approve\"")]
    #[case("null")]
    #[case("7")]
    fn a_list_was_read_as_an_object(#[case] body: &str) {
        let problem = parse::<Wanted>(body.as_bytes()).unwrap_err();
        assert_eq!(
            problem.error().message,
            "failed to read the body: it must be a JSON object"
        );
    }

    #[rstest]
    #[case(r#"{"decision": "a", "inner": 7}"#)]
    #[case(r#"{"decision": 7}"#)]
    #[case("")]
    #[case("{")]
    fn a_problem_of_a_body_named_a_type_of_this_program(#[case] body: &str) {
        let problem = parse::<Wanted>(body.as_bytes()).unwrap_err();
        let said = &problem.error().message;
        assert!(
            !said.contains("struct") && !said.contains("Inner"),
            "{said}"
        );
    }

    #[test]
    fn an_object_is_read() {
        let read: Wanted = parse(br#" {"decision": "approve"}"#).unwrap();
        assert_eq!(
            (read.decision.as_str(), read.inner.is_none()),
            ("approve", true)
        );
    }
}
