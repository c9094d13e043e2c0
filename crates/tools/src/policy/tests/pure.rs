//! A verdict is of what is known, and of nothing else.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use outfitter_core::{Deadline, LeadsTo};
use proptest::prelude::*;

use super::unopened::unopened;
use super::*;

/// Files whose links lead elsewhere at each look.
#[derive(Default)]
struct Shifting {
    looks: AtomicUsize,
    seed: usize,
}

const PLACES: [&str; 4] = [
    "/home/u/ws/a",
    "/home/u/ws/s/k",
    "/etc/shadow",
    "/home/u/.ssh/id",
];

impl Shifting {
    fn look(&self) -> usize {
        self.looks.fetch_add(1, Ordering::SeqCst) + self.seed
    }
}

unopened!(Shifting {
    fn leads_to(&self, _: &str, _: Deadline) -> LeadsTo {
        match self.look() % 6 {
            at @ 0..4 => LeadsTo::Path(PLACES[at].to_owned()),
            4 => LeadsTo::Itself,
            _ => LeadsTo::Unknown,
        }
    }
    fn is_same(&self, _: &str, _: &str) -> bool {
        self.look().is_multiple_of(5)
    }
    fn home(&self) -> Option<&Path> {
        Some(Path::new("/home/u"))
    }
});

fn verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(vec![Verdict::Allow, Verdict::Ask, Verdict::Deny])
}

fn pattern() -> impl Strategy<Value = String> {
    prop::sample::select(
        [
            "a",
            "s/**",
            "*",
            "**/k",
            "/etc/shadow",
            "~/.ssh",
            "s/k",
            "./s/../a",
        ]
        .to_vec(),
    )
    .prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    prop::sample::select(["a", "s/k", "link", "../x", "~/.ssh/id", "/etc/shadow"].to_vec())
        .prop_map(str::to_owned)
}

prop_compose! {
    fn rows()(rows in prop::collection::vec((verdict(), pattern(), prop::bool::ANY), 0..4)) -> Vec<Rule> {
        rows.into_iter().map(|(decision, pattern, table)| {
            let args = if table {
                RuleArgs::Table([("path".to_owned(), json!(pattern))].into())
            } else {
                RuleArgs::Text(pattern)
            };
            Rule { args: Some(args), ..rule(decision, "") }
        }).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn a_verdict_looked_at_the_disk_and_was_another_one_the_next_time(
        under in verdict(), rules in rows(), extra in (verdict(), pattern()), path in path(),
        seed in 0_usize..30, isolating in prop::bool::ANY,
    ) {
        let files = Shifting { seed, ..Shifting::default() };
        let who = ToolContext::detached().who;
        let spec = ToolSpec {
            name: outfitter_core::ToolName::new("tool").unwrap(),
            ..crate::read_artifact(10).spec().clone()
        };
        let facts = Facts::of(&spec).about(&path).on(Targets::Paths(vec![path.clone()]));
        let args = json!({ "path": path });
        let refusing = RefusingSandbox::new();
        let sandbox = SandboxInfo {
            isolating,
            workspace: "/home/u/ws".into(),
            ..refusing.info().clone()
        };
        let policy = |rules: Vec<Rule>| Rules::new(rules, Arc::new(Fixed(under))).unwrap();
        let with: Vec<Rule> = rules.iter().cloned().chain([rule(extra.0, &extra.1)]).collect();
        let (policy, more) = (policy(rules), policy(with));
        // All that either may want to know is looked up once.
        let named = more.paths(&who, &spec).unwrap();
        let paths = KnownPaths::look(&files, std::slice::from_ref(&path), &named);
        let looks = files.looks.load(Ordering::SeqCst);
        let call = CallFacts {
            spec: &spec, args: &args, facts: &facts, sandbox: &sandbox, paths: &paths,
            agent: MAIN_AGENT,
        };
        let first = policy.decide(&who, &call);
        prop_assert_eq!(policy.decide(&who, &call), first.clone());
        prop_assert_eq!(files.looks.load(Ordering::SeqCst), looks);
        // One rule more is stricter where it asks or denies, and never where it allows.
        let then = more.decide(&who, &call).verdict;
        match extra.0 {
            Verdict::Allow => prop_assert!(then <= first.verdict),
            Verdict::Ask | Verdict::Deny => prop_assert!(then >= first.verdict),
        }
        // What the other policy denies stays denied.
        prop_assert!(under != Verdict::Deny || first.verdict == Verdict::Deny);
    }

    #[test]
    fn all_paths_that_rules_compare_are_named_before(rules in rows()) {
        let who = ToolContext::detached().who;
        let spec = ToolSpec {
            name: outfitter_core::ToolName::new("tool").unwrap(),
            ..crate::read_artifact(10).spec().clone()
        };
        let literal: Vec<_> = rules
            .iter()
            .filter_map(|rule| rule.args.as_ref())
            .flat_map(RuleArgs::texts)
            .filter(|text| !text.contains('*'))
            .map(str::to_owned)
            .collect();
        let any = !rules.is_empty();
        let named = Rules::new(rules, Arc::new(DefaultPolicy)).unwrap().paths(&who, &spec);
        prop_assert_eq!(named.is_some(), any);
        for text in literal {
            prop_assert!(named.as_ref().is_some_and(|named| named.contains(&text)));
        }
    }
}
