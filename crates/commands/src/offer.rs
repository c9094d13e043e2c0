//! What the programs offer now, and what is behind it: what each said, and whether it was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use futures_util::future::join_all;
use outfitter_core::{
    Cancel, Code, Fault, Generation, SourceSnapshot, SourceStart, Tool, ToolError, ToolName,
};
use tokio::sync::watch;

use crate::describe::Described;
use crate::host::Host;
use crate::jwks_file::JwksFile;
use crate::kept;
use crate::program::{Known, Program, Said, locked};
use crate::scratch;
use crate::tool::ProjectTool;
use crate::tree::{Collision, Tree};

/// Where a program says that the skills are which explain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillsDir {
    /// The program, as it is configured.
    pub program: String,
    /// The directory, absolute.
    pub path: std::path::PathBuf,
}

/// What the source and its tool share.
pub(crate) struct Offer {
    pub(crate) host: Arc<Host>,
    pub(crate) programs: Vec<Arc<Program>>,
    tool: ToolName,
    jwks: Arc<JwksFile>,
    /// One description at a time.
    describing: tokio::sync::Mutex<()>,
    pub(crate) snapshot: Mutex<Arc<SourceSnapshot>>,
    pub(crate) generation: watch::Sender<Generation>,
    /// The program of each command.
    owners: Mutex<BTreeMap<String, String>>,
    /// The tool holds on to this, so this does not hold on to itself.
    me: Weak<Self>,
}

impl Offer {
    /// Nothing yet.
    pub(crate) fn new(host: Host, programs: Vec<Arc<Program>>, tool: ToolName) -> Arc<Self> {
        let faults = programs.iter().map(|program| Fault {
            what: program.settings.name.clone(),
            why: "it was not asked yet what it can do".to_owned(),
        });
        let snapshot = SourceSnapshot {
            faults: faults.collect(),
            ..SourceSnapshot::default()
        };
        Arc::new_cyclic(|me| Self {
            tool,
            jwks: Arc::new(JwksFile::in_directory(&host.scratch)),
            host: Arc::new(host),
            programs,
            describing: tokio::sync::Mutex::new(()),
            snapshot: Mutex::new(Arc::new(snapshot)),
            generation: watch::Sender::new(Generation::default()),
            owners: Mutex::default(),
            me: me.clone(),
        })
    }

    /// Asks all programs at once what they can do, but those that are asked at their first call and
    /// of which it is kept, and offers it.
    pub(crate) async fn describe(&self) -> Option<Collision> {
        let _one_at_a_time = self.describing.lock().await;
        scratch::sweep(&self.host.scratch, SystemTime::now());
        join_all(self.programs.iter().map(|program| self.know(program))).await;
        self.rebuild()
    }

    async fn know(&self, program: &Arc<Program>) {
        let is_lazy = program.settings.start == SourceStart::AtFirstCall;
        let mut last = None;
        if is_lazy {
            let (host, of) = (self.host.clone(), program.clone());
            let kept = tokio::task::spawn_blocking(move || kept::load(&host, &of.settings));
            let kept = kept.await.ok();
            if let Some(same) = kept.as_ref().and_then(|kept| kept.same.clone())
                && program.known() == Known::NotYet
            {
                return program.says(Said {
                    described: Ok(same),
                    known: Known::Kept,
                    changed: None,
                    unasked: program.lacking(&self.host),
                });
            }
            last = kept.and_then(|kept| kept.last);
        }
        let asked = kept::key(&self.host, &program.settings);
        let described = program.describe(&self.host).await;
        let mut changed = None;
        match (described, last) {
            // What it offered is there, and each call asks it again.
            (Err(why), Some(last)) if !last.subcommands.is_empty() => program.says(Said {
                described: Ok(last),
                known: Known::Kept,
                changed,
                unasked: Some(why),
            }),
            (described, last) => {
                if let (true, Ok(now)) = (is_lazy, &described) {
                    changed = last.and_then(|last| changed_to(program, &last, now));
                    kept::keep(&self.host, &program.settings, &asked, now).await;
                }
                program.says(Said {
                    described,
                    known: Known::Asked,
                    changed,
                    unasked: None,
                });
            }
        }
    }

    /// Asks a program of which it is only kept what it offers, before its first call. When it
    /// offers something else, that is what is offered from then on.
    pub(crate) async fn ask_first(
        &self,
        program: &Program,
        cancel: &Cancel,
    ) -> Result<(), ToolError> {
        if program.known() != Known::Kept {
            return Ok(());
        }
        let asked = async {
            let _one_at_a_time = self.describing.lock().await;
            if program.known() != Known::Kept {
                return Ok(());
            }
            let name = &program.settings.name;
            let asked = kept::key(&self.host, &program.settings);
            let now = program.describe(&self.host).await.map_err(|why| {
                ToolError::unavailable(format!("the program {name} is not there: {why}"))
            })?;
            let kept = program.described();
            let changed = kept.and_then(|kept| changed_to(program, &kept, &now));
            if changed.is_some() || program.unasked().is_some() {
                kept::keep(&self.host, &program.settings, &asked, &now).await;
            }
            let is_other = changed.is_some() || program.unasked().is_some();
            program.says(Said {
                described: Ok(now),
                known: Known::Asked,
                changed,
                unasked: None,
            });
            if is_other && let Some(collision) = self.rebuild() {
                let Collision { command, .. } = collision;
                tracing::error!(target: "outfitter::commands", command, "two programs have one command");
            }
            Ok(())
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                Err(ToolError::new(Code::Cancelled, "the call was stopped before it was made"))
            }
            asked = asked => asked,
        }
    }

    /// Offers what the programs have said.
    fn rebuild(&self) -> Option<Collision> {
        let mut tree = Tree::default();
        for program in &self.programs {
            if let Some(described) = program.said() {
                tree.take(program, described);
            }
        }
        tree.settle();
        let collision = tree.collisions.first().cloned();
        self.publish(tree);
        collision
    }

    fn publish(&self, mut tree: Tree) {
        let owners = tree.commands.iter();
        *locked(&self.owners) = owners
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
                self.me.clone(),
            ))]
        };
        let mut snapshot = locked(&self.snapshot);
        let generation = Generation(snapshot.generation.0 + 1);
        *snapshot = Arc::new(SourceSnapshot {
            generation,
            tools,
            faults,
        });
        drop(snapshot);
        self.generation.send_replace(generation);
    }

    /// Why the tool is not there, where the programs have said nothing that can be offered.
    pub(crate) fn why_missing(&self, name: &str) -> Option<String> {
        if name != self.tool.as_str() {
            return None;
        }
        let faults = locked(&self.snapshot).faults.clone();
        let each: Vec<_> = faults
            .iter()
            .map(|fault| format!("{}: {}", fault.what, fault.why))
            .collect();
        (!each.is_empty()).then(|| each.join("; "))
    }

    /// The program that has a command.
    pub(crate) fn owner(&self, command: &str) -> Option<String> {
        locked(&self.owners).get(command).cloned()
    }

    /// Where the programs say their skills are.
    pub(crate) fn skills(&self) -> Vec<SkillsDir> {
        let each = self.programs.iter().filter_map(|program| {
            Some(SkillsDir {
                program: program.settings.name.clone(),
                path: program.described()?.skills_dir?.into(),
            })
        });
        each.collect()
    }
}

/// Says that a program offers something else than was kept of it.
fn changed_to(program: &Program, kept: &Described, now: &Described) -> Option<String> {
    let changed = kept::difference(kept, now)?;
    let name = &program.settings.name;
    tracing::warn!(target: "outfitter::commands", program = name, changed, "its commands are not those that were kept of it");
    Some(changed)
}
