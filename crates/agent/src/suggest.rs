//! Which tools fit a turn, where there are too many to show: looked at once, and kept in the log.

use std::collections::BTreeSet;

use outfitter_core::{
    EntryBody, EventBody, Journal as _, JournalError, MessageRole, ModelError, ToolName,
    WarningCode,
};
use outfitter_tools::{Suggestion, ToChoose, ToolView};

use crate::aside;
use crate::run::Run;
use crate::start::warning;
use crate::turn_log::TurnLog;

/// The prompts that tools are chosen by.
const PROMPTS: usize = 5;

/// How much of each prompt is looked at.
const MAX_PROMPT_BYTES: usize = 2_000;

/// How long the list of tools may be that a model chooses from. Those that fit by their words come
/// first in it.
const MAX_LIST_BYTES: usize = 32_768;

const ASK_FOR_TOOLS: &str = "You choose tools for an assistant. You are given the last requests of \
    a person and a list of tools, each with its name and what it does. Answer with a JSON array of \
    the exact names of the tools that the assistant is likely to need, the most needed first, and \
    with nothing else.";

impl Run<'_> {
    /// Chooses the tools of this turn, where that is needed and not done yet.
    pub(crate) async fn choose_tools(&self, view: &ToolView) -> Result<(), JournalError> {
        let Some(choose) = view.to_choose() else {
            return Ok(());
        };
        // A turn that was begun goes on with what it was shown.
        let words = self
            .writer
            .folded(|log| log.may_choose_tools().then(|| last_prompts(log)))
            .await;
        let Some(words) = words else { return Ok(()) };
        let mut entries = Vec::new();
        let tools = match choose.by {
            Suggestion::Off | Suggestion::Lexical => view.fitting(&words, choose.most),
            Suggestion::Model => match self.asked_for_tools(view, &choose, &words).await {
                Ok((tools, usage)) => {
                    entries.push(EntryBody::Event(EventBody::Usage(usage)));
                    tools
                }
                Err(ModelError::Cancelled) => return Ok(()),
                Err(error) => {
                    let message = format!(
                        "the model did not choose tools, so they are those that fit by their \
                         words: {}",
                        error.to_info().message
                    );
                    entries.push(warning(WarningCode::Fallback, message));
                    view.fitting(&words, choose.most)
                }
            },
        };
        entries.push(EntryBody::Suggested(tools));
        self.writer.record(entries).await
    }

    async fn asked_for_tools(
        &self,
        view: &ToolView,
        choose: &ToChoose,
        words: &str,
    ) -> Result<(Vec<ToolName>, outfitter_core::TokenUsage), ModelError> {
        let candidates = view.candidates(words, MAX_LIST_BYTES);
        let list: String = candidates
            .iter()
            .map(|tool| format!("- {}: {}\n", tool.name, tool.line))
            .collect();
        let question = format!(
            "Choose at most {}.\n\nThe requests:\n{words}\n\nThe tools:\n{list}",
            choose.most
        );
        let said = aside::ask(
            &*self.parts.model,
            &*self.parts.clock,
            &self.cancel,
            ASK_FOR_TOOLS,
            question,
        )
        .await?;
        let names = aside::array_in(&said.text).ok_or_else(|| ModelError::Protocol {
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
        Ok((tools, said.usage))
    }
}

/// The last words of the person, the last first.
fn last_prompts(log: &TurnLog) -> String {
    let said = log.history.iter().rev().map(|exchange| &exchange.message);
    let said = said.filter(|message| message.role == MessageRole::User);
    let prompts: Vec<String> = said
        .take(PROMPTS)
        .map(|message| {
            let text = message.content();
            text[..text.floor_char_boundary(MAX_PROMPT_BYTES)].to_owned()
        })
        .collect();
    prompts.join("\n")
}
