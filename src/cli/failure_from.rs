//! What the errors of what a command uses are as failures, with their hints.

use outfitter_agent::RunError;
use outfitter_core::{Code, StoreError};

use super::failure::Failure;
use crate::outfit::{BuildError, DeleteError};

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let info = error.to_info();
        let mut failure = Self::of(info.code, &error);
        failure.hint = info.hint;
        failure
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let info = error.to_info();
        let mut failure = Self::of(info.code, &error);
        failure.hint = info.hint;
        failure
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::NotFound(_) => Code::NotFound,
            _ => Code::Unavailable,
        };
        let failure = Self::of(code, &error);
        match outfitter_store::LogOpenError::of(&error) {
            Some(open) => failure.with_hint(open.hint()),
            None if code == Code::NotFound => {
                failure.with_hint("`outfitter sessions list` lists them")
            }
            None => failure,
        }
    }
}

impl From<DeleteError> for Failure {
    fn from(error: DeleteError) -> Self {
        match error {
            DeleteError::Store(error) => error.into(),
            DeleteError::Stays(stays) => {
                let info = stays.to_info();
                let failure = Self::of(info.code, &stays);
                match info.hint {
                    Some(hint) => failure.with_hint(hint),
                    None => failure,
                }
            }
        }
    }
}
