//! How a command fails: one line, at most one hint, one exit status.

use std::error::Error;

use outfitter_core::{Code, RunOutput, chain};
use serde_json::{Value, json};

use crate::config::{ConfigError, Problem, Source};
use crate::render::text::one_line;

/// Why a command failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The code, which decides the exit status.
    pub code: Code,
    /// What reads on after "failed to".
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Everything that is wrong, where it is the configuration.
    pub problems: Vec<Problem>,
}

impl Failure {
    /// A failure with what reads on after "failed to".
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            problems: Vec::new(),
        }
    }

    /// A failure with an error and its causes, whose messages read on after "failed to".
    #[must_use]
    pub fn of(code: Code, error: &(dyn Error + 'static)) -> Self {
        Self::new(code, chain(error))
    }

    /// A failure to do something, which reads on after "failed to", with its cause.
    #[must_use]
    pub fn because(code: Code, doing: impl Into<String>, cause: &(dyn Error + 'static)) -> Self {
        let doing = doing.into();
        Self::new(code, chain(&Doing { doing, cause }))
    }

    /// The failure of a run, where it has one.
    #[must_use]
    pub fn of_run(output: &RunOutput) -> Option<Self> {
        let error = output.error.as_ref()?;
        let mut failure = Self::new(error.code, format!("finish the run: {}", error.message));
        failure.hint.clone_from(&error.hint);
        Some(failure)
    }

    /// Says what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The lines for people, with their line breaks.
    #[must_use]
    pub fn lines(&self) -> String {
        let mut text = format!("error: failed to {}\n", one_line(&self.message));
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {}\n", one_line(hint)));
        }
        text
    }

    /// The document for programs: `{ v, error: { code, message, retryable, hint? }, problems? }`.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut error = json!({
            "code": self.code,
            "message": format!("failed to {}", self.message),
            "retryable": self.code.retryable(),
        });
        if let Some(hint) = &self.hint {
            error["hint"] = hint.as_str().into();
        }
        let mut document = json!({ "v": 1, "error": error });
        if !self.problems.is_empty() {
            document["problems"] = self.problems.iter().map(problem).collect();
        }
        document
    }
}

/// What was done when something else went wrong.
#[derive(Debug)]
struct Doing<'a> {
    doing: String,
    cause: &'a (dyn Error + 'static),
}

impl std::fmt::Display for Doing<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.doing)
    }
}

impl Error for Doing<'_> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.cause)
    }
}

/// One of the problems: `{ at: { kind, name, file?, line?, column? }, key?, message }`.
pub(super) fn problem(problem: &Problem) -> Value {
    let mut at = json!({ "kind": problem.at.kind(), "name": problem.at.to_string() });
    if let Source::File(position) = &problem.at {
        at["file"] = position.file.display().to_string().into();
        at["line"] = position.line.into();
        at["column"] = position.column.into();
    }
    let mut one = json!({ "at": at, "message": problem.message });
    if !problem.key.is_empty() {
        one["key"] = problem.key.as_str().into();
    }
    one
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let mut failure = Self::of(error.code(), &error);
        failure.hint = error.hint();
        failure.problems = error.problems().to_vec();
        failure
    }
}

/// Why a command ended before its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// It failed.
    Failed(Box<Failure>),
    /// It was left in the middle, while something may still be writing to stdout: only people are
    /// told.
    Abandoned(Box<Failure>),
    /// Nobody reads stdout any more, so there is nothing left to do. Not a failure.
    StdoutClosed,
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_failure_says_its_causes_on_one_line_without_control_characters() {
        let error = ConfigError::Unreadable {
            path: "a\u{1b}[31m\nb.toml".into(),
            source: io::ErrorKind::NotFound.into(),
        };
        insta::assert_snapshot!(Failure::from(error).lines());
    }

    #[test]
    fn a_cause_of_the_system_began_with_a_capital_within_the_line() {
        let cause = io::Error::from_raw_os_error(13);
        let failure = Failure::because(Code::Failed, "write a.toml", &cause);
        assert_eq!(
            failure.message,
            "write a.toml: permission denied (os error 13)"
        );
    }

    #[test]
    fn a_cause_that_was_said_is_not_said_again() {
        #[derive(Debug, thiserror::Error)]
        #[error("open the store: {0}")]
        struct Outer(#[source] io::Error);
        let outer = Outer(io::Error::other("Disk full"));
        assert_eq!(chain(&outer), "open the store: Disk full");
    }
}
