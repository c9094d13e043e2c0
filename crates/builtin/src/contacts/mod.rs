//! `search_users`, `query_person` and `get_frequency`: who there is to speak to, from a source of
//! the installation.
//!
//! - [`particles`]: what a keyword means without the words that only join others

mod frequency;
mod particles;
mod person;
mod search;

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Code, ToolContext, ToolError};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use frequency::GetFrequency;
pub use person::QueryPerson;
pub use search::SearchUsers;

/// The tools that ask for contacts.
pub const CONTACT_TOOLS: [&str; 3] = ["search_users", "query_person", "get_frequency"];

/// Where contacts come from. Whose they are, the source knows from who asks, and from nothing else.
#[async_trait]
pub trait Contacts: Send + Sync {
    /// Asks the source: `search { keyword, limit }` gives `{ users: [{ user_id, name, platform,
    /// stream_id? }] }` of those whose names, ids or groups have the keyword in them, `person
    /// { name }` gives `{ person_id, profile }`, `frequency { chat }` gives `{ value }`.
    ///
    /// # Errors
    /// What the source says, or that it is not there.
    async fn ask(&self, cx: &ToolContext, what: &str, args: Value) -> Result<Value, ToolError>;

    /// The most that one search finds.
    fn max_results(&self) -> usize;
}

fn source(cx: &ToolContext) -> Result<Arc<dyn Contacts>, ToolError> {
    cx.services.get::<dyn Contacts>().ok_or_else(|| {
        ToolError::not_set_up("there is no source of contacts")
            .with_hint("[contacts] source names the program of [commands] that is one")
    })
}

/// What the source answered, as it must be.
fn answer<T: DeserializeOwned>(value: Value) -> Result<T, ToolError> {
    outfitter_core::from_json_value(value).map_err(|error| {
        let why = format!("the source of contacts answered something else: {error}");
        ToolError::new(Code::ProtocolError, why)
    })
}

#[cfg(test)]
mod tests;
