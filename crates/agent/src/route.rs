//! Which workflow a turn follows.

use outfitter_core::{ModelError, ModelProvider, WorkflowInUse};

use crate::aside;
use crate::choose::{Choice, Words};
use crate::follow_up::goes_on;
use crate::request::TurnWorkflow;
use crate::run::Run;
use crate::texts;
use crate::workflow::{Workflow, WorkflowChoice};

/// How much of a description is told to who chooses.
const MAX_LINE_CHARS: usize = 400;

impl Run<'_> {
    /// Chooses the workflow of this turn.
    pub(crate) async fn choose_workflow(
        &self,
        model: &dyn ModelProvider,
        wanted: TurnWorkflow,
        words: &Words,
        so_far: Option<&Option<String>>,
    ) -> Choice<Option<WorkflowInUse>> {
        let workflows = &self.parts.settings.workflows;
        let choice = match &wanted {
            TurnWorkflow::AsConfigured => workflows.choice(),
            TurnWorkflow::Asked(choice) => choice,
        };
        let fitting = || workflows.fitting(&words.last).map(Workflow::in_use);
        match choice {
            WorkflowChoice::Off => match wanted {
                // Nothing to record: it is as if there were no workflows.
                TurnWorkflow::AsConfigured => Choice::nothing(),
                TurnWorkflow::Asked(_) => Choice::of(None),
            },
            WorkflowChoice::Named(name) => Choice::of(workflows.get(name).map(Workflow::in_use)),
            WorkflowChoice::Lexical | WorkflowChoice::Model if workflows.all().is_empty() => {
                Choice::of(None)
            }
            // It says nothing that anybody could choose by: as it is now, or none if it is gone.
            WorkflowChoice::Lexical | WorkflowChoice::Model
                if so_far.is_some() && goes_on(&words.last) =>
            {
                let kept = so_far.and_then(Option::as_deref);
                Choice::of(
                    kept.and_then(|name| workflows.get(name))
                        .map(Workflow::in_use),
                )
            }
            WorkflowChoice::Lexical => Choice::of(fitting()),
            WorkflowChoice::Model => Choice::asked(
                self.asked_for_workflow(model, words).await,
                "a workflow, so it is the one that fits by its words, if one does",
                fitting,
            ),
        }
    }

    async fn asked_for_workflow(
        &self,
        model: &dyn ModelProvider,
        words: &Words,
    ) -> Result<Option<WorkflowInUse>, ModelError> {
        let workflows = &self.parts.settings.workflows;
        let list: String = workflows
            .all()
            .iter()
            .map(|workflow| texts::choice(&workflow.name, &line(&workflow.description)))
            .collect();
        let words = words.all();
        let question = texts::which_workflow(&words, &list);
        let clock = &*self.parts.clock;
        let said = aside::ask(
            model,
            clock,
            &self.cancel,
            texts::ASK_FOR_WORKFLOW,
            question,
        )
        .await?;
        let wrong = |message: &str| ModelError::Protocol {
            message: message.to_owned(),
        };
        let names = aside::array_in(&said)
            .ok_or_else(|| wrong("the reply has no list with a name or none"))?;
        match names.first() {
            None => Ok(None),
            Some(name) => name
                .as_str()
                .and_then(|name| workflows.get(name.trim()))
                .map(|workflow| Some(workflow.in_use()))
                .ok_or_else(|| wrong("the reply names no workflow of the list")),
        }
    }
}

/// A description on one line.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MAX_LINE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_is_a_short_line() {
        assert_eq!(line(" a\n\n b "), "a b");
        assert_eq!(line(&"汉".repeat(1_000)).chars().count(), MAX_LINE_CHARS);
    }
}
