//! The built-in tools from outside: what they say of themselves, and what they do.

#[cfg(test)]
mod files;
#[cfg(test)]
mod patterns;
#[cfg(test)]
mod run_command;
#[cfg(test)]
mod shell;
mod shell_output;
#[cfg(test)]
mod specs;
#[cfg(test)]
mod support;
#[cfg(test)]
mod todo;
mod web;
