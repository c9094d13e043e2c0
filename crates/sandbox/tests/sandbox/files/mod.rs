//! The files of a session.

mod append;
mod bytes;
mod cancel;
mod copy;
mod denied;
mod escape;
mod find;
mod fuzz;
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
mod world;
mod write;
