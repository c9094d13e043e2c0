//! The catalogue as a source of tools.

use std::sync::{Arc, Mutex, PoisonError};

use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use outfitter_core::{Fault, Generation, SourceId, SourceSnapshot, ToolSource, Trust};

use crate::catalog::SkillCatalog;
use crate::problem::Severity;
use crate::tool::LoadSkill;

/// Offers `load_skill` while there is a skill; what is wrong in the catalogue are its faults.
pub struct SkillSource {
    id: SourceId,
    catalog: SkillCatalog,
    tool: Arc<LoadSkill>,
    last: Mutex<Option<Arc<SourceSnapshot>>>,
}

impl SkillSource {
    /// A source called `skills`.
    #[must_use]
    pub fn new(catalog: SkillCatalog) -> Self {
        #[expect(
            clippy::expect_used,
            reason = "the id is a constant, and tests make it"
        )]
        let id = SourceId::new("skills").expect("it is a source id");
        Self {
            id,
            tool: Arc::new(LoadSkill::new(catalog.clone())),
            catalog,
            last: Mutex::new(None),
        }
    }
}

impl ToolSource for SkillSource {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn trust(&self) -> Trust {
        Trust::Builtin
    }

    fn snapshot(&self) -> Arc<SourceSnapshot> {
        let skills = self.catalog.snapshot();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last
            .as_ref()
            .filter(|last| last.generation == skills.generation())
        {
            return last.clone();
        }
        let mut snapshot = SourceSnapshot {
            generation: skills.generation(),
            ..SourceSnapshot::default()
        };
        if skills.skills().next().is_some() {
            snapshot.tools.push(self.tool.clone());
        }
        snapshot.faults = skills
            .diagnostics()
            .iter()
            .filter(|diagnostic| diagnostic.severity >= Severity::Warning)
            .map(|diagnostic| Fault {
                what: diagnostic.path.display().to_string(),
                why: format!("{}: {}", diagnostic.code, diagnostic.message),
            })
            .collect();
        let snapshot = Arc::new(snapshot);
        *last = Some(snapshot.clone());
        snapshot
    }

    fn changes(&self) -> BoxStream<'static, Generation> {
        unfold(self.catalog.watch(), |mut changed| async move {
            changed.changed().await.ok()?;
            let generation = *changed.borrow_and_update();
            Some((generation, changed))
        })
        .boxed()
    }
}
