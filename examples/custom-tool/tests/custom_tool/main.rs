//! The example from outside: its tools in a test's own context, and its program.

mod program;
mod tools;
