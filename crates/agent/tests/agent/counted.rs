//! What tools use of models is told as usage, and held against the limit of the turn.

use std::sync::Arc;

use futures_util::StreamExt as _;
use outfitter_core::*;
use serde_json::json;

use crate::harness::*;

const PICTURE: &str = "what is in the picture?";

/// A tool that asks the model of the run, and reads so many pieces of what it says.
fn looking(pieces: usize) -> Arc<dyn Tool> {
    let act: Act = Arc::new(move |cx, _| {
        Box::pin(async move {
            let model = cx.services.need::<dyn ModelProvider>("model")?;
            let message = Message::text(MessageId::mint(&*cx.clock), MessageRole::User, PICTURE);
            let request = ModelRequest {
                system: "describe it".into(),
                messages: vec![Arc::new(message)],
                tools: Arc::from([]),
            };
            let reply = model.stream(request, cx.cancel.child()).await;
            let reply = reply.map_err(|error| ToolError::failed(error.to_string()))?;
            let said: Vec<_> = reply.take(pieces).collect().await;
            Ok(Outcome::json(json!(said.len())).into())
        })
    });
    Arc::new(Counting::new("look", Effects::READ, act))
}

/// A tool with a model of its own, which says what that used.
fn telling() -> Arc<dyn Tool> {
    let act: Act = Arc::new(|cx, _| {
        Box::pin(async move {
            let meter = cx.services.need::<dyn UsageMeter>("meter")?;
            meter.used(TokenUsage {
                input_tokens: 7,
                output_tokens: 3,
                ..TokenUsage::default()
            });
            Ok(Outcome::text("told").into())
        })
    });
    Arc::new(Counting::new("look", Effects::READ, act))
}

fn script(usage: Option<TokenUsage>) -> Script {
    Arc::new(move |replies, request| {
        if request.system.starts_with("describe") {
            let usage = usage.map(|usage| Ok(ModelDelta::Usage(usage)));
            let said = [text("a "), text("cat"), stop(StopReason::End)];
            return said.into_iter().chain(usage).collect();
        }
        match replies {
            0 => calls(&[("l", "look", "{}")]),
            _ => say("done"),
        }
    })
}

async fn used(tool: Arc<dyn Tool>, usage: Option<TokenUsage>) -> Vec<TokenUsage> {
    let process = World::new(vec![tool]).alive(script(usage));
    let (end, events) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let bodies = bodies(&events).into_iter();
    let used = bodies.filter_map(|body| match body {
        EventBody::Usage(usage) => Some(*usage),
        _ => None,
    });
    used.collect()
}

#[tokio::test]
async fn what_a_provider_reports_is_told_after_the_call() {
    let reported = TokenUsage {
        input_tokens: 1_000,
        output_tokens: 20,
        cache_read_tokens: 5,
        ..TokenUsage::default()
    };
    let used = used(looking(100), Some(reported)).await;
    assert_eq!(
        used.len(),
        3,
        "two of the turn, and the tool's between them"
    );
    assert_eq!(used[1], reported);
}

#[tokio::test]
async fn what_nobody_reports_or_reads_to_its_end_is_estimated() {
    for pieces in [1, 2, 100] {
        let used = used(looking(pieces), None).await;
        assert_eq!(used.len(), 3);
        assert_eq!(used[1].source, UsageSource::Estimated);
        let asked = "describe it".len() + PICTURE.len();
        assert_eq!(used[1].input_tokens, asked.div_ceil(4) as u64);
        assert_eq!(used[1].output_tokens, if pieces == 1 { 1 } else { 2 });
    }
}

#[tokio::test]
async fn a_tool_with_a_model_of_its_own_says_what_that_used() {
    let used = used(telling(), None).await;
    assert_eq!((used[1].input_tokens, used[1].output_tokens), (7, 3));
}

#[tokio::test]
async fn it_counts_against_the_limit_of_the_turn() {
    let reported = TokenUsage {
        input_tokens: 1_000,
        output_tokens: 20,
        ..TokenUsage::default()
    };
    for (limit, outcome) in [(1_000, RunOutcome::Limit), (5_000, RunOutcome::Success)] {
        let mut world = World::new(vec![looking(100)]);
        world.settings.limits.max_total_tokens = Some(limit);
        let process = world.alive(script(Some(reported)));
        let (end, _) = process.prompt("go").await;
        assert_eq!(end.outcome, outcome, "{limit}");
    }
}

#[tokio::test]
async fn a_direct_call_tells_it_before_its_end() {
    let process = World::new(vec![looking(100)]).alive(script(None));
    let queue = outfitter_agent::EventQueue::new();
    let call = RawCall {
        id: CallId::new("c").unwrap(),
        name: "look".to_owned(),
        arguments: Arguments::parse("{}"),
    };
    let end = process
        .agent
        .call(&process.session, call, Cancel::new(), queue.clone())
        .await;
    assert!(matches!(end, Ok(CallEnd::Output(_))));
    queue.close();
    let mut events = Vec::new();
    while let Some(event) = queue.next().await {
        events.push(event);
    }
    check_order(&events);
    let place = |is: fn(&EventBody) -> bool| bodies(&events).into_iter().position(is).unwrap();
    let usage = place(|body| matches!(body, EventBody::Usage(_)));
    assert!(place(|body| matches!(body, EventBody::Message(_))) < usage);
    assert!(usage < place(|body| matches!(body, EventBody::RunFinished { .. })));
}
