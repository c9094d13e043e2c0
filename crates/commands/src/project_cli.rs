//! The source: what the programs of a project offer, as one tool.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, future::join_all, stream};
use outfitter_core::{
    Fault, Generation, SourceId, SourceSnapshot, Tool, ToolName, ToolSource, Trust,
};
use tokio::sync::watch;

use crate::host::Host;
use crate::jwks_file::JwksFile;
use crate::program::Program;
use crate::scratch;
use crate::settings::{ProgramSettings, SettingsError};
use crate::tool::ProjectTool;
use crate::tree::{Collision, Tree};

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
pub struct ProjectCli {
    id: SourceId,
    tool: ToolName,
    host: Arc<Host>,
    jwks: Arc<JwksFile>,
    programs: Vec<Arc<Program>>,
    /// One description at a time.
    describing: tokio::sync::Mutex<()>,
    snapshot: Mutex<Arc<SourceSnapshot>>,
    generation: watch::Sender<Generation>,
    skills: Mutex<Vec<SkillsDir>>,
    /// The program of each command.
    owners: Mutex<BTreeMap<String, String>>,
}

/// Where a program says that the skills are which explain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillsDir {
    /// The program, as it is configured.
    pub program: String,
    /// The directory, absolute.
    pub path: std::path::PathBuf,
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
            known.push(Arc::new(Program { settings }));
        }
        known.sort_by(|a, b| a.settings.name.cmp(&b.settings.name));
        let invalid = |name: &str| SettingsError::Name(name.to_owned());
        let snapshot = SourceSnapshot {
            faults: known
                .iter()
                .map(|program| Fault {
                    what: program.settings.name.clone(),
                    why: "it was not asked yet what it can do".to_owned(),
                })
                .collect(),
            ..SourceSnapshot::default()
        };
        Ok(Self {
            id: SourceId::new(SOURCE).map_err(|_| invalid(SOURCE))?,
            tool: ToolName::new(TOOL).map_err(|_| invalid(TOOL))?,
            jwks: Arc::new(JwksFile::in_directory(&host.scratch)),
            host: Arc::new(host),
            programs: known,
            describing: tokio::sync::Mutex::new(()),
            snapshot: Mutex::new(Arc::new(snapshot)),
            generation: watch::Sender::new(Generation::default()),
            skills: Mutex::new(Vec::new()),
            owners: Mutex::default(),
        })
    }

    /// Asks all programs at once what they can do, and offers it. Each has its own time for it, so
    /// this ends; a program that fails is a fault of the snapshot and keeps nobody else from being
    /// offered. Asking again takes what they say then.
    ///
    /// # Errors
    /// [`CommandTaken`], the first of them, when two programs have one command. Neither's is offered
    /// then; at the start of a program this ends it.
    pub async fn describe(&self) -> Result<(), CommandTaken> {
        let _one_at_a_time = self.describing.lock().await;
        scratch::sweep(&self.host.scratch, SystemTime::now());
        let asked = self
            .programs
            .iter()
            .map(|program| async move { (program, program.describe(&self.host).await) });
        let mut tree = Tree::default();
        let mut skills = Vec::new();
        for (program, described) in join_all(asked).await {
            if let Ok(described) = &described
                && let Some(path) = &described.skills_dir
            {
                skills.push(SkillsDir {
                    program: program.settings.name.clone(),
                    path: path.into(),
                });
            }
            tree.take(program, described);
        }
        tree.settle();
        let collision = tree.collisions.first().cloned();
        *self.skills.lock().unwrap_or_else(PoisonError::into_inner) = skills;
        self.offer(tree);
        collision.map_or(Ok(()), |collision| Err(collision.into()))
    }

    /// Where the programs say their skills are, as they were described last.
    #[must_use]
    pub fn skills_dirs(&self) -> Vec<SkillsDir> {
        self.skills
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The name of the program that has a command, as they were described last.
    #[must_use]
    pub fn program_of(&self, command: &str) -> Option<String> {
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.get(command).cloned()
    }

    fn offer(&self, mut tree: Tree) {
        let owners = tree.commands.iter();
        *self.owners.lock().unwrap_or_else(PoisonError::into_inner) = owners
            .map(|(name, command)| (name.clone(), command.program.settings.name.clone()))
            .collect();
        for fault in &tree.faults {
            tracing::warn!(target: "outfitter::commands", what = fault.what, "{}", fault.why);
        }
        let faults = std::mem::take(&mut tree.faults);
        let tools: Vec<Arc<dyn Tool>> = if tree.commands.is_empty() {
            Vec::new()
        } else {
            vec![Arc::new(ProjectTool::new(
                self.tool.clone(),
                Arc::new(tree),
                self.host.clone(),
                self.jwks.clone(),
            ))]
        };
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = Generation(snapshot.generation.0 + 1);
        *snapshot = Arc::new(SourceSnapshot {
            generation,
            tools,
            faults,
        });
        drop(snapshot);
        self.generation.send_replace(generation);
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
        self.snapshot
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn changes(&self) -> BoxStream<'static, Generation> {
        let watched = self.generation.subscribe();
        stream::unfold(watched, |mut watched| async move {
            watched.changed().await.ok()?;
            let generation = *watched.borrow_and_update();
            Some((generation, watched))
        })
        .boxed()
    }
}
