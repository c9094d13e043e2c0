//! What the tools about tools are told.

use outfitter_core::{Expansion, Exposure, ToolFound, ToolIndex, ToolName};

use super::index::Ranking;
use super::is_way_in;
use crate::ToolView;
use crate::registered::Registered;

impl ToolView {
    /// The best of its tools by their words, among those that `admits` takes.
    pub(super) fn ranked(
        &self,
        query: &str,
        limit: usize,
        admits: impl Fn(&ToolName) -> bool,
    ) -> Vec<Ranking<'_>> {
        let all = self.merged.tools.values().map(|tool| &*tool.spec);
        self.merged.index.search(all, query, limit, admits)
    }

    fn found(&self, tool: &Registered, score: f64) -> ToolFound {
        ToolFound {
            schema: tool.spec.schema(),
            score,
            presented: self.is_presented(&tool.spec),
        }
    }

    fn findable(&self, name: &str) -> Option<&Registered> {
        let tool = self.allowed.get(name)?;
        match tool.spec.exposure {
            Exposure::Always | Exposure::Listed | Exposure::Deferred => Some(tool),
            Exposure::Hidden => None,
        }
    }
}

impl ToolIndex for ToolView {
    fn expansion(&self, names: &[String]) -> Expansion {
        let mut expansion = Expansion::default();
        for name in names {
            match self.findable(name) {
                Some(tool) if self.is_presented(&tool.spec) => {
                    expansion.selected.push(tool.spec.name.clone());
                }
                Some(tool) => expansion.expanded.push(tool.spec.name.clone()),
                None => expansion.invalid.push(name.clone()),
            }
        }
        for list in [&mut expansion.selected, &mut expansion.expanded] {
            list.sort_unstable();
            list.dedup();
        }
        expansion.invalid.sort_unstable();
        expansion.invalid.dedup();
        expansion.expandable = self
            .expandable()
            .map(|tool| tool.spec.name.clone())
            .filter(|name| !expansion.expanded.contains(name))
            .collect();
        expansion
    }

    fn search(&self, query: &str, limit: usize) -> Vec<ToolFound> {
        let admits = |name: &ToolName| !is_way_in(name) && self.findable(name.as_str()).is_some();
        self.ranked(query, limit, admits)
            .into_iter()
            .filter_map(|found| Some(self.found(self.findable(found.name.as_str())?, found.score)))
            .collect()
    }

    fn tools(&self) -> Vec<ToolFound> {
        self.visible().map(|tool| self.found(tool, 0.0)).collect()
    }

    fn tool(&self, name: &str) -> Option<ToolFound> {
        self.findable(name).map(|tool| self.found(tool, 0.0))
    }
}
