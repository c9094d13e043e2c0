//! What one session may use.

use std::sync::{Arc, Mutex, PoisonError};

use outfitter_core::{Grant, Role, Selection, SessionFacts};

use crate::merged::Merged;
use crate::{ToolRegistry, ToolView, ToolsConfig};

/// What one session may use, sealed by [`ToolRegistry::seal`].
///
/// A proxy never changes: what it was narrowed by holds for it and all its children for ever. What
/// the configuration allows and what the sources offer is asked anew by each view, so a view is
/// always grant ∩ parents' grants ∩ configuration now ∩ sources now. Cloning shares it.
#[derive(Clone)]
pub struct ToolProxy(Arc<Sealed>);

struct Sealed {
    registry: ToolRegistry,
    grant: Grant,
    last: Mutex<Option<Last>>,
}

/// The view of the last request, and what it was made from.
struct Last {
    merged: Arc<Merged>,
    config: Arc<ToolsConfig>,
    session: SessionFacts,
    view: Arc<ToolView>,
}

impl ToolProxy {
    pub(crate) fn sealed(registry: ToolRegistry, grant: Grant) -> Self {
        Self(Arc::new(Sealed {
            registry,
            grant,
            last: Mutex::new(None),
        }))
    }

    /// A proxy of what both this one and `selection` allow.
    #[must_use]
    pub fn narrow(&self, selection: Selection) -> Self {
        let grant = self.0.grant.meet(&Grant {
            // A selection says nothing of roles, so the role stays.
            role: Role::Admin,
            tools: selection.tools,
            skills: selection.skills,
            effects: selection.effects,
            mode: selection.mode,
        });
        Self::sealed(self.0.registry.clone(), grant)
    }

    /// What it grants.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        &self.0.grant
    }

    /// What a session sees now; one for each model request. While nothing changes it is the same
    /// allocation.
    #[must_use]
    pub fn view(&self, session: &SessionFacts) -> Arc<ToolView> {
        let (merged, config) = self.0.registry.current();
        let last = || self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last()
            && Arc::ptr_eq(&last.merged, &merged)
            && Arc::ptr_eq(&last.config, &config)
            && last.session == *session
        {
            return last.view.clone();
        }
        let view = Arc::new(ToolView::of(&merged, &config, &self.0.grant, session));
        *last() = Some(Last {
            merged,
            config,
            session: session.clone(),
            view: view.clone(),
        });
        view
    }
}
