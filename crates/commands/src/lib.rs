//! The programs of a project as one tool.
//!
//! Programs under `[commands.*]` say by `describe --json` what they can do. All of it together is one
//! tree behind one tool, `project_cli { command, subcommand, args }`. A call runs one program, without a
//! shell, in an environment built from nothing, under a supervisor that takes its whole tree down;
//! what it prints is held to what it said it would. `docs/protocols/project-cli.md` is the protocol.
//!
//! * [`ProgramSettings`]: what the operator says of a program. [`Host`]: what all of them are given.
//! * [`ProjectCli`]: the source. [`ProjectCli::describe`] asks the programs; listing never does.
//! * [`exit_of`]: the exit of a program by the code of its error, for programs that are written in
//!   Rust.
//!
//! * [`ProgramSettings::start`]: one may be asked at its first call, and what it offers is kept until
//!   then.
//!
//! The files follow a call: `describe` → `tree` → `spec` (what a model is told) → `invocation`
//! (arguments to flags and input) → `environment` → `run` → `document` (what it printed) → `outcome`.

mod call;
mod describe;
mod document;
mod environment;
mod exit;
mod host;
mod invocation;
mod jwks_file;
mod kept;
mod offer;
mod outcome;
mod program;
mod project_cli;
mod reserved;
mod run;
mod schema;
mod scratch;
mod scrub;
mod settings;
mod spec;
mod stderr_log;
mod subcommand;
mod tool;
mod tree;

pub use exit::exit_of;
pub use host::Host;
pub use offer::SkillsDir;
pub use project_cli::{CommandTaken, ProgramStatus, ProjectCli, SOURCE, TOOL};
pub use settings::{Credentials, ProgramSettings, SettingsError};
