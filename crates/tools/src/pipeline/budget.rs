//! Budget: what is left of the run.

use std::time::Duration;

use outfitter_core::{Code, ErrorInfo};

use super::{Granted, Refusal, Stage};
use crate::RunHandle;

pub(crate) fn within<'v>(granted: Granted<'v>, run: &RunHandle) -> Stage<Granted<'v>> {
    let error = if run.cancel.is_interrupted() {
        ErrorInfo::new(
            Code::Interrupted,
            "the run was interrupted before the call began",
        )
    } else if run.cancel.is_cancelled() {
        ErrorInfo::new(Code::Cancelled, "the run was stopped before the call began")
    } else if run.deadline.remaining() == Some(Duration::ZERO) {
        ErrorInfo::new(
            Code::Timeout,
            "the time of the run was up before the call began",
        )
    } else {
        return Ok(granted);
    };
    Err(Refusal::new(granted.head, granted.args, error))
}
