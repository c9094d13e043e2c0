//! The files of a session.

mod append;
mod bytes;
mod cancel;
mod conformance;
mod copy;
pub(crate) mod denied;
mod escape;
mod find;
mod fuzz;
mod leads;
mod left;
mod list;
mod odd;
mod permissions;
mod quota;
mod race;
mod read;
mod repository;
mod ripgrep;
mod search;
mod stale;
mod startup;
mod subjects;
pub(crate) mod world;
mod write;
