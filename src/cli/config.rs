//! `config check`, `config explain`, `config schema`.

use std::process::ExitCode;

use outfitter_core::Code;

use super::Invocation;
use super::args::ConfigCommand;
use super::documents::{self, ConfigChecked, ToldFirst};
use super::failure::{Failure, Stop};
use super::session::connected;
use crate::config::explain::{self, Note};
use crate::config::{self, ConfigError, Loaded, Problem};

/// Runs `config`.
pub(crate) fn run(at: &Invocation<'_>, command: &ConfigCommand) -> Result<ExitCode, Stop> {
    match command {
        ConfigCommand::Check => check(at)?,
        ConfigCommand::Explain { prompt: false } => explain(at)?,
        ConfigCommand::Explain { prompt: true } => prompt(at)?,
        ConfigCommand::Schema { markdown: true } => at.out.data(&config::markdown())?,
        ConfigCommand::Schema { markdown: false } => at.out.document(&config::schema())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn check(at: &Invocation<'_>) -> Result<(), Stop> {
    let loaded = match at.load(Vec::new()) {
        Ok(loaded) => loaded,
        Err(ConfigError::Problems(problems)) => return Err(all_of(at, problems)),
        Err(error) => return Err(error.into()),
    };
    // What a name means is known once everything is put together, which touches no file. A
    // missing place for data is no fault of the file.
    if loaded.config.store.data_dir.is_some() {
        at.build(loaded.config.clone())?;
    }
    super::serve::address(&loaded.config.server.bind)?;
    let file = loaded.file.as_ref().map(|file| file.display().to_string());
    if at.global.json {
        return documents::write(
            at,
            &ConfigChecked {
                v: 1,
                ok: true,
                file,
            },
        );
    }
    at.out.data(&match file {
        Some(file) => format!("{file} is right\n"),
        None => "there is no outfitter.toml; every key has its default\n".to_owned(),
    })
}

/// The problems are what a reader of `check` wants: they are its data.
fn all_of(at: &Invocation<'_>, problems: Vec<Problem>) -> Stop {
    let count = match problems.len() {
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    if !at.global.json {
        let lines: String = problems.iter().map(|one| format!("{one}\n")).collect();
        if let Err(stop) = at.out.data(&lines) {
            return stop;
        }
    }
    let mut failure = Failure::new(Code::Usage, format!("accept the configuration: {count}"));
    failure.problems = problems;
    failure.into()
}

fn explain(at: &Invocation<'_>) -> Result<(), Stop> {
    let loaded = at.load(Vec::new())?;
    let notes = notes(&loaded);
    if at.global.json {
        documents::write(at, &explain::document(&loaded, &notes))
    } else {
        at.out.data(&explain::as_toml(&loaded, &notes))
    }
}

/// What a model is told before the first words of a person, here and now.
fn prompt(at: &Invocation<'_>) -> Result<(), Stop> {
    let (_, whole) = at.outfit(Vec::new())?;
    let (system, opening) = connected(&whole, || Ok(whole.told_first()))?;
    if at.global.json {
        let opening = opening.as_deref();
        return documents::write(
            at,
            &ToldFirst {
                v: 1,
                system: &system,
                opening,
            },
        );
    }
    let rest = opening.map_or_else(String::new, |opening| format!("\n{opening}\n"));
    at.out.data(&format!("{system}\n{rest}"))
}

/// What a reader of `config explain` wants to know beside the keys.
fn notes(loaded: &Loaded) -> Vec<Note> {
    let session = loaded.session.as_ref().map(|id| Note {
        name: "session".to_owned(),
        about: "The session that AGENT_SESSION_ID names.".to_owned(),
        lines: vec![id.to_string()],
    });
    session.into_iter().collect()
}
