//! What is chosen for a turn before its first request: the tools that are shown where there are too
//! many, and the workflow that it follows. Looked at once a turn, and kept in the log with the words
//! that it was chosen for: whoever goes on with the turn goes on with that.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{
    EntryBody, EventBody, MessageRole, ModelError, ToolName, WarningCode, WorkflowInUse,
};

use crate::meter::{Meter, Metered};
use crate::request::TurnWorkflow;
use crate::run::Run;
use crate::start::warning;
use crate::turn_log::TurnLog;

/// The prompts that are looked at.
const PROMPTS: usize = 5;

/// How much of each is.
const MAX_PROMPT_BYTES: usize = 2_000;

/// What is looked at to choose by.
pub(crate) struct Words {
    /// The last words of the person.
    pub(crate) last: String,
    /// Those before them, the last first.
    before: Vec<String>,
}

impl Words {
    /// The words of a turn that begins with `new`, the oldest first.
    pub(crate) fn of_new_turn(log: &TurnLog, mut new: Vec<String>) -> Self {
        let last = new.pop().unwrap_or_default();
        let before = new.into_iter().rev().chain(said_before(log));
        Self {
            last,
            before: before.take(PROMPTS - 1).collect(),
        }
    }

    /// The words of the turn that the log ends with.
    pub(crate) fn of_turn(log: &TurnLog) -> Self {
        let mut said = said_before(log);
        Self {
            last: said.next().unwrap_or_default(),
            before: said.take(PROMPTS - 1).collect(),
        }
    }

    /// All of them, each cut to a bound, the last first.
    pub(crate) fn all(&self) -> String {
        let prompts = std::iter::once(&self.last).chain(&self.before);
        let cut = prompts.map(|text| &text[..text.floor_char_boundary(MAX_PROMPT_BYTES)]);
        cut.collect::<Vec<_>>().join("\n")
    }
}

/// What the person said so far, the last first.
fn said_before(log: &TurnLog) -> impl Iterator<Item = String> {
    let said = log.history.iter().rev().map(|exchange| &exchange.message);
    said.filter(|message| message.role == MessageRole::User)
        .map(|message| message.content())
}

/// What still has to be chosen, and by which words.
pub(crate) struct Open {
    pub(crate) words: Words,
    pub(crate) tools: bool,
    pub(crate) workflow: Option<TurnWorkflow>,
    /// The workflow of the turn before, where there was one: none where that followed none.
    pub(crate) so_far: Option<Option<String>>,
}

/// What was chosen.
#[derive(Default)]
pub(crate) struct Chosen {
    /// The tools that fit, where they were looked for.
    pub(crate) tools: Option<Vec<ToolName>>,
    /// The workflow that fits, if one does, where one was looked for.
    pub(crate) workflow: Option<Option<WorkflowInUse>>,
    /// What a person should know of it.
    pub(crate) warnings: Vec<EntryBody>,
    /// What it used of the model.
    used: Vec<EntryBody>,
}

impl Chosen {
    /// The tools that are shown from now on, where that has changed.
    pub(crate) fn suggested(&self) -> Option<Arc<BTreeSet<ToolName>>> {
        let tools = self.tools.as_ref()?;
        Some(Arc::new(tools.iter().cloned().collect()))
    }

    /// The name of the workflow.
    pub(crate) fn workflow_name(&self) -> Option<String> {
        let chosen = self.workflow.as_ref()?.as_ref()?;
        Some(chosen.name.clone())
    }

    /// What is recorded of it in the turn, behind its words.
    pub(crate) fn entries(self) -> impl Iterator<Item = EntryBody> {
        let tools = self.tools.map(EntryBody::Suggested);
        let workflow = self.workflow.map(EntryBody::Workflow);
        self.used.into_iter().chain(tools).chain(workflow)
    }
}

impl Run<'_> {
    /// Chooses what is open.
    pub(crate) async fn choose(&self, open: Open) -> Chosen {
        let meter = Arc::new(Meter::default());
        let model = Metered {
            model: self.parts.model.clone(),
            meter: meter.clone(),
        };
        let tools = async {
            match open.tools {
                true => self.choose_tools(&model, &open.words).await,
                false => Choice::nothing(),
            }
        };
        let workflow = async {
            match open.workflow {
                Some(wanted) => {
                    let so_far = open.so_far.as_ref();
                    self.choose_workflow(&model, wanted, &open.words, so_far)
                        .await
                }
                None => Choice::nothing(),
            }
        };
        let (tools, workflow) = tokio::join!(tools, workflow);
        let warnings = [tools.warning, workflow.warning];
        Chosen {
            tools: tools.made,
            workflow: workflow.made,
            warnings: warnings.into_iter().flatten().collect(),
            used: usage(&meter).collect(),
        }
    }
}

/// What a meter counted, as events.
pub(crate) fn usage(meter: &Meter) -> impl Iterator<Item = EntryBody> {
    let used = meter.take().into_iter();
    used.map(|used| EntryBody::Event(EventBody::Usage(used)))
}

/// A choice that was made, or not yet, and what is to be said of it.
pub(crate) struct Choice<T> {
    pub(crate) made: Option<T>,
    pub(crate) warning: Option<EntryBody>,
}

impl<T> Choice<T> {
    /// It stays open.
    pub(crate) fn nothing() -> Self {
        Self {
            made: None,
            warning: None,
        }
    }

    pub(crate) fn of(made: T) -> Self {
        Self {
            made: Some(made),
            warning: None,
        }
    }

    /// What the model said, or the words where it said nothing that helps; `what` was not chosen.
    pub(crate) fn asked(
        said: Result<T, ModelError>,
        what: &str,
        instead: impl FnOnce() -> T,
    ) -> Self {
        match said {
            Ok(made) => Self::of(made),
            // The run is about to end. Whoever goes on with the turn may choose.
            Err(ModelError::Cancelled) => Self::nothing(),
            Err(error) => {
                let why = error.to_info().message;
                let message = format!("the model did not choose {what}: {why}");
                Self {
                    made: Some(instead()),
                    warning: Some(warning(WarningCode::Fallback, message)),
                }
            }
        }
    }
}
