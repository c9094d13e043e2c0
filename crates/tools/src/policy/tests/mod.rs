use std::sync::Arc;

use outfitter_core::{
    CallFacts, Decision, Facts, Files, KnownPaths, Level, MAIN_AGENT, Policy, Principal,
    RefusingSandbox, Role, Sandbox as _, SandboxInfo, Targets, ToolContext, ToolSpec, Verdict,
};
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

mod far;
mod pure;
mod reads;
mod shapes;
mod tables;
mod unopened;

struct Fixed(Verdict);

impl Policy for Fixed {
    fn visible(&self, _: &Principal, _: &ToolSpec) -> bool {
        true
    }

    fn decide(&self, _: &Principal, _: &CallFacts<'_>) -> Decision {
        match self.0 {
            Verdict::Allow => Decision::allow(),
            Verdict::Ask => Decision::ask("the other asks"),
            Verdict::Deny => Decision::deny("the other denies"),
        }
    }
}

fn rule(decision: Verdict, args: &str) -> Rule {
    Rule {
        tool: "t*".to_owned(),
        args: (!args.is_empty()).then(|| args.into()),
        tenant: None,
        role: None,
        channel: None,
        agent: None,
        decision,
    }
}

fn decide(
    under: Verdict,
    rules: Vec<Rule>,
    targets: Targets,
    subject: &str,
    args: &Value,
) -> Verdict {
    let refusing = RefusingSandbox::new();
    decide_with(refusing.files(), under, rules, targets, subject, args)
}

fn decide_with(
    files: &dyn Files,
    under: Verdict,
    rules: Vec<Rule>,
    targets: Targets,
    subject: &str,
    args: &Value,
) -> Verdict {
    let spec = crate::read_artifact(10).spec().clone();
    let spec = ToolSpec {
        name: outfitter_core::ToolName::new("tool").unwrap(),
        ..spec
    };
    let facts = Facts::of(&spec).about(subject).on(targets);
    let sandbox = SandboxInfo {
        backend: "none".to_owned(),
        level: Level::None,
        isolating: false,
        missing: Vec::new(),
        workspace: "/home/u/ws".into(),
        network: false,
        account: None,
    };
    let who = ToolContext::detached().who;
    let policy = Rules::new(rules, Arc::new(Fixed(under))).unwrap();
    let named = policy.paths(&who, &spec).unwrap();
    let paths = KnownPaths::look(files, facts.targets.paths(), &named);
    let call = CallFacts {
        spec: &spec,
        args,
        facts: &facts,
        sandbox: &sandbox,
        paths: &paths,
        agent: MAIN_AGENT,
    };
    policy.decide(&who, &call).verdict
}

fn line(line: &str, rules: Vec<Rule>) -> Verdict {
    decide(Verdict::Ask, rules, Targets::CommandLine, line, &json!({}))
}

#[test]
fn e01_a_rule_means_commands_and_not_how_a_line_begins() {
    use Verdict::{Allow, Ask, Deny};
    let (mut counts, mut wrong) = ([0; 3], Vec::new());
    for row in include_str!("../lines.txt")
        .lines()
        .filter(|row| !row.starts_with('#'))
    {
        let (verdict, text) = row.split_once('\t').unwrap();
        let expected = match verdict {
            "allow" => Allow,
            "ask" => Ask,
            "deny" => Deny,
            other => panic!("{other}"),
        };
        counts[expected as usize] += 1;
        let rules = vec![
            rule(Allow, "git *"),
            rule(Deny, "git push *"),
            rule(Allow, "ls *"),
            rule(Deny, "sudo *"),
            rule(Deny, "rm -rf *"),
        ];
        let got = line(&text.replace("\\n", "\n"), rules);
        // A deny may be hidden where a line cannot be read; it asks then.
        if got != expected {
            wrong.push(format!("{text}: {got:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Forty in each direction, beside those of others.
    let held = counts[1] + counts[2];
    assert!(
        counts[0] >= 40 && held >= 80 && counts[2] >= 30,
        "{counts:?}"
    );
}

#[test]
fn the_lines_that_another_policy_got_wrong_are_right_here() {
    use Verdict::{Allow, Ask, Deny};
    let allowed = [
        "git *",
        "grep *",
        "awk *",
        "sed *",
        "cd *",
        "pip install *",
        "chmod *",
        "./a.sh",
        "python3 *",
        "ls *",
        "echo *",
        "rm -rf /workspace/*",
    ];
    let rows: Vec<Vec<&str>> = include_str!("../others.txt")
        .lines()
        .filter(|row| !row.starts_with('#'))
        .map(|row| row.split('\t').collect())
        .collect();
    assert_eq!(rows.len(), 19);
    for row in rows {
        let [name, verdict, text] = row[..] else {
            panic!("{row:?}")
        };
        let mut rules: Vec<Rule> = allowed.iter().map(|args| rule(Allow, args)).collect();
        rules.push(rule(Deny, "sudo *"));
        let expected = match verdict {
            "allow" => Allow,
            "ask" => Ask,
            _ => Deny,
        };
        assert_eq!(
            line(&text.replace("\\n", "\n"), rules),
            expected,
            "{name}: {text}"
        );
    }
}

#[test]
fn e03_deny_wins_over_ask_and_ask_over_allow_in_any_order() {
    use Verdict::{Allow, Ask, Deny};
    for under in [Allow, Ask, Deny] {
        for first in [None, Some(Allow), Some(Ask), Some(Deny)] {
            for second in [None, Some(Allow), Some(Ask), Some(Deny)] {
                let rules: Vec<Rule> = [first, second]
                    .into_iter()
                    .flatten()
                    .map(|verdict| rule(verdict, "ls *"))
                    .collect();
                let said = [first, second].into_iter().flatten().max();
                let expected = match (under, said) {
                    (Deny, _) => Deny,
                    (_, Some(said)) => said,
                    (under, None) => under,
                };
                let got = decide(under, rules, Targets::CommandLine, "ls -l", &json!({}));
                assert_eq!(got, expected, "{under:?} {first:?} {second:?}");
            }
        }
    }
}

#[rstest]
#[case(".env", ".env")]
#[case(".env", "./.env")]
#[case(".env", "a/../.env")]
#[case(".env", ".//.env")]
#[case(".env", "../ws/.env")]
#[case(".env", "/home/u/ws/.env")]
#[case(".env", "/home/u/./ws//.env")]
#[case(".env", ".ENV")]
#[case(".env", "sub/.Env")]
#[case(".env", "．env")]
#[case("/home/u/.ssh/**", "/home/u/./.ssh/id")]
#[case("/home/u/.ssh/**", "/home/u//.ssh/id")]
#[case("/home/u/.ssh/**", "../.ssh/id")]
#[case("/home/u/.ssh/**", "/home/x/../u/.SSH/id")]
#[case("~/.ssh", "~/.ssh/id")]
#[case("~/.ssh", "~//.ssh/id")]
#[case("~/.ssh", "$HOME/.ssh/id")]
#[case("~/.ssh", "${HOME}/.ssh/id")]
#[case("secrets/**", "secrets/a/b")]
#[case("secrets", "x/secrets/a")]
#[case("caf\u{e9}.txt", "cafe\u{301}.txt")]
#[case("cafe\u{301}.txt", "caf\u{e9}.txt")]
fn d03_d04_d05_a_denied_path_is_denied_however_it_is_written(
    #[case] glob: &str,
    #[case] path: &str,
) {
    let paths = |path: &str| Targets::Paths(vec!["ok.txt".to_owned(), path.to_owned()]);
    let args = json!({});
    let denied = vec![rule(Verdict::Deny, glob)];
    assert_eq!(
        decide(Verdict::Allow, denied.clone(), paths(path), "", &args),
        Verdict::Deny
    );
    assert_eq!(
        decide(Verdict::Allow, denied, paths("src/env.rs"), "", &args),
        Verdict::Allow
    );
}

#[test]
fn an_allowed_path_does_not_lead_out_of_where_it_is_allowed() {
    let allowed = || vec![rule(Verdict::Allow, "src/**")];
    let of = |paths: &[&str]| {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        decide(
            Verdict::Ask,
            allowed(),
            Targets::Paths(paths),
            "",
            &json!({}),
        )
    };
    assert_eq!(of(&["src/a.rs"]), Verdict::Allow);
    assert_eq!(of(&["./src//a.rs"]), Verdict::Allow);
    assert_eq!(of(&["src/../b.rs"]), Verdict::Ask);
    assert_eq!(of(&["src/a.rs", "b.rs"]), Verdict::Ask);
    assert_eq!(of(&["src/../../x"]), Verdict::Ask);
    assert_eq!(of(&[]), Verdict::Ask);
}

#[test]
fn arguments_of_other_tools_are_held_to_a_glob() {
    let of = |args: Value| {
        let rules = vec![
            rule(Verdict::Deny, "to=*@example.org"),
            rule(Verdict::Deny, "/a/0=7"),
        ];
        decide(Verdict::Allow, rules, Targets::Arguments, "", &args)
    };
    assert_eq!(of(json!({"to": "x@example.org"})), Verdict::Deny);
    assert_eq!(of(json!({"a": [7]})), Verdict::Deny);
    assert_eq!(of(json!({"to": "x@example.com", "a": [8]})), Verdict::Allow);
}

#[test]
fn a_changed_environment_is_not_allowed_by_a_rule() {
    let of = |args: Value| {
        decide(
            Verdict::Ask,
            vec![rule(Verdict::Allow, "ls *")],
            Targets::CommandLine,
            "ls",
            &args,
        )
    };
    assert_eq!(of(json!({"env": {}})), Verdict::Allow);
    assert_eq!(of(json!({"env": {"PATH": "/tmp"}})), Verdict::Ask);
}

#[test]
fn a_rule_is_for_whom_it_says() {
    let who = ToolContext::detached().who;
    let base = rule(Verdict::Deny, "");
    let name = outfitter_core::ToolName::new("tool").unwrap();
    let other = [Role::Guest, Role::Admin]
        .into_iter()
        .find(|role| *role != who.role);
    assert!(base.is_for(&who, &name));
    for off in [
        Rule {
            tool: "other".to_owned(),
            ..base.clone()
        },
        Rule {
            tenant: Some("other".to_owned()),
            ..base.clone()
        },
        Rule {
            channel: Some("other".to_owned()),
            ..base.clone()
        },
        Rule {
            role: other,
            ..base.clone()
        },
    ] {
        assert!(!off.is_for(&who, &name), "{off:?}");
    }
}

#[test]
fn a_rule_that_means_nothing_is_named_by_its_place() {
    let rules = vec![
        rule(Verdict::Deny, "ls"),
        Rule {
            args: Some(" ".into()),
            ..rule(Verdict::Ask, "")
        },
    ];
    let error = Rules::new(rules, Arc::new(DefaultPolicy)).err().unwrap();
    insta::assert_snapshot!(error, @"rule 1: its args are empty; leave them out for any");
}
