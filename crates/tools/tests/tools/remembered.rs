//! Rules and remembered approvals beside the gates: a rule lends nothing, and a yes opens nothing
//! but what would have asked.

use std::sync::Arc;

use outfitter_core::{
    Attended, CallEnd, Code, Effect, Effects, Grant, Hash, Pattern, Role, Selection, Status, Tool,
    Verdict,
};
use outfitter_tools::{
    Approval, Approvals, DefaultPolicy, Found, Pipeline, PipelineOptions, Rule, Rules, ToolsConfig,
};
use proptest::prelude::*;

use crate::support::{Probe, World, call};

const NAMES: [&str; 5] = ["a", "ab", "abc", "b", "ba"];

/// Somebody said yes to everything there is.
struct Everything;

impl Approvals for Everything {
    fn covers(&self, _: &Hash) -> bool {
        true
    }
}

fn effects() -> impl Strategy<Value = Effects> {
    prop::sample::subsequence(Effect::ALL.to_vec(), 0..=7).prop_map(|effects| Effects::of(&effects))
}

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::ALL.to_vec())
}

fn rule() -> impl Strategy<Value = Rule> {
    let verdict = prop::sample::select(vec![Verdict::Allow, Verdict::Ask, Verdict::Deny]);
    let agent = prop::option::of(prop::sample::select(vec!["main", "other", "m*"]));
    ("[ab*?]{1,3}", prop::option::of(role()), agent, verdict).prop_map(
        |(tool, role, agent, decision)| Rule {
            tool,
            args: None,
            tenant: None,
            role,
            channel: None,
            agent: agent.map(str::to_owned),
            decision,
        },
    )
}

/// What the rules say of a tool for this role, said once more.
fn said(rules: &[Rule], tool: &str, who: Role) -> Option<Verdict> {
    rules
        .iter()
        .filter(|rule| Pattern::new(rule.tool.as_str()).matches(tool))
        .filter(|rule| rule.role.is_none_or(|role| role == who))
        .filter(|rule| rule.agent.as_deref() != Some("other"))
        .map(|rule| rule.decision)
        .max()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn a_yes_to_everything_opens_what_would_have_asked_and_nothing_else(
        rows in prop::collection::vec((role(), effects()), NAMES.len()),
        rules in prop::collection::vec(rule(), 0..5),
        who in role(), granted in effects(), child in effects(),
        attended in prop::bool::ANY, never in prop::bool::ANY,
    ) {
        let tools: Vec<Arc<dyn Tool>> = NAMES.iter().zip(&rows).map(|(name, &(role, effects))| {
            Arc::new(Probe::new(name).spec(|spec| {
                spec.min_role = role;
                spec.effects = effects;
            })) as Arc<dyn Tool>
        }).collect();
        let mut world = World::of(tools).role(who);
        world.registry.configure(ToolsConfig {
            policy: Arc::new(Rules::new(rules.clone(), Arc::new(DefaultPolicy)).unwrap()),
            ..ToolsConfig::default()
        });
        world.pipeline = Pipeline::new(PipelineOptions {
            approval: if never { Approval::Never } else { Approval::Ask },
            ..PipelineOptions::default()
        });
        world.run.attended = if attended { Attended::Yes } else { Attended::No };
        let unasked = world.run.services.clone();
        let services = unasked.clone().with::<dyn Approvals>(Arc::new(Everything));
        let wide = Selection { effects: granted, ..Selection::default() };
        let narrow = Selection { effects: child, ..Selection::default() };
        let proxy = world.registry.seal(Grant::full(Role::Admin), wide);
        let child = proxy.narrow(narrow);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for proxy in [&proxy, &child] {
            let view = proxy.view(&world.facts());
            for (name, (min_role, effects)) in NAMES.iter().zip(&rows) {
                let said = said(&rules, name, who);
                let denied = said == Some(Verdict::Deny);
                let able = *min_role <= who && effects.within(proxy.grant().effects);
                let named = rules.iter().any(|rule| {
                    rule.decision == Verdict::Deny
                        && rule.agent.is_none()
                        && said == Some(Verdict::Deny)
                        && Pattern::new(rule.tool.as_str()).matches(name)
                        && rule.role.is_none_or(|role| role == who)
                });
                // What is denied is not shown either, and no rule shows what the grant does not have.
                let callable = matches!(view.find(name), Found::Callable(_));
                prop_assert_eq!(callable, able && !named, "{}", name);

                let free = Effects::of(&[Effect::Read, Effect::Write, Effect::Message, Effect::Exec]);
                let asks = match said {
                    Some(verdict) => verdict == Verdict::Ask,
                    None => !effects.within(free),
                };
                for remembers in [false, true] {
                    world.run.services = if remembers { services.clone() } else { unasked.clone() };
                    let end = runtime
                        .block_on(world.pipeline.run(&view, call(name, ""), &world.run))
                        .unwrap();
                    let got = match end {
                        CallEnd::Waiting(_) => Err(None),
                        CallEnd::Output(output) => match &output.error {
                            Some(error) => Err(Some(error.code)),
                            None => {
                                prop_assert_eq!(output.status, Status::Success);
                                Ok(())
                            }
                        },
                    };
                    let expected = if !able || denied {
                        Err(Some(Code::NotPermitted))
                    } else if !asks || remembers && !never {
                        Ok(())
                    } else if attended && !never {
                        Err(None)
                    } else {
                        Err(Some(Code::NeedsApproval))
                    };
                    prop_assert_eq!(got, expected, "{} {:?}", name, said);
                }
            }
        }
    }
}
