//! Which of the tools that a session may use are before the model, and how the others are found.
//!
//! * [`Presentation`]: what the operator says of it.
//! * `index`: every tool by its words, made when it is first asked.
//! * `suggest`: which listed tools fit a conversation, where there are too many to show.
//! * `find`: what the tools about tools are told.
//! * `reminder`: the line at the tail of a request that tells of the rest.
//!
//! Nothing here widens what a session may use: all of it chooses among the tools of a view.

mod find;
pub(crate) mod index;
mod reminder;
mod suggest;

use outfitter_core::{Exposure, NameSet, ToolName, ToolSpec};

use crate::ToolView;
use crate::expand_tools::EXPAND_TOOLS;
use crate::registered::Registered;
use crate::tool_search::TOOL_SEARCH;

pub use suggest::{Candidate, ToChoose};

/// How many listed tools are shown as they are, before the fitting ones are chosen.
pub const SUGGESTION_THRESHOLD: usize = 15;

/// Shown whatever a conversation is about: what nearly every task needs, and the ways to more.
const BASELINE: [&str; 18] = [
    "ask_user",
    "await_shell",
    "execute_shell_command",
    "file_read",
    "file_update",
    "file_write",
    "glob",
    "grep",
    "kill_shell",
    "list_dir",
    "load_skill",
    "project_cli",
    "read_artifact",
    "search_memory",
    "todo_read",
    "todo_write",
    EXPAND_TOOLS,
    TOOL_SEARCH,
];

/// Who chooses the tools that fit a conversation, where there are too many to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Suggestion {
    /// Nobody: all are shown.
    #[default]
    Off,
    /// The words of the last user turns.
    Lexical,
    /// The model, asked once a turn; the words where it gives no answer.
    Model,
}

/// What the operator says of which tools are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presentation {
    /// Who chooses, where there are too many.
    pub suggestion: Suggestion,
    /// Up to how many listed tools all are shown.
    pub threshold: usize,
    /// Listed tools that are shown only when they are asked for.
    pub defer: NameSet,
}

impl Default for Presentation {
    fn default() -> Self {
        Self {
            suggestion: Suggestion::Off,
            threshold: SUGGESTION_THRESHOLD,
            defer: NameSet::none(),
        }
    }
}

impl Presentation {
    /// Whether a listed tool is kept back until it is asked for. The ways to more never are.
    pub(crate) fn defers(&self, spec: &ToolSpec) -> bool {
        spec.exposure == Exposure::Listed
            && !is_way_in(&spec.name)
            && self.defer.has(spec.name.as_str())
    }
}

/// Whether a tool is a way to tools that are not shown.
pub(crate) fn is_way_in(name: &ToolName) -> bool {
    [EXPAND_TOOLS, TOOL_SEARCH].contains(&name.as_str())
}

fn is_baseline(name: &ToolName) -> bool {
    BASELINE.contains(&name.as_str())
}

impl ToolView {
    /// Whether a tool of this view is before the model.
    pub(crate) fn is_presented(&self, spec: &ToolSpec) -> bool {
        match spec.exposure {
            Exposure::Always => true,
            Exposure::Listed => {
                let fits =
                    |fitting: &std::collections::BTreeSet<ToolName>| fitting.contains(&spec.name);
                self.trimmed_to.as_deref().is_none_or(fits)
                    || is_baseline(&spec.name)
                    || self.expanded.contains(&spec.name)
            }
            Exposure::Deferred => self.expanded.contains(&spec.name),
            Exposure::Hidden => false,
        }
    }

    /// The tools that may be used and are not shown until they are asked for.
    pub(crate) fn expandable(&self) -> impl Iterator<Item = &Registered> {
        self.visible().filter(|tool| !self.is_presented(&tool.spec))
    }

    /// Whether there is a tool by which a model comes to the ones that are not shown.
    fn has_way_in(&self) -> bool {
        self.allowed.keys().any(is_way_in)
    }

    /// The way in that a model is told of, if there is one.
    pub(crate) fn way_in(&self) -> Option<&'static str> {
        [EXPAND_TOOLS, TOOL_SEARCH]
            .into_iter()
            .find(|name| self.allowed.contains_key(*name))
    }
}
