//! What an agent is made of, and how it behaves.

use std::sync::Arc;

use outfitter_core::{ArtifactStore, Clock, Log, ModelProvider, Services};
use outfitter_tools::Pipeline;

use crate::next::Limits;
use crate::progress::ProgressSettings;
use crate::prompt::CommonPrompt;
use crate::workflow::Workflows;

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
    /// What the model of every session is told first.
    pub system_prompt: CommonPrompt,
    /// What ends a turn that would go on.
    pub limits: Limits,
    /// Calls of one reply that run at once.
    pub max_tool_concurrency: usize,
    /// The workflows that a turn may follow.
    pub workflows: Arc<Workflows>,
    /// Whether it is asked what might be done next, once a turn has its answer.
    pub suggested_actions: bool,
    /// How progress is merged.
    pub progress: ProgressSettings,
}
