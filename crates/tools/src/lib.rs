//! Everything an agent may call, and the one way to call it.
//!
//! * [`ToolRegistry`]: process-wide, every [source](outfitter_core::ToolSource) and every name.
//!   Registered is not authorised.
//! * [`ToolProxy`]: what one session may use, sealed by the registry; it can only be narrowed.
//! * [`ToolView`]: a proxy at one moment: what is shown to a model, what answers when it is called.
//! * [`Presentation`]: which tools are shown, where they are too many, and how the rest is found.
//! * [`Pipeline`]: the one path of every call, from the text of its arguments to the record of its
//!   one output. Each stage is a file and takes the value of the stage before.
//! * [`NativeSource`] and [`NativeTool`]: tools written in Rust, most of them with `#[tool]`.
//! * [`LazySource`]: tools that are listed before they are there, and made at their first call.
//! * [`read_artifact`]: the tool that gives back what the pipeline set aside.
//!
//! ```
//! use outfitter_core::{
//!     Attended, Grant, NameSet, Role, Selection, SessionFacts, SessionId, SourceId, ToolContext, Trust,
//! };
//! use outfitter_tools::{Found, NativeSource, ToolRegistry, tool};
//!
//! /// The weather in a city, now. Not for other days.
//! #[tool(crate = outfitter_tools, min_role = "user")]
//! async fn get_weather(
//!     /// The name of the city, in any language.
//!     city: String,
//! ) -> String {
//!     format!("sunny in {city}")
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = ToolRegistry::default();
//! let source = SourceId::new("mine")?;
//! registry.add(std::sync::Arc::new(NativeSource::new(
//!     source,
//!     Trust::Operator,
//!     vec![get_weather::tool()],
//! )))?;
//! assert!(registry.faults().is_empty());
//!
//! // What an administrator may use, narrowed to what this conversation is about.
//! let proxy = registry.seal(Grant::full(Role::Admin), Selection::default());
//! let proxy = proxy.narrow(Selection {
//!     tools: NameSet::of(["get_*"]),
//!     ..Selection::default()
//! });
//!
//! // The view of a guest, who may not call it and is not told of it.
//! let view = proxy.view(&SessionFacts {
//!     who: ToolContext::detached().who,
//!     session: SessionId::new("docs")?,
//!     attended: Attended::No, expanded: Default::default(), suggested: None,
//!     skills: Default::default(),
//! });
//! assert_eq!(view.presented().count(), 0);
//! assert_eq!(view.find("get_weather"), Found::NotPermitted);
//! assert_eq!(view.find("get_whether"), Found::Unknown(vec![]));
//! # Ok(())
//! # }
//! ```

mod about;
mod approvals;
mod changes;
mod coerce;
mod expand_tools;
mod input_schema;
mod lazy;
mod list_tools;
mod merged;
mod naming;
mod native;
mod pipeline;
mod policy;
mod presentation;
mod presets;
mod proxy;
mod read_artifact;
mod redact;
mod redact_stream;
mod registered;
mod registry;
mod returned;
mod run_handle;
mod schema_hint;
mod spec_check;
mod tool_search;
mod view;

#[doc(hidden)]
pub mod __private;

pub use about::TOOLS_ABOUT_TOOLS;
pub use approvals::{
    Approvals, ApprovedAlways, approval_answer, approval_scopes, approved_always, approved_for,
    approved_from_now_on, check_approval, may_approve_always,
};
pub use changes::ToolsSeen;
pub use expand_tools::expand_tools;
pub use input_schema::{input_schema, output_schema};
pub use lazy::{LazySource, StartTools};
pub use list_tools::{get_tool_schema, list_tools};
pub use naming::{InvalidPrefix, qualified_name, split_qualified, valid_prefix};
pub use native::{NativeSource, NativeTool};
pub use outfitter_core::{
    REDACTED, is_secret_key, names_a_secret, secret_arguments, shown_arguments,
};
pub use outfitter_macros::tool;
pub use pipeline::{
    Approval, Pipeline, PipelineOptions, arguments_hash, check_answer, fitting_answers, interrupted,
};
pub use policy::{
    BadRule, DefaultPolicy, Later, Rule, RuleArgs, RuleFault, RuleFindings, RuleUnchecked, Rules,
    Surroundings,
};
pub use presentation::{Candidate, Presentation, SUGGESTION_THRESHOLD, Suggestion, ToChoose};
pub use presets::{Preset, PresetContext, PresetFault, PresetFn, Presets};
pub use proxy::ToolProxy;
pub use read_artifact::read_artifact;
pub use redact::Redactor;
pub use redact_stream::ArgumentsCarry;
pub use registry::{SourceFault, SourceRefused, ToolRegistry, ToolsConfig, UnknownName};
pub use run_handle::RunHandle;
pub use tool_search::tool_search;
pub use view::{Found, ToolView};
