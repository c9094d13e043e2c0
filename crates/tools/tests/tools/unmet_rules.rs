//! Rules that can never meet a call: a word that is spelled otherwise was taken for a rule.

use std::collections::BTreeMap;

use outfitter_core::{Facts, Pattern, Role, Targets, Verdict};
use outfitter_tools::{Later, Rule, RuleArgs, RuleFindings, Surroundings};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Probe, World};

fn world() -> World {
    let read = Probe::new("file_read")
        .schema(json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "mode": {"enum": ["text", "binary"]}},
            "required": ["path"],
            "additionalProperties": false,
        }))
        .facts(|spec, args| {
            let path = args["path"].as_str().unwrap_or_default().to_owned();
            Ok(Facts::of(spec)
                .about(&path)
                .on(Targets::Paths(vec![path.clone()])))
        });
    let run = Probe::new("run_command")
        .schema(json!({
            "type": "object",
            "properties": {"command": {"type": "string"}, "cwd": {"type": "string"}},
            "required": ["command"],
        }))
        .facts(|spec, args| {
            let line = args["command"].as_str().unwrap_or_default();
            Ok(Facts::of(spec).about(line).on(Targets::CommandLine))
        });
    let send = Probe::new("send_message").schema(json!({
        "type": "object",
        "properties": {
            "to": {"type": "object", "properties": {"platform": {"type": "string"}}},
            "urgent": {"type": "boolean"},
        },
    }));
    World::new([read, run, send])
}

fn rule(tool: &str, args: Option<RuleArgs>) -> Rule {
    Rule {
        tool: tool.to_owned(),
        args,
        tenant: None,
        role: Some(Role::User),
        channel: None,
        agent: None,
        decision: Verdict::Deny,
    }
}

fn found(rule: Rule) -> RuleFindings {
    let aliases = BTreeMap::from([("read".to_owned(), "file_read".to_owned())]);
    let later = Later {
        names: Pattern::new("notes__*"),
        from: "the MCP server notes".to_owned(),
    };
    let around = Surroundings {
        later: vec![later],
        aliases: Some(&aliases),
        channels: &["cli", "http"],
        agents: &["main"],
        tenants: &["local"],
        ..Surroundings::default()
    };
    world().registry.rule_findings(&[rule], &around)
}

/// The faults as `key: why [close]`.
fn faults(rule: Rule) -> Vec<String> {
    let found = found(rule);
    assert_eq!(found.unchecked, []);
    let line = |fault: outfitter_tools::RuleFault| {
        format!("{}: {} [{}]", fault.key, fault.why, fault.close.join(" "))
    };
    found.faults.into_iter().map(line).collect()
}

#[rstest]
#[case("file_raed", "no tool is called \"file_raed\" [file_read]")]
#[case("fiel_*", "no tool has a name like \"fiel_*\" [file_read]")]
#[case("nots__add", "no tool is called \"nots__add\" []")]
#[case(
    "read",
    "\"read\" is another name of file_read, and rules know it by its own [file_read]"
)]
fn a_rule_for_a_tool_of_no_such_name_was_taken_in_silence(#[case] tool: &str, #[case] why: &str) {
    assert_eq!(faults(rule(tool, None)), [format!("tool: {why}")]);
}

#[rstest]
#[case("file_read", json!({"pth": "a"}), "args.pth: file_read has no argument \"pth\" [path]")]
#[case("file_read", json!({"path": "a", "mode": "txt"}), "args.mode: mode of file_read is never \"txt\" [text]")]
#[case("*", json!({"pth": "a"}), "args.pth: no tool that it means has an argument \"pth\" [path]")]
#[case("send_message", json!({"/to/platfrom": "x"}), "args./to/platfrom: send_message has no argument \"/to/platfrom\" [platform]")]
#[case("send_message", json!({"urgent": "maybe"}), "args.urgent: urgent of send_message is never \"maybe\" []")]
#[case("send_*", json!({"urgnt": true}), "args.urgnt: send_message has no argument \"urgnt\" [urgent]")]
fn a_rule_for_an_argument_of_no_such_name_was_taken_in_silence(
    #[case] tool: &str,
    #[case] args: Value,
    #[case] fault: &str,
) {
    let args = RuleArgs::Table(serde_json::from_value(args).unwrap());
    if tool == "*" {
        // What is not there yet may have it.
        let found = found(rule(tool, Some(args)));
        assert_eq!(found.faults, []);
        assert_eq!(found.unchecked[0].key, "args.pth");
        return;
    }
    assert_eq!(faults(rule(tool, Some(args))), [fault]);
}

#[rstest]
#[case(
    "send_message",
    "urgnt=true",
    "args: send_message has no argument \"urgnt\" [urgent]"
)]
#[case(
    "send_message",
    "urgent",
    "args: a text means an argument of send_message only as NAME=GLOB [urgent]"
)]
#[case(
    "run_command",
    "command=git *",
    "args: for run_command a text is the words of a command or a glob of a path; to mean an argument by its name, write args = { command = … } []"
)]
#[case(
    "file_read",
    "path=src/**",
    "args: for file_read a text is the words of a command or a glob of a path; to mean an argument by its name, write args = { path = … } []"
)]
fn a_text_that_can_mean_no_argument_was_taken_in_silence(
    #[case] tool: &str,
    #[case] args: &str,
    #[case] fault: &str,
) {
    assert_eq!(faults(rule(tool, Some(args.into()))), [fault]);
}

#[rstest]
#[case("file_read", "src/**")]
#[case("file_*", ".env")]
#[case("run_command", "git *")]
#[case("run_command", "A=b env")]
#[case("send_message", "urgent=true")]
#[case("send_message", "/to/platform=x*")]
#[case("*", "anything")]
fn a_text_that_can_meet_a_call_is_right(#[case] tool: &str, #[case] args: &str) {
    assert_eq!(faults(rule(tool, Some(args.into()))), Vec::<String>::new());
}

#[rstest]
#[case(Rule { channel: Some("htpt".into()), ..rule("*", None) }, "channel: there is no channel \"htpt\", only cli, http [http]")]
#[case(Rule { agent: Some("mian*".into()), ..rule("*", None) }, "agent: there is no agent \"mian*\", only \"main\" [main]")]
#[case(Rule { tenant: Some("acme".into()), ..rule("*", None) }, "tenant: there is no tenant \"acme\", only \"local\" []")]
fn a_rule_for_nobody_was_taken_in_silence(#[case] rule: Rule, #[case] fault: &str) {
    assert_eq!(faults(rule), [fault]);
}

#[rstest]
#[case("notes__add", None, &["tool"])]
#[case("notes__*", Some("x=y"), &["tool", "args"])]
#[case("no*", Some("x=y"), &["tool", "args"])]
fn what_may_still_come_is_not_called_wrong(
    #[case] tool: &str,
    #[case] args: Option<&str>,
    #[case] keys: &[&str],
) {
    let found = found(rule(tool, args.map(RuleArgs::from)));
    assert_eq!(found.faults, []);
    let unchecked: Vec<&str> = found.unchecked.iter().map(|one| &*one.key).collect();
    assert_eq!(unchecked, keys);
    assert_eq!(found.unchecked[0].from, "the MCP server notes");
}
