//! The program from outside: arguments, files and variables in; stdout, stderr and status out.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test that cannot go on says so"
)]

mod arguments;
mod calls;
mod config;
mod config_layers;
mod configuration_doc;
mod connections;
mod direct;
mod doctor;
mod documents;
mod effects;
mod errors;
mod init;
mod keys;
mod ledger;
mod mended;
mod names;
mod nearest;
mod newcomer;
mod rules;
mod serving;
mod skills;
mod slow;
mod told;
mod tool_format;
mod unworkable;
mod world;
