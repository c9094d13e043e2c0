//! The words of Outfitter as types and traits.
//!
//! Everything an agent can do is a [`Tool`]; everything that offers tools is a [`ToolSource`];
//! every call ends in one [`ToolOutput`]; everything that happens is an [`Entry`] of one [`Log`],
//! told to clients as ordered [`Event`]s. This crate holds those words, canonical JSON and the
//! closed table of codes. It does no I/O and needs no runtime, so that third parties can implement
//! its traits without taking the rest.

mod any_value;
mod approval;
mod arguments;
mod artifact;
mod authority;
mod call;
mod canonical;
mod code;
mod context;
mod credential;
mod effects;
mod error;
mod event;
mod files;
mod grant;
mod history;
mod ids;
mod interrupt;
mod journal;
mod kept_specs;
mod known_paths;
mod log;
mod message;
mod mode;
mod model;
mod model_error;
mod objects;
mod outcome;
mod output;
mod policy;
mod principal;
mod program_secrets;
mod progress;
mod questionnaire;
mod sandbox;
mod secrets;
mod services;
mod source;
mod spec;
mod strict_json;
mod time;
mod tool;

pub use approval::{ApprovalScope, ApprovalStore, MAX_STANDING_APPROVALS, StandingApproval};
pub use arguments::{Arguments, Malformed, MalformedKind};
pub use artifact::{
    ArtifactChunk, ArtifactError, ArtifactInfo, ArtifactStore, NewArtifact, RefusingArtifacts,
};
pub use authority::SessionAuthority;
pub use call::{CallEnd, CallHost, CallHostError, EventSink, Listing, RawCall};
pub use canonical::{Hash, Hashing, canonical};
pub use code::Code;
pub use context::{Attended, Cancel, Deadline, ToolContext};
pub use credential::{Credential, CredentialError, CredentialIssuer, CredentialRequest};
pub use effects::{Effect, Effects};
pub use error::{ErrorInfo, ToolError, chain};
pub use event::{
    DeltaKind, Durability, Event, EventBody, RunOutcome, RunOutput, RunStarted, SandboxSummary,
    SubagentRef, SuggestedAction, TokenUsage, UsageSource, WarningCode,
};
pub use files::{
    Access, Becomes, Bytes, FileChange, FileChunk, FileEntry, FileKind, FileRef, FileStat, Files,
    FilesError, Glob, GlobFound, LeadsTo, List, Listed, NewMode, Put, PutMode, Range, Reach,
    Search, SearchFound, SearchHit, SearchMode, Walked, Written,
};
pub use grant::{Grant, NameSet, Pattern, Selection};
pub use history::{PastCalls, SessionHistory};
pub use ids::{
    ApprovalId, ArtifactId, CallId, InterruptId, InvalidId, JobId, MessageId, RunId, SessionId,
    SourceId, ToolName,
};
pub use interrupt::{Answer, AnswerKind, Audience, Interrupt, InterruptKind, OnExpiry};
pub use journal::{Journal, JournalError};
pub use kept_specs::{
    KeptSpecs, MAX_SPECS_BYTES, SourceStart, SpecCache, SpecKey, keep_specs, specs_difference,
};
pub use known_paths::KnownPaths;
pub use log::{
    Append, AppendError, Entry, EntryBody, EventSeq, Fence, Intent, Log, Mention, NewEntry, Page,
    PageRequest, RequestMade, Scope, Seq, SessionSummary, Sessions, StoreError, Stored,
    WorkflowInUse,
};
pub use message::{Message, MessageRole, Part, PartSource, ToolCall};
pub use mode::Mode;
pub use model::{
    ModelDelta, ModelInfo, ModelProvider, ModelRequest, ModelStream, ResponseFacts, StopReason,
    ToolCallDelta, ToolSchema,
};
pub use model_error::{ModelError, Phase};
pub use objects::{from_json_slice, from_json_str, from_json_value};
pub use outcome::{Ask, Outcome, OutcomeState, Reply, UiHints};
pub use output::{Projection, Status, ToolOutput, Truncated};
pub use policy::{CallFacts, CallingAgent, Decision, MAIN_AGENT, Onward, Policy, Verdict};
pub use principal::{Channel, IDENTITY_PARAMETERS, Principal, Role, StreamId, Subject, Tenant};
pub use program_secrets::{ProgramSecrets, secret_arguments, shown_arguments};
pub use progress::{Progress, ProgressSink, Stream};
pub use questionnaire::{
    ItemType, MAX_TEXT_ANSWER, Questionnaire, QuestionnaireItem, QuestionnaireKind,
};
pub use sandbox::{
    Account, CommandLine, CommandSpec, Exit, JobInfo, Killed, Level, Lost, Offset, OutputChunk,
    Refusal, Refused, RefusingSandbox, Sandbox, SandboxError, SandboxInfo, WorkspaceOf,
};
pub use secrets::{
    ArgumentsCarry, REDACTED, TextsShown, address_secrets, is_key_not_name, is_secret_key,
    names_a_secret, redact_addresses, redact_arguments, redact_passwords, redact_value,
};
pub use services::{Expansion, Services, ToolFound, ToolIndex, UsageMeter};
pub use source::{Fault, Generation, SourceSnapshot, ToolSource, Trust};
pub use spec::{Exposure, ToolSpec};
pub use strict_json::parse_strict;
pub use time::{Clock, SystemClock, UnixMs};
pub use tool::{Facts, SessionFacts, Targets, Tool, Unconfined};
