//! Why something could not be written.

/// A value that JSON cannot carry. Nothing was written.
///
/// No value of the core types is like that; the error exists so that a mistake in this crate ends
/// as an error of the run, not as half a line.
#[derive(Debug, thiserror::Error)]
#[error("write {what} as JSON")]
pub struct EncodeError {
    pub(crate) what: &'static str,
    #[source]
    pub(crate) source: serde_json::Error,
}
