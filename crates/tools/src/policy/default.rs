//! The policy of an installation without rules of its own.

use outfitter_core::{CallFacts, Decision, Effect, Effects, Policy, Principal, ToolSpec};

/// Allows what the role suffices for and what stays in the workspace and the session; asks for
/// anything else.
///
/// Free are reading, writing in the workspace, telling the people of the session something, and
/// running programs under a sandbox that isolates.
#[derive(Debug, Clone, Copy, Default)]
pub struct DefaultPolicy;

const FREE: Effects = Effects::of(&[Effect::Read, Effect::Write, Effect::Message]);
const FREE_ISOLATED: Effects = FREE.union(Effects::of(&[Effect::Exec]));

impl Policy for DefaultPolicy {
    fn visible(&self, who: &Principal, spec: &ToolSpec) -> bool {
        who.role >= spec.min_role
    }

    fn paths(&self, _: &Principal, _: &ToolSpec) -> Option<Vec<String>> {
        None
    }

    fn decide(&self, who: &Principal, call: &CallFacts<'_>) -> Decision {
        if who.role < call.spec.min_role {
            return Decision::deny(format!("it needs the role {}", call.spec.min_role));
        }
        let free = if call.sandbox.isolating {
            FREE_ISOLATED
        } else {
            FREE
        };
        let rest = call.facts.effects.without(free);
        if rest == Effects::NONE {
            return Decision::allow();
        }
        let mut reason = String::from("its effects go beyond the session:");
        for effect in rest.iter() {
            reason.push(' ');
            reason.push_str(effect.as_str());
        }
        if rest.has(Effect::Exec) {
            reason.push_str(" (the sandbox does not isolate");
            let unconfined = call.facts.unconfined.as_ref();
            if let Some(why) = unconfined.and_then(|unconfined| unconfined.why.as_deref()) {
                reason.push_str(", and ");
                reason.push_str(why);
            }
            reason.push(')');
        }
        Decision::ask(reason)
    }
}
