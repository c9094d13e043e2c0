//! What a result means to a reader, drawn as text.
//!
//! A tool says what its result means, the codec makes a neutral tree of it, and this draws the
//! tree: plain words and aligned columns, so that it reads the same in a terminal, a pipe and a
//! log. Colour only sets off what the words say anyway.

mod cells;
mod draw;
mod page;
mod table;
#[cfg(test)]
mod tests;

pub(super) use draw::draw;
