//! The command line.
//!
//! stdout is data, stderr is for people. A failure is one line `error: failed to …` and at most one
//! line `hint: …` on stderr; with `--json` also one document `{"v":1,"error":{…}}` on stdout. The
//! exit status is that of the failure's code. A closed stdout ends a command quietly.
//!
//! * [`args`]: the commands and options as types.
//! * [`failure`], [`output`]: how a command fails and where it writes.

mod approvals;
pub mod args;
mod artifacts;
mod ask;
mod chat;
mod config;
mod demo;
mod doctor;
mod documents;
pub mod failure;
mod failure_from;
mod form;
mod idle;
mod init;
mod lacking;
mod lines;
pub mod output;
mod reload;
mod run;
mod sandbox_notes;
mod schemas;
mod serve;
mod session;
mod sessions;
mod skills;
mod stopping;
mod tool_format;
mod tools;
mod usage;
mod viewer;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;
use outfitter_core::Code;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::Builder;
use crate::config::sections::Load;
use crate::config::{Config, ConfigError, FlagValue, Found, Loaded, Problem, Request};
use crate::env::Environment;
use crate::outfit::{BuildError, KeyFault, Outfitter};
use args::{Cli, Command, Global};
use failure::{Failure, Stop};
use output::Output;
use usage::Said;

pub use schemas::schema_files;

/// What every command is given.
pub(crate) struct Invocation<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) global: &'a Global,
    pub(crate) out: Output,
    /// What the program adds to the whole.
    pub(crate) customise: Customise<'a>,
}

/// What a program adds to the whole.
pub type Customise<'a> = &'a dyn Fn(Builder) -> Builder;

impl Invocation<'_> {
    /// The configuration, with what the command's own flags say.
    pub(crate) fn load(&self, flags: Vec<FlagValue>) -> Result<Loaded, ConfigError> {
        let (loaded, problems) = self.gather(flags)?;
        match problems.is_empty() {
            true => Ok(loaded),
            false => Err(ConfigError::Problems(problems)),
        }
    }

    /// The same with all that is wrong with it; where something is, also with its names, which are
    /// otherwise looked at once everything is put together.
    fn gather(&self, flags: Vec<FlagValue>) -> Result<(Loaded, Vec<Problem>), ConfigError> {
        let (loaded, mut problems) = crate::config::gather(self.env, &self.request(flags))?;
        if !problems.is_empty() {
            problems.extend(self.wrong_names(&loaded));
            problems.sort_by_key(|problem| problem.at.order());
        }
        Ok((loaded, problems))
    }

    /// The same, with what is named and is not on this machine.
    pub(crate) fn look(&self) -> Result<Found, ConfigError> {
        let mut found = crate::config::look(self.env, &self.request(Vec::new()))?;
        found.problems.extend(self.wrong_names(&found.loaded));
        found.problems.sort_by_key(|problem| problem.at.order());
        Ok(found)
    }

    fn request(&self, flags: Vec<FlagValue>) -> Request {
        Request {
            file: self.global.config.clone(),
            flags,
        }
    }

    /// The whole, to look at what names mean: without those that mean nothing. None where it cannot
    /// be put together.
    pub(crate) fn build_for_names(&self, loaded: &Loaded) -> Option<Outfitter> {
        let mut config = loaded.config.clone();
        // Their place is not looked at.
        let nowhere = std::path::PathBuf::from("/nonexistent");
        config.store.data_dir.get_or_insert(nowhere);
        let wrong = match self.builder(config.clone()).build() {
            Ok(whole) => return Some(whole),
            Err(BuildError::Names(wrong)) => wrong,
            Err(_) => return None,
        };
        // What names nothing is said already; without it, the rest can be looked at.
        for fault in &wrong {
            leave_out(&mut config, &fault.key);
        }
        self.builder(config).build().ok()
    }

    /// What the names in a configuration are that mean nothing.
    fn wrong_names(&self, loaded: &Loaded) -> Vec<Problem> {
        let mut config = loaded.config.clone();
        config.store.data_dir.get_or_insert("/nonexistent".into());
        match self.builder(config).build() {
            Err(BuildError::Names(faults)) => at_their_places(&faults, loaded),
            Ok(_) | Err(_) => Vec::new(),
        }
    }
}

/// Leaves out of a configuration what a key names. Items of lists become empty, so that the others
/// keep their places.
fn leave_out(config: &mut Config, key: &str) {
    let steps: Vec<&str> = key.splitn(3, '.').collect();
    let [section, name, rest] = steps.as_slice() else {
        return;
    };
    let skills = &mut config.skills;
    let list = match (*section, *name, &mut skills.load) {
        ("tools", "available", _) => &mut config.tools.available,
        ("skills", "available", _) => &mut skills.available,
        ("skills", "load", Load::Names(names)) => names,
        ("tools", "aliases", _) => return drop(config.tools.aliases.remove(*rest)),
        ("tools", "presets", _) => {
            let tool = rest.split('.').next().unwrap_or(rest);
            return drop(config.tools.presets.remove(tool));
        }
        _ => return,
    };
    let place = rest.parse().ok();
    if let Some(item) = place.and_then(|place: usize| list.get_mut(place)) {
        item.clear();
    }
}

/// Faults of keys as problems, each at its place.
pub(crate) fn at_their_places(faults: &[KeyFault], loaded: &Loaded) -> Vec<Problem> {
    let problem = |fault: &KeyFault| {
        let at = loaded.nearest_source(&fault.key).clone();
        Problem::about(at, &fault.key, &fault.why)
    };
    faults.iter().map(problem).collect()
}

/// Runs the program, from the arguments to the exit status.
#[must_use]
pub fn main(customise: Customise<'_>) -> ExitCode {
    outfitter_process::run_if_supervisor();
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Some(exit) = crate::helpers::run_if_helper(&args) {
        return exit;
    }
    match Environment::capture() {
        Ok(env) => run(&env, &args, customise),
        Err(error) => {
            let doing = "find the current directory";
            let failure = Failure::because(Code::Unavailable, doing, &error);
            let out = Output::of_process(&Environment::default());
            report(&out, wants_json(&args), failure.into())
        }
    }
}

/// Runs the program with these arguments, the first of which is its name.
#[must_use]
pub fn run(env: &Environment, args: &[OsString], customise: Customise<'_>) -> ExitCode {
    let out = Output::of_process(env);
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let stop = match usage::said(&error, args) {
                Said::Text(text) => match out.data(&text) {
                    Ok(()) => return ExitCode::SUCCESS,
                    Err(stop) => stop,
                },
                Said::Mistake(failure) => failure.into(),
            };
            return report(&out, wants_json(args), stop);
        }
    };
    log_to_stderr(&cli.global);
    let at = Invocation {
        env,
        global: &cli.global,
        out,
        customise,
    };
    dispatch(&at, &cli.command).unwrap_or_else(|stop| report(&out, cli.global.json, stop))
}

fn dispatch(at: &Invocation<'_>, command: &Command) -> Result<ExitCode, Stop> {
    match command {
        Command::Demo(_) => demo::run(at),
        Command::Run(args) => run::run(at, args),
        Command::Chat(args) => chat::run(at, args),
        Command::Serve(args) => serve::run(at, args),
        Command::Tools(args) => tools::run(at, &args.command),
        Command::Skills(args) => skills::run(at, &args.command),
        Command::Sessions(args) => sessions::run(at, &args.command),
        Command::Artifacts(args) => artifacts::run(at, &args.command),
        Command::Approvals(args) => approvals::run(at, &args.command),
        Command::Config(args) => config::run(at, &args.command),
        Command::Doctor(_) => doctor::run(at),
        Command::Init(_) => init::run(at),
    }
}

/// What operators read, on stderr: only what is wrong, or with `-v` what happens too.
fn log_to_stderr(global: &Global) {
    let level = if global.verbose {
        tracing::Level::INFO
    } else {
        tracing::Level::ERROR
    };
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .finish();
    // The library of MCP calls it an error of its own whenever a client goes away before its answer.
    let verbose = global.verbose;
    let told = filter_fn(move |about| verbose || about.target() != "rmcp::service");
    // A second call, as in tests of one process, changes nothing.
    let _ = lines.with(told).try_init();
}

/// Whether `--json` was asked for, where the arguments could not be read.
fn wants_json(args: &[OsString]) -> bool {
    args.iter()
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "--json")
}

fn report(out: &Output, json: bool, stop: Stop) -> ExitCode {
    let (failure, json) = match stop {
        Stop::Failed(failure) => (failure, json),
        Stop::Abandoned(failure) => (failure, false),
        Stop::StdoutClosed => return ExitCode::SUCCESS,
    };
    if json {
        // The lines below say the same to people, whoever reads stdout.
        let _ = out.json_line(&failure.document());
    }
    out.tell(&failure.lines());
    ExitCode::from(failure.code.exit())
}
