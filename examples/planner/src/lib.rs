//! A project's own command line: a calendar (`planner calendar read`, `write`) and contacts
//! (`planner contacts search`, `person`, `frequency`, `add`).
//!
//! It is an ordinary program, which people use by hand. It is also a *project CLI*: it describes
//! itself (`planner describe --json`), and what it is called with and answers keeps to
//! `docs/protocols/project-cli.md`, so an agent gets it as one tool. What is worth copying:
//!
//! * [`who`]: who calls is known from a credential that is checked on every call, and from nothing
//!   else. No argument says whose calendar it is.
//! * [`store`]: no row is read or written but by its owner; another's is not found.
//! * [`answer`]: one JSON document, an exit that goes with it, and a table for people's eyes.
//!
//! | variable | what it is |
//! |---|---|
//! | `PLANNER_DIR` | where the calendar and the contacts are kept |
//! | `PROJECT_CLI_TOKEN` | the credential |
//! | `PROJECT_CLI_JWKS_FILE` | the keys it is checked with |
//! | `PROJECT_CLI_AUDIENCE` | whom it must be for |

pub mod answer;
mod arguments;
mod calendar;
mod contacts;
mod describe;
mod fault;
mod human;
mod instant;
mod program;
mod rows;
pub mod store;
pub mod who;

pub use fault::{Fault, exit_of};
pub use program::{Io, main, main_from};
