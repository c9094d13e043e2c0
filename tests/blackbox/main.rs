//! The program against somebody who wants to break it: odd providers, signals, crashes, other
//! processes, files and commands that must not be reached. Everything is looked at from outside:
//! what it asks a provider for, what it prints, how it ends and what it leaves behind.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of a test that cannot go on says so"
)]

// what a test stands on
#[path = "../../crates/model/tests/model/fake.rs"]
#[expect(dead_code, reason = "the tests of the wires use the rest of it")]
mod fake;
mod lines;
mod process_tree;
mod provider;
mod requests;
#[path = "../../crates/sandbox/tests/sandbox/ssh/sshd.rs"]
mod sshd;
mod wire;
mod world;

// providers
mod calls;
mod failures;
mod replies;

// signals, crashes, other processes
mod concurrency;
mod crashes;
mod interrupts;

// what is asked for and what comes of it
mod demo;
mod direct;
mod edits;
mod help;
mod output;
mod prompts;
mod sessions;
mod settings;

// files and commands
mod confinement;
mod files;
mod jobs;
mod lost;
mod one_shot;
mod pictures;
mod remote;
mod remote_keys;
mod rules;
mod shell;
mod todo;
mod unanswered;
