//! Authority only narrows: what is shown ⊆ what is found ⊆ what answers ⊆ what is granted.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{
    CallEnd, Code, Effect, Effects, Exposure, Grant, NameSet, Role, Selection, SessionFacts,
    Status, Tool,
};
use outfitter_tools::{Found, ToolView, ToolsConfig};
use proptest::prelude::*;

use crate::support::{Probe, World, call, principal};

const NAMES: [&str; 8] = ["a", "ab", "abc", "b", "ba", "bac", "c", "cab"];
const EXPOSURES: [Exposure; 4] = [
    Exposure::Always,
    Exposure::Listed,
    Exposure::Deferred,
    Exposure::Hidden,
];

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::ALL.to_vec())
}

fn effects() -> impl Strategy<Value = Effects> {
    prop::sample::subsequence(Effect::ALL.to_vec(), 0..=7).prop_map(|effects| Effects::of(&effects))
}

fn names() -> impl Strategy<Value = NameSet> {
    prop_oneof![
        3 => Just(NameSet::all()),
        5 => prop::collection::vec("[abc*?]{1,3}", 0..4).prop_map(NameSet::of),
    ]
}

fn selection() -> impl Strategy<Value = Selection> {
    (names(), effects()).prop_map(|(tools, effects)| Selection {
        tools,
        effects,
        ..Selection::default()
    })
}

prop_compose! {
    fn tools()(rows in prop::collection::vec(
        (role(), effects(), prop::sample::select(EXPOSURES.to_vec())), NAMES.len()
    )) -> Vec<(Role, Effects, Exposure)> { rows }
}

fn world(rows: &[(Role, Effects, Exposure)]) -> World {
    let tools = NAMES
        .iter()
        .zip(rows)
        .map(|(name, &(role, effects, exposure))| {
            Arc::new(Probe::new(name).spec(|spec| {
                spec.min_role = role;
                spec.effects = effects;
                spec.exposure = exposure;
            })) as Arc<dyn Tool>
        })
        .collect();
    World::of(tools)
}

struct Sets {
    presented: BTreeSet<String>,
    found: BTreeSet<String>,
    answering: BTreeSet<String>,
    closed: BTreeSet<String>,
}

fn sets(view: &ToolView) -> Sets {
    let kind = |wanted: fn(&Found<'_>) -> bool| {
        NAMES
            .iter()
            .filter(|name| wanted(&view.find(name)))
            .map(|name| (*name).to_owned())
            .collect()
    };
    Sets {
        presented: view.presented().map(ToString::to_string).collect(),
        found: view
            .listing()
            .iter()
            .map(|tool| tool.name.to_string())
            .collect(),
        answering: kind(|found| matches!(found, Found::Callable(_) | Found::NotPresented(_))),
        closed: kind(|found| matches!(found, Found::NotPermitted)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn each_gate_is_inside_the_next_and_children_only_narrow(
        rows in tools(), who in role(), granted in role(),
        first in selection(), second in selection(), available in names(),
    ) {
        let world = world(&rows);
        world.registry.configure(ToolsConfig { available: available.clone(), ..ToolsConfig::default() });
        let facts = SessionFacts { who: principal(who), ..world.facts() };
        let proxy = world.registry.seal(Grant::full(granted), first);
        let child = proxy.narrow(second);
        for (proxy, grant) in [(&proxy, proxy.grant()), (&child, child.grant())] {
            let view = proxy.view(&facts);
            let sets = sets(&view);
            prop_assert!(sets.presented.is_subset(&sets.found));
            prop_assert!(sets.found.is_subset(&sets.answering));
            prop_assert!(sets.closed.is_disjoint(&sets.answering));
            for (name, (min_role, effects, _)) in NAMES.iter().zip(&rows) {
                let allowed = grant.tools.has(name) && available.has(name);
                let able = *min_role <= who.min(granted) && effects.within(grant.effects);
                prop_assert_eq!(sets.answering.contains(*name), allowed && able, "{}", name);
                prop_assert_eq!(sets.closed.contains(*name), allowed && !able, "{}", name);
            }
        }
        let (wide, narrow) = (sets(&proxy.view(&facts)), sets(&child.view(&facts)));
        prop_assert!(narrow.presented.is_subset(&wide.presented));
        prop_assert!(narrow.found.is_subset(&wide.found));
        prop_assert!(narrow.answering.is_subset(&wide.answering));
    }

    #[test]
    fn a_call_gets_through_exactly_where_the_view_says_so(
        rows in tools(), who in role(), selected in selection(),
    ) {
        let world = world(&rows).role(who);
        let proxy = world.registry.seal(Grant::full(Role::Admin), selected);
        let view = proxy.view(&world.facts());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for name in NAMES {
            let end = runtime.block_on(world.pipeline.run(&view, call(name, ""), &world.run)).unwrap();
            let CallEnd::Output(output) = end else { panic!("waits") };
            let code = output.error.as_ref().map(|error| error.code);
            match view.find(name) {
                Found::Callable(spec) => {
                    let free = Effects::ALL.without(Effects::of(&[
                        Effect::WriteOutside, Effect::Network, Effect::MessageOther,
                    ]));
                    let expected = (!spec.effects.within(free)).then_some(Code::NeedsApproval);
                    prop_assert_eq!(code, expected);
                    prop_assert_eq!(output.status == Status::Success, expected.is_none());
                }
                Found::NotPresented(_) => prop_assert_eq!(code, Some(Code::NotPresented)),
                Found::NotPermitted => prop_assert_eq!(code, Some(Code::NotPermitted)),
                Found::Unknown(_) => prop_assert_eq!(code, Some(Code::UnknownTool)),
            }
        }
    }
}
