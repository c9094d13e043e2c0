//! The configuration: `outfitter.toml`, environment variables and flags, as one typed value that
//! knows where each part of it comes from.
//!
//! * [`sections`]: the keys, declared once.
//! * [`load()`]: flag over `OUTFITTER_SECTION__KEY` over alias over file over default, all problems
//!   at once.
//! * [`explain`], [`schema`], [`markdown()`]: the same keys for people, editors and the
//!   documentation.

mod apis;
mod catalogue;
mod connection_rows;
mod derived;
pub mod explain;
mod file;
mod kind;
mod layers;
mod load;
mod loaded;
mod markdown;
mod near;
mod paths;
mod problem;
mod reload;
mod remote;
mod repeats;
mod rule_rows;
mod sandbox_paths;
mod secret_like;
pub mod sections;
mod serve_address;
mod source;
mod there;
mod toml_value;
mod tool_rows;
mod unheld;
mod variable_word;
mod variables;
mod workflow_rows;

pub use catalogue::{Catalogue, Key, schema};
pub use file::FILE_NAME;
pub(crate) use load::gather;
pub use load::{FlagValue, Found, Request, load, look};
pub use loaded::{Loaded, StoreUrl};
pub use markdown::markdown;
pub use problem::{ConfigError, Problem};
pub(crate) use reload::planned;
pub use reload::{ReloadPlan, TakesEffect, takes_effect};
pub use sections::Config;
pub(crate) use serve_address::ServeAddress;
pub use source::{Position, Source};
pub(crate) use toml_value::write as written;
pub(crate) use variable_word::LastWord;
