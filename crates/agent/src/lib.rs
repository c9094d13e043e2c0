//! The loop: a configured [`Agent`], the [`Session`] it works on, and the runs it makes.
//!
//! What a turn does [`next`] is a pure function of its entries ([`TurnLog`]); a live run, a resumed
//! one and a recovery all ask it. A run has one writer: what it records is stored first and shown
//! then, in one order, to one bounded [`EventQueue`] per subscriber.

mod actions;
mod agent;
mod answers;
mod aside;
mod calls;
mod choose;
mod deletion;
mod direct;
mod emitter;
mod entries;
mod error;
mod failures;
mod follow_up;
mod history;
mod host;
mod inbox;
mod meter;
mod mode;
mod model_call;
mod model_turn;
mod next;
mod parts;
mod progress;
mod prompt;
mod queue;
mod recover;
mod request;
mod route;
mod run;
mod session;
mod standing;
mod start;
mod suggest;
mod texts;
mod turn_log;
mod usage;
mod workflow;
mod writer;

pub use actions::{MAX_COMMAND_CHARS, MAX_LABEL_CHARS, MAX_PROMPT_CHARS, MAX_SUGGESTED_ACTIONS};
pub use agent::{Agent, PartsSwitch};
pub use deletion::{Belongings, DeleteError, Deletion, LeftBehind, Mark, Stays};
pub use entries::{ENTRIES_AT_ONCE, all_sessions, each_entry, event_of};
pub use error::{AnswerError, RunError};
pub use host::{Host, SessionSource};
pub use inbox::{Inbox, LetterFrom, Received};
pub use mode::told_of_mode;
pub use next::{Limits, Next, ReadyCall, Start, next};
pub use parts::{AgentParts, AgentSettings};
pub use progress::ProgressSettings;
pub use prompt::{CommonPrompt, Section, SectionName, SystemPrompt};
pub use queue::{EventQueue, NoSubscriber, passing_text};
pub use recover::is_end_of_broken_off;
pub use request::{Answered, Input, Note, RunEnd, RunRequest, TurnWorkflow};
pub use session::{Session, SessionGuard, Told};
pub use standing::Standing;
pub use turn_log::TurnLog;
pub use workflow::{
    MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS, MAX_STEP_CHARS, MAX_STEPS, MAX_WORKFLOWS, MIN_SCORE,
    Workflow, WorkflowChoice, Workflows,
};
