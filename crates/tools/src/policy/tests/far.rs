//! Files of which it cannot be told what a path leads to, as those of another machine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use outfitter_core::{Deadline, LeadsTo};

use super::unopened::unopened;
use super::*;

struct Far;

unopened!(Far {});

fn far(under: Verdict, rules: Vec<Rule>, path: &str) -> Verdict {
    let targets = Targets::Paths(vec![path.to_owned()]);
    decide_with(&Far, under, rules, targets, path, &json!({ "path": path }))
}

#[test]
fn files_that_do_not_tell_what_a_path_leads_to_say_so() {
    assert_eq!(Far.leads_to("docs/x", Deadline::NEVER), LeadsTo::Unknown);
}

#[rstest]
#[case::denied_by_its_name(Verdict::Deny, "secrets/k", Verdict::Deny)]
#[case::a_deny_that_may_mean_it(Verdict::Deny, "docs/x", Verdict::Ask)]
#[case::an_ask_that_may_mean_it(Verdict::Ask, "docs/x", Verdict::Ask)]
fn a_link_nobody_can_look_through_passes_no_rule_that_denies_or_asks(
    #[case] decision: Verdict,
    #[case] path: &str,
    #[case] expected: Verdict,
) {
    let text = rule(decision, "secrets/**");
    assert_eq!(far(Verdict::Allow, vec![text.clone()], path), expected);
    let table = std::collections::BTreeMap::from([("path".to_owned(), json!("secrets/**"))]);
    let table = Rule {
        args: Some(RuleArgs::Table(table)),
        ..text
    };
    assert_eq!(far(Verdict::Allow, vec![table], path), expected);
}

#[test]
fn a_path_nobody_can_look_through_is_allowed_by_no_rule_with_a_path() {
    let allow = |args| vec![rule(Verdict::Allow, args)];
    assert_eq!(far(Verdict::Ask, allow("src/**"), "src/a"), Verdict::Ask);
    assert_eq!(far(Verdict::Ask, allow(""), "src/a"), Verdict::Allow);
}

/// A machine that says nothing: whoever asks waits as long as they may.
#[derive(Default)]
struct Silent(AtomicUsize);

unopened!(Silent {
    fn leads_to(&self, _: &str, by: Deadline) -> LeadsTo {
        self.0.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(by.remaining().unwrap());
        LeadsTo::Unknown
    }
});

#[test]
fn each_of_a_hundred_paths_was_waited_for_anew_where_a_machine_said_nothing() {
    let silent = Silent::default();
    let paths: Vec<String> = (0..100).map(|n| format!("docs/{n}")).collect();
    let by = Deadline::after(Duration::from_millis(20));
    let known = KnownPaths::look_by(by, &silent, &paths, &["secrets".to_owned()]);
    assert_eq!(silent.0.load(Ordering::SeqCst), 1);
    for path in &paths {
        assert_eq!(known.leads_to(path), &LeadsTo::Unknown);
    }
}
