//! Where a call leads on to while it is made: judged as a call of its own, with nobody to ask.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use outfitter_core::{
    Attended, Effect, Effects, Hash, Onward, Outcome, Role, Status, ToolName, Verdict,
};
use outfitter_tools::{
    Approvals, DefaultPolicy, Pipeline, PipelineOptions, Rule, Rules, ToolsConfig,
};
use rstest::rstest;
use serde_json::json;

use crate::support::{Probe, World};

fn rule(decision: Verdict, args: &str) -> Rule {
    Rule {
        tool: "fetch".to_owned(),
        args: Some(args.into()),
        tenant: None,
        role: None,
        channel: None,
        agent: None,
        decision,
    }
}

/// A tool that is led on: it gives what is said of that.
fn fetch(effect: Effect) -> Probe {
    Probe::new("fetch")
        .spec(|spec| spec.effects = Effects::of(&[effect]))
        .call(|cx, args| {
            Box::pin(async move {
                let Some(judge) = cx.services.get::<dyn Onward>() else {
                    return Ok(Outcome::json(json!("nobody judges")).into());
                };
                let tool = ToolName::new(args["as"].as_str().unwrap_or("fetch")).unwrap();
                let (from, to) = (json!({"url": args["url"]}), json!({"url": args["hop"]}));
                let decision = judge.judge(&tool, &from, &to);
                let said = format!("{:?} {}", decision.verdict, decision.reason);
                Ok(Outcome::json(json!(said.trim())).into())
            })
        })
}

/// Remembers whatever it was asked for first.
#[derive(Default)]
struct First(Mutex<Option<Hash>>);

impl Approvals for First {
    fn covers(&self, shape: &Hash) -> bool {
        self.0.lock().unwrap().get_or_insert(*shape) == shape
    }
}

/// Somebody said yes to everything.
struct Everything;

impl Approvals for Everything {
    fn covers(&self, _: &Hash) -> bool {
        true
    }
}

fn world(approvals: Arc<dyn Approvals>) -> World {
    let rules = vec![
        rule(Verdict::Allow, "url=https://docs.example/*"),
        rule(Verdict::Ask, "url=*/private*"),
        rule(Verdict::Deny, "url=*evil*"),
    ];
    let mut world = World::new([fetch(Effect::Network)]).role(Role::Admin);
    world.registry.configure(ToolsConfig {
        policy: Arc::new(Rules::new(rules, Arc::new(DefaultPolicy)).unwrap()),
        ..ToolsConfig::default()
    });
    world.run.attended = Attended::Yes;
    world.run.services = world.run.services.clone().with(approvals);
    world
}

const BY_DEFAULT: &str = "Ask its effects go beyond the session: network";

#[rstest]
#[case::allowed_there("https://docs.example/a", "https://docs.example/b", "Allow")]
#[case::out_of_what_is_allowed("https://docs.example/a", "https://else.example/b", BY_DEFAULT)]
#[case::denied(
    "https://docs.example/a",
    "https://evil.example/b",
    "Deny rule 2 denies it"
)]
#[case::denied_in_another_spelling(
    "https://docs.example/a",
    "HTTPS://EVIL.example:443/b",
    "Deny rule 2 denies it"
)]
#[case::what_a_rule_asks_about(
    "https://docs.example/a",
    "https://docs.example/private",
    "Ask rule 1 asks for it"
)]
#[tokio::test]
async fn a_redirect_led_past_the_rules_of_the_first_address(
    #[case] url: &str,
    #[case] hop: &str,
    #[case] expected: &str,
) {
    let world = world(Arc::new(BTreeSet::new()));
    let args = json!({"url": url, "hop": hop}).to_string();
    let output = world.output("fetch", &args).await;
    assert_eq!(output.status, Status::Success);
    assert_eq!(output.result, Some(json!(expected)));
}

/// The first address asks here, and somebody said yes to it.
#[rstest]
#[case::the_same_host("https://a.example/x", "https://a.example/y", "Allow")]
#[case::another_host("https://a.example/x", "https://b.example/x", BY_DEFAULT)]
#[case::another_scheme("http://a.example/x", "https://a.example/x", BY_DEFAULT)]
#[case::another_reason(
    "https://a.example/x",
    "https://a.example/private",
    "Ask rule 1 asks for it; its effects go beyond the session: network"
)]
#[case::into_what_is_allowed("https://a.example/x", "https://docs.example/x", "Allow")]
#[case::denied(
    "https://a.example/x",
    "https://a.example/evil",
    "Deny rule 2 denies it"
)]
#[tokio::test]
async fn a_yes_to_an_address_counts_where_the_same_would_be_asked_of_a_like_one(
    #[case] url: &str,
    #[case] hop: &str,
    #[case] expected: &str,
) {
    let world = world(Arc::new(First::default()));
    let args = json!({"url": url, "hop": hop}).to_string();
    let output = world.output("fetch", &args).await;
    assert_eq!(output.result, Some(json!(expected)));
}

#[tokio::test]
async fn what_was_approved_before_is_approved_as_a_hop_unless_nobody_may_be_asked() {
    let hop = json!({"url": "https://docs.example/a", "hop": "https://b.example/"}).to_string();
    let mut world = world(Arc::new(Everything));
    let output = world.output("fetch", &hop).await;
    assert_eq!(output.result, Some(json!("Allow")));
    world.pipeline = Pipeline::new(PipelineOptions {
        approval: outfitter_tools::Approval::Never,
        ..PipelineOptions::default()
    });
    let output = world.output("fetch", &hop).await;
    assert_eq!(output.result, Some(json!(BY_DEFAULT)));
}

#[tokio::test]
async fn a_hop_is_of_the_tool_that_was_called() {
    let world = world(Arc::new(Everything));
    let args = json!({"url": "https://a.example/", "hop": "https://a.example/", "as": "other"});
    let output = world.output("fetch", &args.to_string()).await;
    let refused = json!("Deny it is another tool than the one that was called");
    assert_eq!(output.result, Some(refused));
}

#[tokio::test]
async fn calls_that_stay_here_have_nobody_to_ask() {
    let world = World::new([fetch(Effect::Read)]);
    let output = world.output("fetch", "{}").await;
    assert_eq!(output.result, Some(json!("nobody judges")));
}
