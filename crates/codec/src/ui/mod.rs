//! What a result means to a reader, and what a renderer draws of it.
//!
//! A tool says it in `ui_hints`: a template, bound to its result. [`compile`] makes of both a
//! [`UiSchema`]: a small closed set of nodes, all of it data, bounded in size. It is pure and total:
//! the same output gives the same schema live, replayed and from a store, and hints that cannot be
//! used give a generic view and say why. `docs/protocols/ui-schema.md` is the protocol.

mod bind;
mod budget;
mod compile;
mod diff;
mod generic;
mod hints;
mod lines;
mod nodes;
mod schema;
mod templates;

pub use compile::{compile, compile_hints};
pub use generic::generic;
pub use schema::{
    Action, Cell, CellKind, ChartStyle, Column, Diagnostic, DiagnosticCode, DiffLine, DiffOp,
    Entry, Node, Point, Series, Tone, UI_VERSION, UiSchema, Version as UiVersion,
};

pub(crate) use hints::Hints;
