//! `#[tool]`: a function becomes a tool.
//!
//! ```ignore
//! /// The weather in a city, now.
//! #[tool(name = "get_weather")]
//! async fn get_weather(
//!     /// The name of the city, in any language.
//!     city: String,
//! ) -> serde_json::Value {
//!     serde_json::json!({ "city": city, "temp_c": 23 })
//! }
//!
//! let tool = get_weather::tool();
//! ```
//!
//! The function stays what it was. Beside it a type of the same name appears, whose `tool()` makes
//! the tool, and the tool registers itself with the program that links it.
//!
//! # What it is made of
//!
//! * **Arguments.** One parameter of a type with `Deserialize` and `JsonSchema` is the whole set of
//!   arguments; it is taken for one when it is the only parameter, has no doc comment of its own and
//!   is of no type of the standard library. Otherwise each parameter is an argument, its doc comment
//!   is its description, and `#[serde(…)]` and `#[schemars(…)]` on it mean what they mean on a field.
//!   Unknown arguments are refused either way.
//! * **Context.** A parameter `&ToolContext`, at any place, is no argument.
//! * **Description.** The doc comment of the function, unless `description` says otherwise.
//! * **What it returns.** Anything that serialises, `Reply`, `Outcome`, or a `Result` of these. An
//!   error that converts into `ToolError` keeps its code; one that only displays becomes `failed`.
//!
//! # Options
//!
//! `name = "…"`, `description = "…"`, `effects(read, write, write_outside, exec, network, message,
//! message_other)` (read unless told), `min_role = "guest" | "user" | "admin"`, `exposure = "always" |
//! "listed" | "deferred" | "hidden"`, `timeout_seconds = N`, `idempotent`, `keywords("…", …)`,
//! `output = Type` (its schema is the schema of the result), `register = false` (the tool is only made
//! by `tool()`), `crate = path`.
//!
//! # For crates that re-export it
//!
//! The code written here names everything through one module, `::outfitter::__private` or
//! `path::__private` with `crate = path`. It must be the module `outfitter_tools::__private`:
//! `pub use outfitter_tools::__private;` is all that is needed.

mod docs;
mod expand;
mod options;
mod signature;

use proc_macro::TokenStream;

/// Makes a tool of a function. The crate's page says how.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::tool(options.into(), &function.into()).into()
}
