//! Redirects, judged as calls of their own.

use std::sync::Arc;

use outfitter_core::{Code, ErrorInfo, Onward, ToolContext, ToolError, ToolName, Verdict};
use outfitter_net::reqwest::Url;
use serde_json::Value;

/// Judges each redirect of a call as a call that fetches from there would be judged: by the same
/// rules, and without anybody being asked in the middle of it.
pub(crate) struct Hops<'a> {
    /// None where nobody judged the call itself.
    judge: Option<Arc<dyn Onward>>,
    tool: &'a ToolName,
    /// The arguments of a call that fetches from an address alone.
    call: &'a (dyn Fn(&str) -> Value + Sync),
}

impl<'a> Hops<'a> {
    pub(crate) fn of(
        cx: &ToolContext,
        tool: &'a ToolName,
        call: &'a (dyn Fn(&str) -> Value + Sync),
    ) -> Self {
        Self {
            judge: cx.services.get::<dyn Onward>(),
            tool,
            call,
        }
    }

    pub(super) fn judge(&self, from: &Url, to: &Url) -> Result<(), ToolError> {
        let Some(judge) = &self.judge else {
            return Ok(());
        };
        let (from, there) = ((self.call)(from.as_str()), (self.call)(to.as_str()));
        let decision = judge.judge(self.tool, &from, &there);
        let reason = decision.reason;
        match decision.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask => {
                let message = format!("it leads on to {to}, which a person must approve: {reason}");
                let error = ErrorInfo::new(Code::NeedsApproval, message);
                let hint = format!("call {} with that address, if it is wanted", self.tool);
                Err(error.with_hint(hint).into())
            }
            Verdict::Deny => {
                let message = format!("it leads on to {to}, which is not permitted: {reason}");
                Err(ToolError::new(Code::NotPermitted, message))
            }
        }
    }
}
