//! Which tools fit a turn, where there are too many to show.

use std::collections::BTreeSet;

use outfitter_core::{ModelError, ModelProvider, ToolName};
use outfitter_tools::{Suggestion, ToChoose, ToolView};

use crate::aside;
use crate::choose::{Choice, Words};
use crate::run::Run;
use crate::texts;

/// How long the list of tools may be that a model chooses from. Those that fit by their words come
/// first in it.
const MAX_LIST_BYTES: usize = 32_768;

impl Run<'_> {
    /// Chooses the tools of this turn, where that is needed.
    pub(crate) async fn choose_tools(
        &self,
        model: &dyn ModelProvider,
        words: &Words,
    ) -> Choice<Vec<ToolName>> {
        let view = self.view().await;
        let Some(choose) = view.to_choose() else {
            return Choice::nothing();
        };
        let words = words.all();
        match choose.by {
            Suggestion::Off | Suggestion::Lexical => Choice::of(view.fitting(&words, choose.most)),
            Suggestion::Model => Choice::asked(
                self.asked_for_tools(model, &view, &choose, &words).await,
                "tools, so they are those that fit by their words",
                || view.fitting(&words, choose.most),
            ),
        }
    }

    async fn asked_for_tools(
        &self,
        model: &dyn ModelProvider,
        view: &ToolView,
        choose: &ToChoose,
        words: &str,
    ) -> Result<Vec<ToolName>, ModelError> {
        let candidates = view.candidates(words, MAX_LIST_BYTES);
        let list: String = candidates
            .iter()
            .map(|tool| texts::choice(tool.name.as_str(), &tool.line))
            .collect();
        let question = texts::which_tools(choose.most, words, &list);
        let clock = &*self.parts.clock;
        let said = aside::ask(model, clock, &self.cancel, texts::ASK_FOR_TOOLS, question).await?;
        let names = aside::array_in(&said).ok_or_else(|| ModelError::Protocol {
            message: "the reply has no list of names".to_owned(),
        })?;
        let known: BTreeSet<&str> = candidates.iter().map(|tool| tool.name.as_str()).collect();
        let mut tools: Vec<ToolName> = Vec::new();
        let named = names.iter().filter_map(serde_json::Value::as_str);
        for name in named.filter(|name| known.contains(name)) {
            if let Ok(name) = ToolName::new(name)
                && tools.len() < choose.most
                && !tools.contains(&name)
            {
                tools.push(name);
            }
        }
        if tools.is_empty() && !names.is_empty() {
            return Err(ModelError::Protocol {
                message: "the reply names no tool of the list".to_owned(),
            });
        }
        Ok(tools)
    }
}
