//! A configured loop.

use std::sync::Arc;

use outfitter_core::{
    ArtifactStore, CallEnd, Cancel, Clock, EventSink, Interrupt, Log, MessageId, ModelProvider,
    RawCall, RunId, RunOutcome, RunOutput, Services, WarningCode,
};
use outfitter_tools::Pipeline;

use crate::answers::{self, Answered};
use crate::next::Limits;
use crate::progress::ProgressSettings;
use crate::run::Run;
use crate::session::{Session, Sessions};
use crate::{RunError, TurnLog};

/// What an agent is made of.
#[derive(Clone)]
pub struct AgentParts {
    /// What answers.
    pub model: Arc<dyn ModelProvider>,
    /// What calls go down.
    pub pipeline: Arc<Pipeline>,
    /// Where sessions are kept.
    pub log: Arc<dyn Log>,
    /// Where large content is kept.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Optional seams for tools.
    pub services: Services,
    /// How it behaves.
    pub settings: AgentSettings,
}

/// How an agent behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// What the model is told first.
    pub system_prompt: Arc<str>,
    /// What ends a turn that would go on.
    pub limits: Limits,
    /// Calls of one reply that run at once.
    pub max_tool_concurrency: usize,
    /// How progress is merged.
    pub progress: ProgressSettings,
}

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

/// A configured loop. Runs of different sessions may be made at once.
pub struct Agent {
    pub(crate) parts: AgentParts,
    pub(crate) sessions: Arc<Sessions>,
}

impl Agent {
    /// An agent of these parts.
    #[must_use]
    pub fn new(parts: AgentParts) -> Self {
        Self {
            parts,
            sessions: Arc::default(),
        }
    }

    /// What it is made of.
    #[must_use]
    pub fn parts(&self) -> &AgentParts {
        &self.parts
    }

    /// Makes one run. Its events go to `events`; the last of them says how it ended, and so does
    /// what this gives.
    ///
    /// # Errors
    /// [`RunError`] when there is no run, or its end could not be recorded. A run that fails is
    /// no error.
    pub async fn run(
        &self,
        session: &Session,
        request: impl Into<RunRequest>,
        cancel: Cancel,
        events: Arc<dyn EventSink>,
    ) -> Result<RunEnd, RunError> {
        let request = request.into();
        let mut taken = self.sessions.take(session.scope(), session.id.clone())?;
        let log = taken.read(&*self.parts.log).await?;
        let now = self.parts.clock.now();
        if let Err(error) = answers::acceptable(&log, session, &request.input, now) {
            taken.keep(log);
            return Err(error);
        }
        let run = Run::new(&self.parts, session, cancel, events, log);
        let end = run.go(request).await?;
        taken.keep(run.into_log().await);
        Ok(end)
    }

    /// Makes one call without a model: down the same pipeline, into the same log.
    ///
    /// # Errors
    /// [`RunError`] when there is no run, or its end could not be recorded. Also an unknown or
    /// refused call ends in an output.
    pub async fn call(
        &self,
        session: &Session,
        call: RawCall,
        cancel: Cancel,
        events: Arc<dyn EventSink>,
    ) -> Result<CallEnd, RunError> {
        let mut taken = self.sessions.take(session.scope(), session.id.clone())?;
        let log = taken.read(&*self.parts.log).await?;
        let run = Run::new(&self.parts, session, cancel, events, log);
        let end = run.call_directly(call).await?;
        taken.keep(run.into_log().await);
        Ok(end)
    }

    /// What the log says of a session's conversation.
    ///
    /// # Errors
    /// [`RunError::Busy`] while a run is under way, [`RunError::Store`].
    pub async fn conversation(&self, session: &Session) -> Result<TurnLog, RunError> {
        let mut taken = self.sessions.take(session.scope(), session.id.clone())?;
        let log = taken.read(&*self.parts.log).await?;
        taken.keep(log.clone());
        Ok(log)
    }
}
