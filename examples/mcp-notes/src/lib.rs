//! An MCP server that keeps notes: `add`, `list`, `get` and `delete`, over standard input and
//! output.
//!
//! It is the server of the demo, and shows what a server of one's own is: a store that knows nothing
//! of the protocol ([`Notes`]), and a handler that says what it offers ([`NotesServer`]). In the
//! configuration of Outfitter:
//!
//! ```toml
//! [mcp.servers.notes]
//! command = "mcp-notes"
//! args = ["--file", "notes.json"]
//! ```
//!
//! Its tools are then `notes__add`, `notes__list`, `notes__get` and `notes__delete`.

mod handler;
mod notes;
mod serve;

pub use handler::NotesServer;
pub use notes::{Note, Notes, NotesError, Summary};
pub use serve::{ServeError, serve};
