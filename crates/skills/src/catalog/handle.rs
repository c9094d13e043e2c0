//! The roots, and what the operator allows of them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outfitter_core::{Generation, NameSet};
use tokio::sync::watch;

use super::scan::{Scan, scan};
use super::snapshot::Snapshot;
use crate::SkillProxy;
use outfitter_text::close_names;

/// A name that is no skill's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownSkill {
    /// The name.
    pub name: String,
    /// Skills that were perhaps meant.
    pub close: Vec<String>,
}

/// Process-wide: every root and every skill. In the catalogue is not allowed: what a session may
/// use is its [`SkillProxy`]. Cloning shares it.
///
/// Nothing in a pack is run, and no pack gives a tool or a right.
#[derive(Clone)]
pub struct SkillCatalog(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<Generation>,
}

struct State {
    roots: Vec<PathBuf>,
    scans: Vec<Arc<Scan>>,
    available: NameSet,
    snapshot: Arc<Snapshot>,
}

impl Default for SkillCatalog {
    fn default() -> Self {
        Self::new()
    }
}

impl SkillCatalog {
    /// A catalogue without roots, of which everything may be used.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                roots: Vec::new(),
                scans: Vec::new(),
                available: NameSet::all(),
                snapshot: Arc::default(),
            }),
            changed: watch::Sender::new(Generation(0)),
        }))
    }

    /// Adds a root and finds its skills. A root that was added before counts before this one, so
    /// add those of a project first and those of a person after. What cannot be used is in
    /// [`Snapshot::diagnostics`]; so is a root that is not there. Reads the disk, so it blocks.
    pub fn add_skill_dir(&self, root: impl Into<PathBuf>) -> Arc<Snapshot> {
        let root = root.into();
        let found = Arc::new(scan(&root));
        self.change(|state| {
            state.roots.push(root);
            state.scans.push(found);
        })
    }

    /// Says which skills may be used at all, from now on.
    pub fn configure(&self, available: NameSet) {
        self.change(|state| state.available = available);
    }

    /// Finds the skills of all roots anew. A proxy keeps the snapshot that it has; `load_skill` sees
    /// the new one with its next call. Reads the disk, so it blocks.
    pub fn reload(&self) -> Arc<Snapshot> {
        let roots = self.lock().roots.clone();
        let found: Vec<(PathBuf, Arc<Scan>)> = roots
            .into_iter()
            .map(|root| {
                let scan = Arc::new(scan(&root));
                (root, scan)
            })
            .collect();
        self.change(|state| {
            for (root, scan) in found {
                let places = state.roots.iter().zip(&mut state.scans);
                if let Some((_, old)) = { places }.find(|(known, _)| **known == root) {
                    *old = scan;
                }
            }
        })
    }

    /// The skills now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.lock().snapshot.clone()
    }

    /// The skills now that the operator and `granted` both allow.
    #[must_use]
    pub fn proxy(&self, granted: &NameSet) -> SkillProxy {
        let state = self.lock();
        SkillProxy::sealed(state.snapshot.clone(), state.available.meet(granted))
    }

    /// Those of `names` that no skill has.
    #[must_use]
    pub fn unknown_names<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<UnknownSkill> {
        let snapshot = self.snapshot();
        names
            .into_iter()
            .filter(|name| snapshot.get(name).is_none())
            .map(|name| UnknownSkill {
                name: name.to_owned(),
                close: close_names(name, snapshot.skills().map(|skill| skill.name().as_str()))
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            })
            .collect()
    }

    /// Told of every change from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<Generation> {
        self.0.changed.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut State)) -> Arc<Snapshot> {
        let mut state = self.lock();
        change(&mut state);
        let generation = Generation(state.snapshot.generation().0 + 1);
        let snapshot = Arc::new(Snapshot::of(&state.scans, generation));
        state.snapshot = snapshot.clone();
        drop(state);
        self.0.changed.send_replace(generation);
        snapshot
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
