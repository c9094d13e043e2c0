//! Pure text work: what a model reads is counted, bounded and cleaned here.
//!
//! * [`tokens`]: how many tokens a text is, with tables that load only when they are needed.
//! * [`close_names`], [`nearest_name`]: the names that were perhaps meant by one that is none.
//! * [`is_invisible`]: characters that show nothing, or another order than there is.
//! * [`head_tail`]: a text cut to a budget, with a marker that says exactly what is left out.
//! * [`utf8`]: bytes that arrive in pieces, decoded into whole characters.
//! * [`ansi`]: terminal output folded to what a reader would see.
//! * [`binary`]: whether output is text at all.
//! * [`decode`], [`legacy`]: bytes as text, whatever encoding they are in.
//! * [`lines`]: a stream bounded while it flows, equal to bounding the whole.
//! * [`output`]: the four above in a row, for the output of a command.
//! * [`stream_pattern`]: a regular expression looked for in a stream that is still coming.
//! * [`command_line`]: what a line for a shell runs, and whether it only reads.
//! * [`patch`]: patches read and applied, in both of the forms that models write.
//! * [`words`]: a text as the words it is searched by, Chinese too.
//! * [`bm25`]: many short texts ranked by a query, with the reasons.
//!
//! Nothing here does I/O, needs a runtime or knows another crate of the workspace.

pub mod ansi;
pub mod binary;
pub mod bm25;
mod close_names;
pub mod command_line;
pub mod decode;
pub mod head_tail;
mod invisible;
pub mod legacy;
pub mod lines;
pub mod output;
pub mod patch;
pub mod regular_file;
pub mod stream_pattern;
pub mod tokens;
pub mod utf8;
pub mod words;

pub use close_names::{close_names, nearest_name};
pub use invisible::{is_deceptive, is_invisible, without_invisible};
