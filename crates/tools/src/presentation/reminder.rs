//! What a model is told of the tools that it can ask for.

use outfitter_core::Exposure;

use super::suggest::first_line;
use crate::ToolView;
use crate::expand_tools::EXPAND_TOOLS;
use crate::tool_search::TOOL_SEARCH;

/// How long the lines of a reminder may be together. It is in every request.
const MAX_BYTES: usize = 8_192;

impl ToolView {
    /// What a model is told of tools that it can ask for: a name and a line each of those that were
    /// deferred, and how many more there are. None where there are none, or no way to them. It
    /// stands at the tail of a request, so that it spoils no cache.
    #[must_use]
    pub fn reminder(&self) -> Option<String> {
        let expands = self.allowed.contains_key(EXPAND_TOOLS);
        let searches = self.allowed.contains_key(TOOL_SEARCH);
        let ask = match (expands, searches) {
            (true, _) => format!("Call {EXPAND_TOOLS} with their exact names"),
            (false, true) => format!("Call {TOOL_SEARCH} with what they are to do"),
            (false, false) => return None,
        };
        let (mut lines, mut room, mut more) = (String::new(), MAX_BYTES, 0_usize);
        for tool in self.expandable() {
            let line = || {
                format!(
                    "\n- {}: {}",
                    tool.spec.name,
                    first_line(&tool.spec.description)
                )
            };
            let line = Some(tool)
                .filter(|tool| tool.spec.exposure == Exposure::Deferred && room > 0)
                .map(|_| line());
            match line {
                Some(line) if line.len() <= room => {
                    room -= line.len();
                    lines.push_str(&line);
                }
                Some(_) | None => more += 1,
            }
        }
        let find = if searches {
            format!(". Call {TOOL_SEARCH} with what you need done to find them")
        } else {
            String::new()
        };
        match (lines.is_empty(), more) {
            (true, 0) => None,
            (true, more) => Some(format!(
                "{more} more tools can be used in this session than this request shows{find}."
            )),
            (false, 0) => Some(format!(
                "More tools can be used in this session. {ask} to be shown their schemas:{lines}"
            )),
            (false, more) => Some(format!(
                "More tools can be used in this session. {ask} to be shown their schemas:{lines}\n\
                 and {more} more{find}."
            )),
        }
    }
}
