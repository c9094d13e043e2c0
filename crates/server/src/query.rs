//! What stands behind the `?` of a path.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;

use crate::problem::Problem;

/// How the reader begins what it says, in words of its own.
const READERS_WORDS: &str = "Failed to deserialize query string: ";

/// What was read, or why it could not be.
pub(crate) fn wanted<T>(read: Result<Query<T>, QueryRejection>) -> Result<T, Problem> {
    let Query(wanted) = read.map_err(|error| {
        let said = error.body_text();
        let why = said.strip_prefix(READERS_WORDS).unwrap_or(&said);
        Problem::malformed(format!("failed to read the query: {why}"))
    })?;
    Ok(wanted)
}
