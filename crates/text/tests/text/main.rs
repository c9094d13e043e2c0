//! What the text crate promises, as seen from outside.

mod ansi;
mod binary;
mod decode;
mod fuzz;
mod head_tail;
mod legacy;
mod lines;
mod utf8;
