//! The source: what the programs of a project offer, as one tool.

use std::sync::Arc;

use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use outfitter_core::{Generation, SourceId, SourceSnapshot, ToolName, ToolSource, Trust};

use crate::host::Host;
use crate::offer::{Offer, SkillsDir};
use crate::program::{Known, Program, locked};
use crate::settings::{ProgramSettings, SettingsError};
use crate::tree::Collision;

/// The name of the source.
pub const SOURCE: &str = "commands";

/// The name of the tool.
pub const TOOL: &str = "project_cli";

/// Two programs have one command: whose it is cannot be known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the command {command} is in two programs: commands.{first} and commands.{second}")]
pub struct CommandTaken {
    /// The command.
    pub command: String,
    /// One of the programs, as it is configured.
    pub first: String,
    /// The other.
    pub second: String,
}

impl From<Collision> for CommandTaken {
    fn from(collision: Collision) -> Self {
        let Collision {
            command,
            first,
            second,
        } = collision;
        Self {
            command,
            first,
            second,
        }
    }
}

/// The programs of a project.
///
/// Nothing runs until [`ProjectCli::describe`] is awaited; listing shows what is known by then, and
/// what is not is a fault of the snapshot.
///
/// One that is asked at its first call ([`SourceStart::AtFirstCall`](outfitter_core::SourceStart))
/// offers what was kept of it until then, for as long as its settings and its files are the same.
/// When it turns out to offer something else, that is offered, and a call of what is another now is
/// refused.
pub struct ProjectCli {
    id: SourceId,
    offer: Arc<Offer>,
}

/// How a program stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramStatus {
    /// Its name, as it is configured.
    pub name: String,
    /// How many subcommands it offers.
    pub subcommands: usize,
    /// Whether what it offers is only what was kept of it: its first call asks it.
    pub idle: bool,
    /// How what it offers differs from what was kept of it.
    pub changed: Option<String>,
    /// Why it cannot be started, as far as that shows on disk.
    pub lacking: Option<String>,
}

impl ProjectCli {
    /// These programs. Nothing is run yet.
    ///
    /// # Errors
    /// [`SettingsError`] for settings that can never work.
    pub fn new(
        host: Host,
        programs: impl IntoIterator<Item = ProgramSettings>,
    ) -> Result<Self, SettingsError> {
        let mut known: Vec<Arc<Program>> = Vec::new();
        for settings in programs {
            settings.check()?;
            if known.iter().any(|one| one.settings.name == settings.name) {
                return Err(SettingsError::Twice(settings.name));
            }
            known.push(Arc::new(Program::new(settings)));
        }
        known.sort_by(|a, b| a.settings.name.cmp(&b.settings.name));
        let invalid = |name: &str| SettingsError::Name(name.to_owned());
        let tool = ToolName::new(TOOL).map_err(|_| invalid(TOOL))?;
        Ok(Self {
            id: SourceId::new(SOURCE).map_err(|_| invalid(SOURCE))?,
            offer: Offer::new(host, known, tool),
        })
    }

    /// Asks all programs at once what they can do, and offers it. Each has its own time for it, so
    /// this ends; a program that fails is a fault of the snapshot and keeps nobody else from being
    /// offered. One that is asked at its first call is not, where it is kept what it offers. Asking
    /// again takes what they say then.
    ///
    /// # Errors
    /// [`CommandTaken`], the first of them, when two programs have one command. Neither's is offered
    /// then; at the start of a program this ends it.
    pub async fn describe(&self) -> Result<(), CommandTaken> {
        let collision = self.offer.describe().await;
        collision.map_or(Ok(()), |collision| Err(collision.into()))
    }

    /// How the programs stand.
    #[must_use]
    pub fn status(&self) -> Vec<ProgramStatus> {
        let programs = self.offer.programs.iter();
        let status = |program: &Arc<Program>| ProgramStatus {
            name: program.settings.name.clone(),
            subcommands: program.described().map_or(0, |now| now.subcommands.len()),
            idle: program.known() == Known::Kept,
            changed: program.changed(),
            lacking: program.lacking(&self.offer.host),
        };
        programs.map(status).collect()
    }

    /// Where the programs say their skills are, as they were described last.
    #[must_use]
    pub fn skills_dirs(&self) -> Vec<SkillsDir> {
        self.offer.skills()
    }

    /// The name of the program that has a command, as they were described last.
    #[must_use]
    pub fn program_of(&self, command: &str) -> Option<String> {
        self.offer.owner(command)
    }
}

impl ToolSource for ProjectCli {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn trust(&self) -> Trust {
        Trust::Operator
    }

    fn snapshot(&self) -> Arc<SourceSnapshot> {
        locked(&self.offer.snapshot).clone()
    }

    fn why_missing(&self, name: &str) -> Option<String> {
        self.offer.why_missing(name)
    }

    fn changes(&self) -> BoxStream<'static, Generation> {
        let watched = self.offer.generation.subscribe();
        stream::unfold(watched, |mut watched| async move {
            watched.changed().await.ok()?;
            let generation = *watched.borrow_and_update();
            Some((generation, watched))
        })
        .boxed()
    }
}
