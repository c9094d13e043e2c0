//! Contacts from a program of the project.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use outfitter_builtin::Contacts;
use outfitter_commands::{ProjectCli, TOOL};
use outfitter_core::{Reply, ToolContext, ToolError, ToolSource as _};
use serde_json::{Value, json};

/// The command of a program that knows contacts.
const COMMAND: &str = "contacts";

/// The programs, once they were asked what they can do.
pub(super) type Programs = Arc<OnceLock<Arc<ProjectCli>>>;

/// Asks the command `contacts`, for whoever calls: the program knows them by their credential.
pub(super) struct ProjectContacts {
    /// The program that is asked, and no other.
    pub(super) source: String,
    pub(super) programs: Programs,
    pub(super) max_results: usize,
}

impl ProjectContacts {
    /// A program that has no such subcommand: the fault is in no argument of the caller's.
    fn told(&self, what: &str, error: ToolError) -> ToolError {
        match error.info().path.as_deref() {
            Some("/subcommand") => ToolError::not_set_up(format!(
                "the program {} knows no {COMMAND} {what}",
                self.source
            )),
            Some(_) | None => error,
        }
    }
}

#[async_trait]
impl Contacts for ProjectContacts {
    async fn ask(&self, cx: &ToolContext, what: &str, args: Value) -> Result<Value, ToolError> {
        let programs = self.programs.get();
        let programs = programs
            .filter(|programs| programs.program_of(COMMAND).as_deref() == Some(&*self.source));
        let snapshot = programs.map(|programs| programs.snapshot());
        let tools = snapshot.iter().flat_map(|snapshot| &snapshot.tools);
        let mut tools = tools.filter(|tool| tool.spec().name.as_str() == TOOL);
        let Some(tool) = tools.next() else {
            return Err(ToolError::unavailable(format!(
                "the program {} has no command {COMMAND} now",
                self.source
            )));
        };
        let args = json!({ "command": COMMAND, "subcommand": what, "args": args });
        // As an agent would call it: what it may do is judged there, too.
        let facts = tool.facts_for(&cx.who, &args);
        let facts = facts.map_err(|error| self.told(what, error))?;
        if cx.who.role < facts.min_role || !facts.effects.read_only() {
            return Err(ToolError::not_set_up(format!(
                "{COMMAND} {what} of the program is nothing that only reads"
            )));
        }
        let reply = tool.call(cx, args).await;
        match reply.map_err(|error| self.told(what, error))? {
            Reply::Done(outcome) => match outcome.failed {
                None => Ok(outcome.result),
                Some(error) => Err(self.told(what, error.into())),
            },
            Reply::Wait(_) => Err(ToolError::internal("contacts do not wait")),
        }
    }

    fn max_results(&self) -> usize {
        self.max_results
    }
}
