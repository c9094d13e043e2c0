//! A server's tools through the registry and the pipeline, as everything calls them.

use std::sync::Arc;

use outfitter_core::{
    Arguments, CallEnd, CallHost as _, CallId, Code, Effect, Effects, Event, EventSink, RawCall,
    Role, SessionId, Status, ToolOutput, ToolSource as _,
};
use outfitter_mcp::StdioServer;
use serde_json::{Value, json};

use crate::hosted::{Hosted, principal};
use crate::support::Odd;

struct Nobody;

impl EventSink for Nobody {
    fn send(&self, _: Arc<Event>) {}
}

async fn call(change: impl FnOnce(&mut StdioServer), role: Role, args: Value) -> Arc<ToolOutput> {
    let odd = Odd::start_with("plain", &[], change);
    odd.until_ready().await;
    of(odd, role, args).await
}

async fn of(odd: Odd, role: Role, args: Value) -> Arc<ToolOutput> {
    let hosted = Hosted::of(Arc::new(odd.source));
    let call = RawCall {
        id: CallId::new("call").unwrap(),
        name: "odd__echo".to_owned(),
        arguments: Arguments::from_value(args),
    };
    let session = SessionId::new("s").unwrap();
    let end = hosted
        .call(principal("ann", role), &session, call, Arc::new(Nobody))
        .await;
    match end.unwrap() {
        CallEnd::Output(output) => output,
        CallEnd::Waiting(interrupt) => panic!("waits: {interrupt:?}"),
    }
}

fn code(output: &ToolOutput) -> Option<Code> {
    output.error.as_ref().map(|error| error.code)
}

#[tokio::test]
async fn a_user_calls_it_also_when_nobody_is_there_to_approve() {
    let output = call(|_| {}, Role::User, json!({"a": 1})).await;
    assert_eq!((output.status, code(&output)), (Status::Success, None));
    assert_eq!(output.result, Some(json!(r#"{"a": 1}"#)));
}

#[tokio::test]
async fn a_guest_does_not_unless_the_operator_says_so() {
    assert_eq!(
        code(&*call(|_| {}, Role::Guest, json!({})).await),
        Some(Code::NotPermitted)
    );
    let output = call(
        |server| server.min_role = Role::Guest,
        Role::Guest,
        json!({}),
    )
    .await;
    assert_eq!(output.status, Status::Success);
}

#[tokio::test]
async fn a_server_that_the_operator_calls_a_network_is_approved_call_by_call() {
    let network = |server: &mut StdioServer| server.effects = Effects::of(&[Effect::Network]);
    let output = call(network, Role::Admin, json!({})).await;
    assert_eq!(code(&output), Some(Code::NeedsApproval));
}

/// A server that keeps sessions of its own has parameters with names that we have, too: they are
/// shown, asked for and passed on as the model wrote them, and nothing of ours is put in their place.
#[tokio::test]
async fn a_servers_own_session_id_was_hidden_and_overwritten() {
    let odd = Odd::ready("identity").await;
    assert_eq!(odd.faults(), Vec::<String>::new());
    let schema = odd.source.snapshot().tools[0].spec().input_schema.clone();
    let own = json!({
        "session_id": "theirs", "user_id": "u", "tool_call_id": "c", "tool_name": "n",
        "tool": "t", "token": "abc", "role": "r", "arguments": "a",
    });
    for name in own.as_object().unwrap().keys() {
        assert_eq!(schema["properties"][name]["type"], "string", "{schema}");
    }
    let output = of(odd, Role::User, own.clone()).await;
    assert_eq!(code(&output), None);
    let got = output.result.as_ref().unwrap().as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(got).unwrap(), own);

    let output = of(Odd::ready("identity").await, Role::User, json!({})).await;
    assert_eq!(code(&output), Some(Code::InvalidArguments));
}
