//! The tools that every installation has: files, commands, the web, arithmetic and
//! the time.
//!
//! [`builtin_tools`] gives them by what the configuration says. Files and commands go through the
//! session's `Sandbox`; nothing here opens a path or starts a process by itself.

mod args;
mod ask_user;
mod calculator;
mod contacts;
mod current_time;
mod files;
mod given;
mod options;
mod pictures;
mod plugin_api;
mod questionnaire;
mod send_message;
mod set;
mod shell;
mod spec;
mod todo;
mod web;

pub use ask_user::AskUser;
pub use calculator::Calculator;
pub use contacts::{CONTACT_TOOLS, Contacts, GetFrequency, QueryPerson, SearchUsers};
pub use current_time::CurrentTime;
pub use files::{
    ApplyPatch, FileAccess, FileRead, FileUpdate, FileWrite, GlobFiles, Grep, ListDir,
};
pub use options::{BuiltinOptions, FilesOptions, ShellOptions, WebOptions};
pub use pictures::{AnalyzeImage, PageRenderer, PageToRender, RenderHtml2png, RenderedPage};
pub use plugin_api::{
    Api, ApiError, ApiSettings, ApiStatus, MAX_DOCUMENT_BYTES, Offer, PLUGIN_APIS, PluginApis,
    fetch_document, valid_api_name,
};
pub use questionnaire::Questionnaire;
pub use send_message::{Addressee, Letter, Messenger, PolishModel, Route, SendMessage, Taken};
pub use set::{builtin_tools, builtin_tools_beside};
pub use shell::{AwaitShell, ExecuteShellCommand, KillShell, RunCommand, ShellProgress};
pub use todo::{TodoLists, TodoRead, TodoWrite};
pub use web::{FetchWebpages, Fetcher};
