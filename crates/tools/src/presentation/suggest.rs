//! Which listed tools fit a conversation, where there are too many to show.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{Exposure, ToolName};

use super::{Suggestion, is_baseline};
use crate::ToolView;
use crate::registered::Registered;

/// How much of a tool's first line is told to who chooses. Longer ones are rare and say so.
const MAX_LINE_BYTES: usize = 400;

/// A tool that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: ToolName,
    /// The first line of its description.
    pub line: String,
}

/// That there are more listed tools than are shown at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToChoose {
    /// Who chooses.
    pub by: Suggestion,
    /// How many, at most. What is always shown is shown besides.
    pub most: usize,
}

impl ToolView {
    /// Whether tools are to be chosen for the next request: where that is wanted, where more are
    /// listed than are shown as they are, and where the others can still be found.
    #[must_use]
    pub fn to_choose(&self) -> Option<ToChoose> {
        let wanted = &self.config.presentation;
        let too_many = || self.listed().count() > wanted.threshold;
        let chooses = match wanted.suggestion {
            Suggestion::Off => false,
            Suggestion::Lexical | Suggestion::Model => self.has_way_in() && too_many(),
        };
        chooses.then_some(ToChoose {
            by: wanted.suggestion,
            most: wanted.threshold,
        })
    }

    /// What was chosen, where a choice is to be made.
    pub(crate) fn trimmed(
        &self,
        to: Option<&Arc<BTreeSet<ToolName>>>,
    ) -> Option<Arc<BTreeSet<ToolName>>> {
        to.filter(|_| self.to_choose().is_some()).cloned()
    }

    /// The tools that may be chosen and fit these words, the best first, at most `most`.
    #[must_use]
    pub fn fitting(&self, words: &str, most: usize) -> Vec<ToolName> {
        let admits = |name: &ToolName| self.allowed.get(name).is_some_and(|tool| is_open(tool));
        self.ranked(words, most, admits)
            .into_iter()
            .map(|found| found.name.clone())
            .collect()
    }

    /// The tools that may be chosen, those that fit `words` first, then by name; as many as have
    /// room in `max_bytes`.
    #[must_use]
    pub fn candidates(&self, words: &str, max_bytes: usize) -> Vec<Candidate> {
        let fitting = self.fitting(words, self.allowed.len());
        let first: BTreeSet<&ToolName> = fitting.iter().collect();
        let others = self.listed().filter(|tool| is_open(tool));
        let others = others.map(|tool| &tool.spec.name);
        let all = fitting
            .iter()
            .chain(others.filter(|name| !first.contains(name)));
        let mut room = max_bytes;
        all.map_while(|name| {
            let line = self
                .allowed
                .get(name)
                .map(|tool| first_line(&tool.spec.description))?;
            room = room.checked_sub(name.as_str().len() + line.len())?;
            Some(Candidate {
                name: name.clone(),
                line,
            })
        })
        .collect()
    }

    fn listed(&self) -> impl Iterator<Item = &Registered> {
        self.visible()
            .filter(|tool| tool.spec.exposure == Exposure::Listed)
    }
}

/// Whether it depends on the choice whether a tool is shown.
fn is_open(tool: &Registered) -> bool {
    tool.spec.exposure == Exposure::Listed && !is_baseline(&tool.spec.name)
}

/// The first line of a description, whole unless it is very long.
pub(super) fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let kept = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
    if kept.len() < line.len() {
        format!("{kept}…")
    } else {
        kept.to_owned()
    }
}
