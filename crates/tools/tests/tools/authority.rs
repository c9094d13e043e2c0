//! Authority only narrows: what is shown ⊆ what is found ⊆ what answers ⊆ what is granted.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{
    CallEnd, Code, Effect, Effects, Exposure, Grant, Mode, NameSet, Role, Selection, SessionFacts,
    Status, Tool, ToolIndex as _, Trust,
};
use outfitter_tools::{Found, ToolProxy, ToolView, ToolsConfig, split_qualified};
use proptest::prelude::*;

use crate::support::{Probe, World, call, principal, source};

/// The tools: two of a source that ships, three that the operator put there, three from elsewhere.
const NAMES: [&str; 8] = [
    "a", "ab", "abc", "b", "ba", "far__bac", "far__c", "far__cab",
];
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
        5 => prop::collection::vec("[abc*?]{1,3}|far__[bc*]{1,2}", 0..4).prop_map(NameSet::of),
    ]
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![
        3 => Just(Mode::Agent),
        2 => Just(Mode::Plan),
        1 => Just(Mode::Chat),
    ]
}

fn selection() -> impl Strategy<Value = Selection> {
    (names(), effects(), mode()).prop_map(|(tools, effects, mode)| Selection {
        tools,
        effects,
        mode,
        ..Selection::default()
    })
}

prop_compose! {
    fn tools()(rows in prop::collection::vec(
        (role(), effects(), prop::sample::select(EXPOSURES.to_vec())), NAMES.len()
    )) -> Vec<(Role, Effects, Exposure)> { rows }
}

fn world(rows: &[(Role, Effects, Exposure)]) -> World {
    let of = |trust: Trust| -> Vec<Arc<dyn Tool>> {
        NAMES
            .iter()
            .zip(rows)
            .enumerate()
            .filter(|(at, _)| trust_of(*at) == trust)
            .map(|(_, (name, &(role, effects, exposure)))| {
                let name = split_qualified(name).map_or(*name, |(_, name)| name);
                Arc::new(Probe::new(name).spec(|spec| {
                    spec.min_role = role;
                    spec.effects = effects;
                    spec.exposure = exposure;
                })) as Arc<dyn Tool>
            })
            .collect()
    };
    let world = World::of(of(Trust::Builtin));
    for (id, trust) in [("mine", Trust::Operator), ("far", Trust::Remote)] {
        world.registry.add(source(id, trust, of(trust))).unwrap();
    }
    assert_eq!(world.registry.faults(), Vec::new());
    world
}

fn trust_of(at: usize) -> Trust {
    match at {
        0..2 => Trust::Builtin,
        2..5 => Trust::Operator,
        _ => Trust::Remote,
    }
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
        first in selection(), second in selection(), available in names(), configured in mode(),
    ) {
        let world = world(&rows);
        world.registry.configure(ToolsConfig {
            available: available.clone(),
            mode: configured,
            ..ToolsConfig::default()
        });
        let facts = SessionFacts { who: principal(who), ..world.facts() };
        let proxy = world.registry.seal(Grant::full(granted), first);
        let child = proxy.narrow(second);
        for (proxy, grant) in [(&proxy, proxy.grant()), (&child, child.grant())] {
            let view = proxy.view(&facts);
            let sets = sets(&view);
            prop_assert!(sets.presented.is_subset(&sets.found));
            prop_assert!(sets.found.is_subset(&sets.answering));
            prop_assert!(sets.closed.is_disjoint(&sets.answering));
            if grant.mode.meet(configured) == Mode::Chat {
                prop_assert!(sets.answering.is_empty());
            }
            // Asking to be shown something shows nothing that does not answer.
            let all = NAMES.map(str::to_owned);
            let expansion = view.expansion(&all);
            for name in expansion.expanded.iter().chain(&expansion.selected) {
                prop_assert!(sets.found.contains(name.as_str()), "{}", name);
            }
            for (name, (min_role, effects, _)) in NAMES.iter().zip(&rows) {
                let allowed = grant.tools.has(name) && available.has(name);
                let mode = grant.mode.meet(configured);
                let able = *min_role <= who.min(granted)
                    && effects.within(grant.effects)
                    && mode.admits(*effects);
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

/// Everything that a view says, for comparing two.
fn said(
    proxy: &ToolProxy,
    facts: &SessionFacts,
) -> (Vec<String>, BTreeSet<String>, BTreeSet<String>) {
    let view = proxy.view(facts);
    let sets = sets(&view);
    let presented = view.presented().map(ToString::to_string).collect();
    (presented, sets.answering, sets.closed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// What a proxy was narrowed by is a set: no order, no repetition and no grouping of it matters.
    #[test]
    fn narrowing_is_commutative_associative_and_idempotent(
        rows in tools(), who in role(), granted in role(), a in selection(), b in selection(), c in selection(),
    ) {
        let world = world(&rows);
        let facts = SessionFacts { who: principal(who), ..world.facts() };
        let whole = world.registry.seal(Grant::full(granted), Selection::default());
        let of = |all: &[&Selection]| {
            let proxy = all.iter().fold(whole.clone(), |proxy, one| proxy.narrow((*one).clone()));
            said(&proxy, &facts)
        };
        prop_assert_eq!(of(&[&a, &b, &c]), of(&[&c, &b, &a]));
        prop_assert_eq!(of(&[&a, &b, &c]), of(&[&b, &a, &c, &a]));
        prop_assert_eq!(of(&[&a]), of(&[&a, &a]));
        prop_assert_eq!(of(&[]), of(&[&Selection::default()]));
        // Sealing with a selection is narrowing by it.
        let sealed = world.registry.seal(Grant::full(granted), a.clone());
        prop_assert_eq!(said(&sealed, &facts), of(&[&a]));
    }

    /// A proxy that is open sees each change of the configuration, in both directions.
    #[test]
    fn an_open_proxy_follows_the_configuration_both_ways(
        rows in tools(), who in role(), selected in selection(),
        narrow in names(), lesser in mode(),
    ) {
        let world = world(&rows);
        let facts = SessionFacts { who: principal(who), ..world.facts() };
        let proxy = world.registry.seal(Grant::full(Role::Admin), selected.clone());
        let before = said(&proxy, &facts);
        world.registry.configure(ToolsConfig {
            available: narrow.clone(), mode: lesser, ..ToolsConfig::default()
        });
        let meanwhile = said(&proxy, &facts);
        let same = proxy.narrow(Selection { tools: narrow, mode: lesser, ..Selection::default() });
        prop_assert_eq!(&meanwhile, &said(&same, &facts));
        prop_assert!(meanwhile.1.is_subset(&before.1));
        world.registry.configure(ToolsConfig::default());
        prop_assert_eq!(said(&proxy, &facts), before);
    }
}
