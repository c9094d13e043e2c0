//! The programs of the project, as the configuration has them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use outfitter_auth::{Issuer, Lifetime, SigningKey};
use outfitter_commands::{Credentials, ProgramSettings, ProgramStatus, ProjectCli};
use outfitter_core::{NameSet, SourceStart, ToolSource};
use outfitter_process::SupervisorProgram;

use super::begun::{Answered, State};
use crate::config::sections::{Credential, Program};
use crate::env;
use crate::helpers;
use crate::outfit::specs::SpecFiles;
use crate::outfit::{BuildError, Outfitter};

impl Outfitter {
    pub(super) fn has_programs(&self) -> bool {
        self.supervisor.is_some() && !self.config().commands.is_empty()
    }

    /// Asks the programs of the project what they can do, once.
    pub(super) fn begin_programs(&self, state: &mut State) -> Result<(), BuildError> {
        let Some(supervisor) = self.supervisor.as_ref().filter(|_| self.has_programs()) else {
            return Ok(());
        };
        if state.programs.is_some() {
            return Ok(());
        }
        let source = Arc::new(self.programs_beside(supervisor)?);
        let offered: Arc<dyn ToolSource> = source.clone();
        self.register(std::slice::from_ref(&offered))?;
        let (programs, skills) = (self.programs.clone(), self.skills.clone());
        let config = self.config();
        state.programs = Some(self.connections.go_on(async move {
            if let Err(taken) = source.describe().await {
                tracing::error!(error = %taken, "programs of the project cannot be used together");
                return Answered::Taken(taken);
            }
            for skills_of in source.skills_dirs() {
                skills.add_skill_dir(skills_of.path);
            }
            let configured = config.commands.values();
            for dir in configured.filter_map(|program| program.skills_dir.clone()) {
                skills.add_skill_dir(dir);
            }
            let _ = programs.set(source);
            Answered::Yes
        }));
        Ok(())
    }

    /// How the programs of the project stand, once they were asked.
    #[must_use]
    pub fn programs(&self) -> Vec<ProgramStatus> {
        let programs = self.programs.get();
        programs
            .map(|programs| programs.status())
            .unwrap_or_default()
    }

    fn programs_beside(&self, supervisor: &SupervisorProgram) -> Result<ProjectCli, BuildError> {
        let key = SigningKey::generate().map_err(BuildError::Key)?;
        let issuer = Issuer::new("outfitter", key, Lifetime::SHORTEST, self.clock.clone());
        let host = outfitter_commands::Host {
            supervisor: supervisor.clone(),
            scratch: self.data_dir.join("commands"),
            path: self.text(env::PATH).unwrap_or_default(),
            lang: self.text(env::LANG),
            tz: self.text(env::TZ),
            issuer: Some(Arc::new(issuer)),
            specs: Some(Arc::new(SpecFiles::of_programs(&self.data_dir))),
        };
        let config = self.config();
        let programs = config
            .commands
            .iter()
            .map(|(name, program)| settings(name, program));
        ProjectCli::new(host, programs).map_err(BuildError::Commands)
    }
}

fn settings(name: &str, program: &Program) -> ProgramSettings {
    let (path, before) = match helpers::program(&program.program) {
        Some((path, before)) => (PathBuf::from(path), before),
        None => (Path::new(&program.program).to_owned(), Vec::new()),
    };
    let mut settings = ProgramSettings::new(name, path);
    settings.args = before
        .into_iter()
        .chain(program.args.iter().map(OsString::from))
        .collect();
    settings.env = pairs(&program.env)
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .collect();
    settings.timeout = Duration::from_secs(program.timeout_seconds.into());
    settings.max_output_bytes = program.max_output_bytes as usize;
    settings.credentials = match program.credential {
        Credential::Call => Credentials::Call,
        Credential::None => Credentials::None,
    };
    if program.lazy {
        settings.start = SourceStart::AtFirstCall;
    }
    if !program.only.is_empty() {
        settings.only = NameSet::of(program.only.iter().map(String::as_str));
    }
    settings
}

/// What a table of the environment holds.
pub(super) fn pairs(
    map: &std::collections::BTreeMap<String, String>,
) -> impl Iterator<Item = (&str, &str)> {
    map.iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
}
