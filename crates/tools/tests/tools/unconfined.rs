//! Calls that are what they seem only where something confines them.

use std::sync::Arc;

use outfitter_core::{
    Attended, CallEnd, CallFacts, Decision, Effect, Effects, EntryBody, Facts, InterruptKind,
    Policy, Principal, ToolSpec, Unconfined,
};

use crate::support::{Probe, World, sandbox};

/// Runs programs, but that this call only reads is what its line says.
fn runs(unconfined: Unconfined) -> World {
    let all = Effects::of(&[Effect::Read, Effect::Exec]);
    let probe = Probe::new("run")
        .spec(|spec| spec.effects = all)
        .facts(move |spec, _| {
            Ok(Facts {
                effects: Effects::READ,
                idempotent: true,
                unconfined: Some(unconfined.clone()),
                ..Facts::of(spec)
            })
        });
    World::new([probe])
}

fn steered() -> Unconfined {
    Unconfined {
        why: Some("a file says what it does".to_owned()),
        reads: Vec::new(),
    }
}

struct AllowsAll;

impl Policy for AllowsAll {
    fn visible(&self, _: &Principal, _: &ToolSpec) -> bool {
        true
    }
    fn decide(&self, _: &Principal, _: &CallFacts<'_>) -> Decision {
        Decision::allow()
    }
}

async fn asked(unconfined: Unconfined, isolating: bool) -> Option<InterruptKind> {
    let mut world = runs(unconfined);
    world.run.sandbox = sandbox(isolating);
    world.run.attended = Attended::Yes;
    match world.end("run", "{}").await.unwrap() {
        CallEnd::Waiting(interrupt) => Some(interrupt.kind.clone()),
        CallEnd::Output(_) => None,
    }
}

#[tokio::test]
async fn what_a_file_steers_is_asked_about_where_nothing_holds_it_and_the_question_says_why() {
    assert_eq!(asked(steered(), true).await, None);
    let Some(InterruptKind::Approval { reason }) = asked(steered(), false).await else {
        panic!("it is not asked about");
    };
    insta::assert_snapshot!(reason, @"its effects go beyond the session: exec (the sandbox does not isolate, and a file says what it does)");
}

#[tokio::test]
async fn a_path_that_may_lead_out_is_asked_about_where_nothing_holds_what_reads_it() {
    // Of these files it cannot be told what they lead to.
    let reads = Unconfined {
        why: None,
        reads: vec!["link".to_owned()],
    };
    assert_eq!(asked(reads.clone(), true).await, None);
    let Some(InterruptKind::Approval { reason }) = asked(reads, false).await else {
        panic!("it is not asked about");
    };
    insta::assert_snapshot!(reason, @"its effects go beyond the session: exec (the sandbox does not isolate, and `link` may lead to what the session may not read)");
    assert_eq!(asked(Unconfined::default(), false).await, None);
}

#[tokio::test]
async fn what_a_file_steers_is_on_record_before_it_runs_once_it_is_approved() {
    for (isolating, intents) in [(true, 0), (false, 1)] {
        let mut world = runs(steered());
        world.run.sandbox = sandbox(isolating);
        world.registry.configure(outfitter_tools::ToolsConfig {
            policy: Arc::new(AllowsAll),
            ..outfitter_tools::ToolsConfig::default()
        });
        world.output("run", "{}").await;
        let entries = world.journal.entries();
        let is_intent = |entry: &&EntryBody| matches!(entry, EntryBody::Intent(_));
        assert_eq!(entries.iter().filter(is_intent).count(), intents);
    }
}
