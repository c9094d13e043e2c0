//! Rules whose arguments are a table, and rules of agents.

use super::*;

fn table(decision: Verdict, entries: Value) -> Rule {
    Rule {
        args: Some(RuleArgs::Table(serde_json::from_value(entries).unwrap())),
        ..rule(decision, "")
    }
}

#[test]
fn a_table_means_each_argument_by_its_name() {
    use Verdict::{Allow, Ask, Deny};
    let denies = |entries: Value, args: Value| {
        let rules = vec![table(Deny, entries)];
        decide(Allow, rules, Targets::Arguments, "", &args)
    };
    let mail = json!({"to": ["a@x.example", "B@Y.example"], "copy": true, "n": 3});
    assert_eq!(denies(json!({"to": "*@y.example"}), mail.clone()), Deny);
    assert_eq!(denies(json!({"to": "*@z.example"}), mail.clone()), Allow);
    assert_eq!(
        denies(json!({"to": ["*@z.example", "a@*"]}), mail.clone()),
        Deny
    );
    assert_eq!(
        denies(json!({"to": "*@y.example", "copy": true}), mail.clone()),
        Deny
    );
    assert_eq!(
        denies(json!({"to": "*@y.example", "copy": false}), mail.clone()),
        Allow
    );
    assert_eq!(denies(json!({"n": 3}), mail.clone()), Deny);
    assert_eq!(denies(json!({"n": "3"}), mail.clone()), Deny);
    for same in ["3", "3.0", "3e0", "30e-1"] {
        let args: Value = serde_json::from_str(&format!("{{\"n\": {same}}}")).unwrap();
        assert_eq!(denies(json!({"n": 3}), args.clone()), Deny, "{same}");
        assert_eq!(denies(json!({"n": 3.0}), args), Deny, "{same}");
    }
    assert_eq!(denies(json!({"n": 3}), json!({"n": 3.5})), Allow);
    assert_eq!(denies(json!({"n": 3}), json!({"n": "3"})), Allow);
    assert_eq!(denies(json!({"/to/1": "b@*"}), mail.clone()), Deny);
    assert_eq!(denies(json!({"none": "*"}), mail.clone()), Allow);

    let allows = |entries: Value, args: &Value| {
        let rules = vec![table(Allow, entries)];
        decide(Ask, rules, Targets::Arguments, "", args)
    };
    // All of a list, just so, and nothing that is not there.
    assert_eq!(allows(json!({"to": "*.example"}), &mail), Allow);
    assert_eq!(allows(json!({"to": "*@x.example"}), &mail), Ask);
    assert_eq!(allows(json!({"to": "*.EXAMPLE"}), &mail), Ask);
    assert_eq!(allows(json!({"to": "*", "none": "*"}), &mail), Ask);
    assert_eq!(allows(json!({"to": "*"}), &json!({"to": []})), Ask);
}

#[test]
fn a_table_reads_commands_and_paths_as_such() {
    use Verdict::{Allow, Ask, Deny};
    let run = |rules: Vec<Rule>, line: &str, more: Value| {
        let mut args = more;
        args["command"] = json!(line);
        decide(Ask, rules, Targets::CommandLine, line, &args)
    };
    let git = || table(Allow, json!({"command": "git *", "cwd": "a"}));
    let in_a = json!({"cwd": "a"});
    assert_eq!(run(vec![git()], "git status", in_a.clone()), Allow);
    assert_eq!(run(vec![git()], "git status", json!({"cwd": "b"})), Ask);
    assert_eq!(run(vec![git()], "git status; rm x", in_a.clone()), Ask);
    assert_eq!(run(vec![git()], "git status > f", in_a.clone()), Ask);
    // Each command by some rule.
    let both = || vec![git(), table(Allow, json!({"command": ["ls *", "pwd"]}))];
    assert_eq!(run(both(), "git status; ls; pwd", in_a.clone()), Allow);
    assert_eq!(run(both(), "git status; ls; id", in_a.clone()), Ask);
    let denied = || {
        vec![
            git(),
            table(Deny, json!({"command": "git push *", "cwd": "a"})),
        ]
    };
    assert_eq!(run(denied(), "ls; git -C x push", in_a.clone()), Deny);
    assert_eq!(run(denied(), "git push", json!({"cwd": "b"})), Ask);

    let paths = |rules: Vec<Rule>, args: Value| {
        let named = ["from", "to"]
            .iter()
            .filter_map(|name| args[*name].as_str());
        let targets = Targets::Paths(named.map(str::to_owned).collect());
        decide(Ask, rules, targets, "", &args)
    };
    let copy = || vec![table(Allow, json!({"from": "src/**", "to": "out/**"}))];
    assert_eq!(
        paths(copy(), json!({"from": "src/a", "to": "out/a"})),
        Allow
    );
    assert_eq!(paths(copy(), json!({"from": "out/a", "to": "out/a"})), Ask);
    assert_eq!(
        paths(copy(), json!({"from": "src/../x", "to": "out/a"})),
        Ask
    );
    assert_eq!(paths(copy(), json!({"from": "src/a"})), Ask);
    let half = || vec![table(Allow, json!({"from": "src/**"}))];
    assert_eq!(paths(half(), json!({"from": "src/a", "to": "b"})), Ask);
    let deny = || vec![table(Deny, json!({"to": ".env"}))];
    assert_eq!(
        paths(deny(), json!({"from": "a", "to": "./x/../.ENV"})),
        Deny
    );
    assert_eq!(paths(deny(), json!({"from": ".env", "to": "a"})), Ask);
}

#[test]
fn an_argument_that_is_left_out_has_its_default() {
    let spec = crate::read_artifact(10).spec().clone();
    let rules = [table(Verdict::Deny, json!({"offset": 0}))];
    let (facts, args) = (Facts::of(&spec), json!({"id": "x"}));
    let refusing = RefusingSandbox::new();
    let (sandbox, paths) = (refusing.info().clone(), KnownPaths::default());
    let call = CallFacts {
        spec: &spec,
        args: &args,
        facts: &facts,
        sandbox: &sandbox,
        paths: &paths,
        agent: MAIN_AGENT,
    };
    let all = vec![Rule {
        tool: "read_*".to_owned(),
        ..rules[0].clone()
    }];
    let policy = Rules::new(all, Arc::new(Fixed(Verdict::Allow))).unwrap();
    let who = ToolContext::detached().who;
    assert_eq!(policy.decide(&who, &call).verdict, Verdict::Deny);
}

#[rstest]
#[case("/mode", json!({}), true)]
#[case("/mode", json!({"mode": "y"}), false)]
#[case("/a~1b", json!({}), true)]
#[case("a/b", json!({}), true)]
// In an object that is given, in one that has a default, and in one that is left out.
#[case("/in/mode", json!({"in": {}}), true)]
#[case("/in/mode", json!({"in": {"mode": "y"}}), false)]
#[case("/with/mode", json!({}), true)]
#[case("/in/mode", json!({}), true)]
#[case("/list/0/mode", json!({"list": [{}]}), true)]
#[case("/list/1/mode", json!({"list": [{}]}), false)]
#[case("/loop/mode", json!({}), false)]
#[case("/in/mode", json!({"in": "text"}), false)]
fn a_rule_with_a_pointer_is_not_escaped_by_leaving_out_what_has_a_default(
    #[case] name: &str,
    #[case] args: Value,
    #[case] denied: bool,
) {
    let decided = |decision: Verdict, under: Verdict, args: &Value| {
        let mode = || json!({"default": "x"});
        let schema = json!({
            "type": "object",
            "properties": {
                "mode": mode(),
                "a/b": mode(),
                "in": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/in"}, {"type": "string"}]},
                "with": {"default": {"mode": "x"}},
                "list": {"items": {"$ref": "#/$defs/in"}},
                "loop": {"$ref": "#/$defs/loop"},
            },
            "$defs": {
                "in": {"properties": {"mode": mode()}},
                "loop": {"$ref": "#/$defs/loop"},
            },
        });
        let tool = outfitter_core::ToolName::new("tool").unwrap();
        let spec = ToolSpec::new(tool, "", schema);
        let (facts, refusing) = (Facts::of(&spec), RefusingSandbox::new());
        let paths = KnownPaths::default();
        let call = CallFacts {
            spec: &spec,
            args,
            facts: &facts,
            sandbox: refusing.info(),
            paths: &paths,
            agent: MAIN_AGENT,
        };
        let rules = vec![table(decision, json!({name: "x"}))];
        let policy = Rules::new(rules, Arc::new(Fixed(under))).unwrap();
        policy.decide(&ToolContext::detached().who, &call).verdict
    };
    let verdict = decided(Verdict::Deny, Verdict::Allow, &args);
    assert_eq!(verdict == Verdict::Deny, denied);
    // Nothing is allowed by a default of what is not there.
    if name == "/in/mode" && args == json!({}) {
        let verdict = decided(Verdict::Allow, Verdict::Ask, &args);
        assert_eq!(verdict, Verdict::Ask);
    }
}

#[test]
fn a_rule_is_for_the_agents_that_it_names() {
    let decided = |agent: Option<&str>| {
        let rule = Rule {
            agent: agent.map(str::to_owned),
            ..rule(Verdict::Deny, "")
        };
        decide(
            Verdict::Allow,
            vec![rule],
            Targets::Arguments,
            "",
            &json!({}),
        )
    };
    assert_eq!(decided(None), Verdict::Deny);
    assert_eq!(decided(Some("main")), Verdict::Deny);
    assert_eq!(decided(Some("m*")), Verdict::Deny);
    assert_eq!(decided(Some("other")), Verdict::Allow);
}

#[rstest]
#[case(json!({}), "its args are empty; leave them out for any")]
#[case(json!({"a": " "}), "an argument is to be a text, a number, true, false, or a list of these")]
#[case(json!({"a": []}), "an argument is to be a text, a number, true, false, or a list of these")]
#[case(json!({"a": {"b": 1}}), "an argument is to be a text, a number, true, false, or a list of these")]
#[case(json!({"": 1}), "an argument has no name")]
fn a_table_that_means_nothing_is_refused(#[case] entries: Value, #[case] why: &str) {
    assert_eq!(table(Verdict::Deny, entries).check(), Err(why));
}
