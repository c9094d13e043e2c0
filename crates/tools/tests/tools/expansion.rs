//! Tools that are not shown until they are asked for, and calls that wait for a yes.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{
    Attended, CallEnd, Code, Effect, Effects, EntryBody, Exposure, InterruptKind, OnExpiry,
    SessionFacts, ToolIndex, ToolName, ToolOutput,
};
use outfitter_tools::{Approval, PipelineOptions, ToolView, expand_tools};
use serde_json::json;

use crate::support::{Probe, World, call};

fn world() -> World {
    let deferred = |name: &str| Probe::new(name).spec(|spec| spec.exposure = Exposure::Deferred);
    World::of(vec![
        Arc::new(Probe::new("search_memory")),
        Arc::new(deferred("file_read")),
        Arc::new(deferred("file_write")),
        Arc::new(Probe::new("secret").spec(|spec| spec.exposure = Exposure::Hidden)),
        expand_tools(),
    ])
}

fn view_with(world: &World, expanded: &[&str]) -> Arc<ToolView> {
    let expanded: BTreeSet<ToolName> = expanded
        .iter()
        .map(|name| ToolName::new(*name).unwrap())
        .collect();
    let facts = SessionFacts {
        expanded: Arc::new(expanded),
        ..world.facts()
    };
    world
        .registry
        .seal(world.grant.clone(), Default::default())
        .view(&facts)
}

async fn made(world: &World, view: &Arc<ToolView>, name: &str, raw: &str) -> Arc<ToolOutput> {
    let mut run = world.run.clone();
    run.services = run.services.with::<dyn ToolIndex>(view.clone());
    match world
        .pipeline
        .run(view, call(name, raw), &run)
        .await
        .unwrap()
    {
        CallEnd::Output(output) => output,
        CallEnd::Waiting(interrupt) => panic!("waits: {interrupt:?}"),
    }
}

#[tokio::test]
async fn expansion_is_a_partial_success_of_the_exact_shape() {
    let world = world();
    let view = view_with(&world, &[]);
    let raw = r#"{"tool_names":["file_read","unknown_tool","search_memory","secret"]}"#;
    let output = made(&world, &view, "tool_expand_tools", raw).await;
    assert_eq!(
        output.result,
        Some(json!({
            "success": true,
            "expanded_tools": ["file_read"],
            "invalid_tools": ["secret", "unknown_tool"],
            "already_selected_tools": ["search_memory"],
            "available_expandable_tools": ["file_write"],
        }))
    );
    let activated = EntryBody::Activated(vec![ToolName::new("file_read").unwrap()]);
    assert!(world.journal.entries().contains(&activated));
}

#[tokio::test]
async fn nothing_but_invalid_names_is_no_success_and_all_selected_is_one() {
    let world = world();
    let view = view_with(&world, &["file_read"]);
    for (names, success) in [(r#"["nope"]"#, false), (r#"["file_read"]"#, true)] {
        let raw = format!(r#"{{"tool_names":{names}}}"#);
        let output = made(&world, &view, "tool_expand_tools", &raw).await;
        assert_eq!(
            output.result.as_ref().unwrap()["success"],
            success,
            "{names}"
        );
    }
}

#[tokio::test]
async fn a_deferred_tool_is_refused_with_the_way_to_it_until_it_is_expanded() {
    let world = world();
    let refused = made(&world, &view_with(&world, &[]), "file_read", "{}").await;
    let error = refused.error.as_ref().unwrap();
    assert_eq!(error.code, Code::NotPresented);
    assert!(
        error.hint.as_ref().unwrap().contains("tool_expand_tools"),
        "{error:?}"
    );
    let view = view_with(&world, &["file_read"]);
    assert!(made(&world, &view, "file_read", "{}").await.error.is_none());
}

#[tokio::test]
async fn a_call_by_name_was_refused_because_no_model_was_shown_the_tool() {
    let world = world();
    let view = view_with(&world, &[]);
    let direct = async |name: &str| {
        let made = world
            .pipeline
            .run_direct(&view, call(name, "{}"), &world.run);
        match made.await.unwrap() {
            CallEnd::Output(output) => output,
            CallEnd::Waiting(interrupt) => panic!("waits: {interrupt:?}"),
        }
    };
    assert!(direct("file_read").await.error.is_none());
    let code = direct("nothing").await.error.as_ref().unwrap().code;
    assert_eq!(code, Code::UnknownTool);
    let names: Vec<String> = view
        .callable()
        .into_iter()
        .map(|tool| tool.name.to_string())
        .collect();
    // Nothing is hidden from who calls by name, so no way to more is needed.
    assert_eq!(names, ["file_read", "file_write", "search_memory"]);
}

#[test]
fn the_reminder_names_what_is_not_shown_and_the_way_is_shown_only_while_there_is_more() {
    let world = world();
    let names =
        |view: &ToolView| -> Vec<String> { view.presented().map(ToString::to_string).collect() };
    let view = view_with(&world, &["file_read"]);
    assert_eq!(
        names(&view),
        ["file_read", "search_memory", "tool_expand_tools"]
    );
    let reminder = view.reminder().unwrap();
    assert!(
        reminder.contains("- file_write:") && !reminder.contains("file_read"),
        "{reminder}"
    );
    let view = view_with(&world, &["file_read", "file_write"]);
    assert_eq!(names(&view), ["file_read", "file_write", "search_memory"]);
    assert_eq!(view.reminder(), None);
}

#[tokio::test]
async fn what_would_ask_waits_for_a_person_where_one_is_there_and_is_denied_elsewhere() {
    let fetch = || Probe::new("fetch").spec(|spec| spec.effects = Effects::of(&[Effect::Network]));
    for (attended, approval, waits) in [
        (Attended::Yes, Approval::Ask, true),
        (Attended::No, Approval::Ask, false),
        (Attended::Yes, Approval::Never, false),
    ] {
        let options = PipelineOptions {
            approval,
            ..PipelineOptions::default()
        };
        let mut world = World::new([fetch()]).options(options);
        world.run.attended = attended;
        match world.end("fetch", "{}").await.unwrap() {
            CallEnd::Waiting(interrupt) => {
                assert!(waits);
                assert!(matches!(interrupt.kind, InterruptKind::Approval { .. }));
                assert_eq!(interrupt.on_expiry, OnExpiry::Deny);
                let recorded = world.journal.kinds();
                assert!(
                    !recorded.contains(&"intent".to_owned()),
                    "nothing has begun"
                );
            }
            CallEnd::Output(output) => {
                assert!(!waits);
                assert_eq!(output.error.as_ref().unwrap().code, Code::NeedsApproval);
            }
        }
    }
}
