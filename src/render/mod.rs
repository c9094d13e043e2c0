//! What people see of a run.
//!
//! Everything here is pure: events and values in, pieces of text out, with colour and width as
//! values. Nothing writes, moves a cursor or redraws: what is shown stays, so that it reads the
//! same in a terminal, a pipe and a log.
//!
//! * [`Renderer`]: the events of a run, as they come.
//! * [`transcript()`]: the messages of a session.
//! * [`tables`]: lists of tools, sessions and skills.
//! * [`text`]: untrusted text made safe to print.

mod arguments;
mod block;
mod call;
mod closing;
mod face;
mod live;
mod outcome;
mod progress;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod text;
mod transcript;
mod ui;
mod units;
mod view;

pub use block::{Piece, To};
pub use face::{Colour, Face, Ink};
pub use live::Renderer;
pub use transcript::transcript;
pub use view::{Answer, Detail, Kind, View};
