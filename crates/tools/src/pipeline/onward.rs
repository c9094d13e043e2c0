//! Where a call leads on to while it is made: judged as a call of its own would be.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use outfitter_core::{Decision, Effect, Effects, Onward, Policy, ToolName, Verdict};
use serde_json::Value;

use super::judge::{Bounds, Consent, One, approved_before, one};
use super::{Granted, guarded};
use crate::approvals::Approvals;
use crate::registered::Registered;
use crate::view::LookUp;
use crate::{RunHandle, ToolView};

/// Judges by what judged the call itself.
struct Judge {
    /// The tool that is called, and the one that it wraps.
    tools: Vec<Registered>,
    policy: Arc<dyn Policy>,
    effects: Effects,
    consent: Consent,
    run: RunHandle,
}

/// The run with what judges where a call leads on to, for calls that go out.
pub(crate) fn accompany(
    granted: &Granted<'_>,
    view: &ToolView,
    run: &RunHandle,
    consent: Consent,
) -> Option<Box<RunHandle>> {
    if !granted.facts.effects.has(Effect::Network) {
        return None;
    }
    let inner = granted.facts.inner.as_ref();
    let wrapped = inner.and_then(|(name, _)| match view.look_up(name.as_str()) {
        LookUp::Callable(tool) | LookUp::NotPresented(tool) => Some(tool),
        LookUp::NotPermitted | LookUp::Unknown => None,
    });
    let tools = std::iter::once(granted.tool).chain(wrapped).cloned();
    let judge = Judge {
        tools: tools.collect(),
        policy: view.config.policy.clone(),
        effects: view.effects(),
        consent,
        run: run.clone(),
    };
    let services = run.services.clone().with::<dyn Onward>(Arc::new(judge));
    Some(Box::new(RunHandle {
        services,
        ..run.clone()
    }))
}

impl Onward for Judge {
    fn judge(&self, tool: &ToolName, from: &Value, to: &Value) -> Decision {
        let Some(tool) = self.tools.iter().find(|known| known.spec.name == *tool) else {
            return Decision::deny("it is another tool than the one that was called");
        };
        // Facts and policies may be anybody's code.
        catch_unwind(AssertUnwindSafe(|| self.decide(tool, from, to))).unwrap_or_else(|panic| {
            let error = guarded::panicked(&tool.spec.name, &*panic);
            Decision::deny(error.message)
        })
    }
}

impl Judge {
    fn decide(&self, tool: &Registered, from: &Value, to: &Value) -> Decision {
        let there = match self.one(tool, to) {
            Ok(there) => there,
            Err(refused) => return refused,
        };
        if there.decision.verdict != Verdict::Ask {
            return there.decision;
        }
        let approvals = self.run.services.get::<dyn Approvals>();
        let asked = self.consent != Consent::Never;
        if asked && approved_before(there.shape.as_deref(), approvals.as_deref()) {
            return Decision::allow();
        }
        // It was let although it asks, so somebody said yes, and would have been asked no more.
        let same = self.one(tool, from).is_ok_and(|here| {
            here.decision == there.decision && here.shape.is_some() && here.shape == there.shape
        });
        if same {
            return Decision::allow();
        }
        there.decision
    }

    fn one(&self, tool: &Registered, args: &Value) -> Result<One, Decision> {
        let bounds = Bounds {
            policy: &*self.policy,
            effects: self.effects,
        };
        one(tool, args, &bounds, &self.run)
            .map_err(|error| Decision::deny(error.info().message.clone()))
    }
}
