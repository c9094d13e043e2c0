//! The files of a session.

mod append;
mod bytes;
mod cancel;
mod copy;
mod denied;
mod escape;
mod find;
mod list;
mod permissions;
mod race;
mod read;
mod repository;
mod ripgrep;
mod search;
mod stale;
mod startup;
mod world;
mod write;
