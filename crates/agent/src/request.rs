//! What a run is given, and how it ended.

use std::sync::Arc;

use outfitter_core::{
    AnswerKind, Interrupt, InterruptId, MessageId, RunId, RunOutcome, RunOutput, WarningCode,
};
use serde_json::Value;

use crate::workflow::WorkflowChoice;

/// What a run is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The words of a person: a new turn. An unfinished one is closed first.
    Prompt(String),
    /// Nothing: the unfinished turn goes on.
    Continue,
    /// An answer to what the turn waits for.
    Answer(Answered),
    /// Answers to several things that the turn waits for: all are taken, or none.
    Answers(Vec<Answered>),
}

/// What a run is given, and what it warns of at its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    /// What the run is given.
    pub input: Input,
    /// What a person should know of how it was asked for.
    pub notes: Vec<Note>,
    /// The id of the message that the words become, where a client has given it one that is new
    /// in the session; else one is made.
    pub message: Option<MessageId>,
    /// The workflow of the turn that new words begin. A turn that is gone on with keeps its own.
    pub workflow: TurnWorkflow,
    /// The id that a client gave the run, which its first entry keeps.
    pub client_run: Option<String>,
}

/// Who says which workflow a turn follows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TurnWorkflow {
    /// The configuration.
    #[default]
    AsConfigured,
    /// Who asks for the run.
    Asked(WorkflowChoice),
}

/// An answer that somebody gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// To which question.
    pub interrupt: InterruptId,
    /// The answer; `null` when it is called off or let expire.
    pub value: Value,
    /// How it came about.
    pub by: AnswerKind,
}

/// Something that a person should know of how a run was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub code: WarningCode,
    /// One sentence.
    pub message: String,
}

impl From<Input> for RunRequest {
    fn from(input: Input) -> Self {
        Self {
            input,
            notes: Vec::new(),
            message: None,
            workflow: TurnWorkflow::AsConfigured,
            client_run: None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// Which run.
    pub run: RunId,
    /// How.
    pub outcome: RunOutcome,
    /// What it gives.
    pub output: RunOutput,
    /// What it waits for, when it waits.
    pub waiting: Vec<Arc<Interrupt>>,
}
