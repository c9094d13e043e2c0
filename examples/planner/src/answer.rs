//! What is answered: a document for programs.

use serde_json::{Value, json};

use crate::fault::Fault;

/// What a subcommand found or did.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The structured truth.
    pub result: Value,
    /// What it means to a reader: a template, bound to the result.
    pub ui: Value,
}

/// The one document of a call.
#[must_use]
pub fn document(done: &Result<Answer, Fault>) -> Value {
    match done {
        Ok(Answer { result, ui }) => {
            json!({ "v": 1, "status": "success", "result": result, "ui": ui })
        }
        Err(fault) => {
            let mut error = json!({
                "code": fault.code,
                "message": fault.message,
                "retryable": fault.code.retryable(),
            });
            if let Some(details) = &fault.details {
                error["details"] = details.clone();
            }
            json!({ "v": 1, "status": "error", "error": error })
        }
    }
}
