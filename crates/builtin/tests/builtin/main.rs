//! The built-in tools from outside: what they say of themselves, and what they do.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation ends a test"
)]

#[cfg(test)]
mod files;
#[cfg(test)]
mod patterns;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod plugin_api;
#[cfg(test)]
mod run_command;
#[cfg(test)]
mod shell;
mod shell_artifacts;
#[cfg(test)]
mod shell_left;
mod shell_output;
mod shell_tasks;
#[cfg(test)]
mod specs;
#[cfg(test)]
mod support;
#[cfg(test)]
mod todo;
mod web;
mod web_hops;
mod web_pages;
