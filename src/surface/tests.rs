//! Conversations as lists, over a log.

use std::path::Path;
use std::sync::Arc;

use outfitter_codec::{Watched, check_lines, encode_event};
use outfitter_core::{
    CallId, Code, EntryBody, ErrorInfo, Event, Message, MessageId, MessageRole, Part, Seq,
    SessionId, ToolCall, ToolOutput,
};
use rstest::rstest;
use serde_json::json;

use super::ConversationError;
use crate::config::Config;
use crate::env::Environment;
use crate::{Builder, Outfitter};

fn outfitter(dir: &Path) -> Outfitter {
    let mut config = Config::default();
    config.store.url = Some("memory:".to_owned());
    config.store.data_dir = Some(dir.to_owned());
    Builder::new(config, Environment::of(dir, [("HOME", "/nowhere")]))
        .build()
        .unwrap()
}

fn said(id: &str, role: MessageRole, text: &str) -> Arc<Message> {
    Arc::new(Message::text(MessageId::new(id).unwrap(), role, text))
}

fn call(id: &str) -> Arc<Message> {
    Arc::new(Message {
        id: MessageId::new(format!("msg_of_{id}")).unwrap(),
        role: MessageRole::Assistant,
        parts: vec![Part::ToolCall(ToolCall {
            id: CallId::new(id).unwrap(),
            name: "calculator".to_owned(),
            arguments: "{}".into(),
        })],
        output: None,
    })
}

fn result(id: &str) -> Arc<Message> {
    let error = ErrorInfo::new(Code::Failed, "no");
    let call = CallId::new(id).unwrap();
    let output = ToolOutput::failed("calculator", call, json!({}), error);
    Arc::new(Message {
        id: MessageId::new(format!("msg_for_{id}")).unwrap(),
        role: MessageRole::Tool,
        parts: vec![Part::Text {
            text: output.projection().0,
        }],
        output: Some(Arc::new(output)),
    })
}

#[rstest]
#[case(&[call("a"), result("a")], true)]
#[case(&[call("a")], false)]
#[case(&[result("a")], false)]
#[case(&[call("a"), result("b")], false)]
#[case(&[call("a"), said("msg_1", MessageRole::User, "so?"), result("a")], false)]
#[case(&[call("a"), result("a"), result("a")], false)]
#[tokio::test]
async fn a_call_is_saved_with_its_result_or_not_at_all(
    #[case] messages: &[Arc<Message>],
    #[case] taken: bool,
) {
    let dir = tempfile::tempdir().unwrap();
    let outfitter = outfitter(dir.path());
    let store = outfitter.conversations();
    let id = SessionId::new("moved").unwrap();
    let saved = store.save(&id, messages).await;
    let kept = store.load(&id).await.unwrap();
    if taken {
        saved.unwrap();
        assert_eq!(kept, messages);
    } else {
        assert!(matches!(saved, Err(ConversationError::OpenCalls)));
        assert!(kept.is_empty());
    }
}

#[tokio::test]
async fn what_is_saved_is_told_again_like_any_run() {
    let dir = tempfile::tempdir().unwrap();
    let outfitter = outfitter(dir.path());
    let store = outfitter.conversations();
    let id = SessionId::new("moved").unwrap();
    let mut messages = vec![said("msg_1", MessageRole::User, "Hello.")];
    store.save(&id, &messages).await.unwrap();
    messages.extend([
        call("a"),
        result("a"),
        said("msg_2", MessageRole::Assistant, "Hello to you."),
    ]);
    store.save(&id, &messages).await.unwrap();
    store.save(&id, &messages).await.unwrap();
    assert_eq!(store.load(&id).await.unwrap(), messages);

    let log = outfitter.log();
    let page = log.read(&outfitter.local_scope(), &id, Seq(1), 100).await;
    let mut lines = Vec::new();
    for entry in page.unwrap().entries {
        let EntryBody::Event(body) = entry.body.clone() else {
            panic!("{entry:?}");
        };
        let event = Event {
            seq: entry.event.unwrap(),
            at: entry.at,
            session: id.clone(),
            run: entry.run.clone(),
            via: None,
            body,
        };
        encode_event(&event, &mut lines).unwrap();
    }
    let lines = String::from_utf8(lines).unwrap();
    check_lines(Watched::Replayed, &lines).unwrap();
    assert_eq!(lines.matches("\"run_finished\"").count(), 2);
}

#[tokio::test]
async fn a_session_at_work_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let outfitter = outfitter(dir.path());
    let store = outfitter.conversations();
    let id = SessionId::new("busy").unwrap();
    let _held = outfitter.hold(&id).unwrap().unwrap();
    let messages = [said("msg_1", MessageRole::User, "Hello.")];
    let saved = store.save(&id, &messages).await;
    assert!(matches!(saved, Err(ConversationError::InUse)));
    assert!(matches!(
        store.clear(&id).await,
        Err(ConversationError::InUse)
    ));
}
