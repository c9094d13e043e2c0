//! The layers put together: flag over variable over alias over file over default.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::file::{self, Setting};
use super::layers::Layers;
use super::loaded::Loaded;
use super::problem::{ConfigError, Problem, Problems};
use super::source::Source;
use super::{derived, paths, sandbox_paths, there, variables};
use crate::env::Environment;

/// A key that a flag of the command line sets.
#[derive(Debug, Clone, PartialEq)]
pub struct FlagValue {
    /// `section.key`.
    pub key: &'static str,
    /// The flag, with its dashes.
    pub flag: &'static str,
    /// The value.
    pub value: Value,
}

/// What the command line says about the configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The file that `--config` names.
    pub file: Option<PathBuf>,
    /// The keys that flags set.
    pub flags: Vec<FlagValue>,
}

/// What was found: the configuration in effect, and everything that is wrong with it.
#[derive(Debug, Clone)]
pub struct Found {
    /// The configuration, without what is wrong: only for looking further where anything is.
    pub loaded: Loaded,
    /// What is wrong. Nothing begins with it.
    pub problems: Vec<Problem>,
    /// What makes `run` or `serve` fail as things stand on this machine. Whatever does not need it
    /// works without.
    pub failing: Vec<Problem>,
    /// What they go on without, and what may come later: files and folders that are not there,
    /// programs that are not found, variables that are not set.
    pub warnings: Vec<Problem>,
}

/// Loads the configuration.
///
/// # Errors
/// [`ConfigError`], with every problem at once.
pub fn load(env: &Environment, request: &Request) -> Result<Loaded, ConfigError> {
    let (loaded, problems) = gather(env, request)?;
    match problems.is_empty() {
        true => Ok(loaded),
        false => Err(ConfigError::Problems(problems)),
    }
}

/// Loads the configuration to find everything that is wrong with it, also what works on another
/// machine.
///
/// # Errors
/// [`ConfigError::Unreadable`] when the file cannot be read.
pub fn look(env: &Environment, request: &Request) -> Result<Found, ConfigError> {
    let (loaded, problems) = gather(env, request)?;
    let there::Lacking { failing, warnings } = there::look(&loaded, env);
    Ok(Found {
        loaded,
        problems,
        failing,
        warnings,
    })
}

/// The configuration without what is wrong, and what is wrong.
pub(crate) fn gather(
    env: &Environment,
    request: &Request,
) -> Result<(Loaded, Vec<Problem>), ConfigError> {
    let file = file::find(env, request.file.as_deref())?;
    let mut problems = Problems::default();
    let mut layers = Layers::default();
    if let Some(file) = &file {
        let settings = file.settings(&mut problems);
        layers.add(settings, env, &mut problems);
    }
    let aliases = variables::aliases(env, &mut problems);
    layers.add(aliases, env, &mut problems);
    let variables = variables::variables(env, &mut problems);
    layers.add(variables, env, &mut problems);
    layers.add(flags(request), env, &mut problems);
    let session = variables::session(env, &mut problems);
    derived::follow_provider(&mut layers);
    derived::fill_in(&mut layers, env);
    sandbox_paths::relative(&mut layers, &mut problems);
    paths::resolve(&mut layers, env);
    derived::check(&mut layers, env, &mut problems);
    sandbox_paths::check(&layers, env, &mut problems);
    let config = layers.config(&mut problems);
    let loaded = Loaded {
        config,
        file: file.map(|file| file.path),
        session,
        sources: layers.sources(),
    };
    Ok((loaded, problems.sorted()))
}

fn flags(request: &Request) -> Vec<Setting> {
    request
        .flags
        .iter()
        .map(|flag| Setting {
            path: flag.key.to_owned(),
            value: flag.value.clone(),
            source: Source::Flag(flag.flag.to_owned()),
            each: BTreeMap::new(),
        })
        .collect()
}
