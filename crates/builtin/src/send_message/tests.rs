use std::sync::{Arc, Mutex};

use outfitter_core::{Code, Services, StreamId};
use serde_json::json;

use super::*;

/// A channel that keeps what it is given, and takes so many parts.
struct Kept {
    letters: Mutex<Vec<Letter>>,
    room: usize,
}

#[async_trait]
impl Messenger for Kept {
    fn route(&self, platform: Option<&str>) -> Result<Route, ToolError> {
        Ok(Route {
            channel: "kept".to_owned(),
            platform: platform.unwrap_or("chat").to_owned(),
            split_chars: 10,
            split_parts: 3,
        })
    }

    async fn deliver(&self, _: &Principal, _: &Route, letter: &Letter) -> Result<Taken, ToolError> {
        let mut letters = self.letters.lock().unwrap();
        if letters.len() == self.room {
            return Err(ToolError::unavailable("it is full"));
        }
        letters.push(letter.clone());
        Ok(Taken {
            stream_id: None,
            created: letter.part == 1,
        })
    }
}

fn kept(room: usize) -> (ToolContext, Arc<Kept>) {
    let kept = Arc::new(Kept {
        letters: Mutex::default(),
        room,
    });
    let mut cx = ToolContext::detached();
    let mut who = (*cx.who).clone();
    who.subject = "ann".into();
    who.stream = Some(StreamId::from("home"));
    cx.who = Arc::new(who);
    cx.services = Services::default().with::<dyn Messenger>(kept.clone());
    (cx, kept)
}

async fn sent(cx: &ToolContext, args: Value) -> Result<Box<Outcome>, ToolError> {
    match SendMessage::default().call(cx, args).await? {
        Reply::Done(outcome) => Ok(outcome),
        Reply::Wait(_) => panic!("it waits"),
    }
}

#[tokio::test]
async fn a_long_text_goes_in_parts_with_a_key_each() {
    let (cx, kept) = kept(9);
    let args = json!({"text": "One. Two. Three.", "user_id": "bob", "stream_id": "home"});
    let outcome = sent(&cx, args).await.unwrap();
    assert_eq!(
        outcome.result,
        json!({"stream_id": "chat:user:bob", "created": true, "parts": 2})
    );
    let letters = kept.letters.lock().unwrap().clone();
    let told: Vec<_> = letters
        .iter()
        .map(|letter| (&*letter.text, letter.part, letter.parts, letter.key.clone()))
        .collect();
    let key = |part: usize| format!("{}-{part}", cx.call);
    assert_eq!(
        told,
        [("One. Two.", 1, 2, key(1)), ("Three.", 2, 2, key(2))]
    );
    assert!(
        letters
            .iter()
            .all(|letter| letter.to == Addressee::User("bob".into()))
    );
}

#[tokio::test]
async fn a_text_goes_in_one_part_where_that_is_wanted() {
    let (cx, kept) = kept(9);
    let args = json!({"text": "One. Two. Three.", "stream_id": "home", "split": false});
    let outcome = sent(&cx, args).await.unwrap();
    assert_eq!(
        outcome.result,
        json!({"stream_id": "home", "created": true, "parts": 1})
    );
    assert_eq!(kept.letters.lock().unwrap()[0].text, "One. Two. Three.");
}

#[tokio::test]
async fn what_was_delivered_before_a_failure_is_said() {
    let text = "One. Two. Three. Four. Five.";
    let (cx, _) = kept(1);
    let outcome = sent(&cx, json!({"text": text, "group_id": "g"}))
        .await
        .unwrap();
    assert_eq!(outcome.result["parts"], 1);
    assert_eq!(outcome.failed.unwrap().code, Code::Unavailable);
    let (cx, _) = kept(0);
    let error = sent(&cx, json!({"text": text, "group_id": "g"}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
}

#[tokio::test]
async fn without_channels_nothing_is_sent() {
    let mut cx = ToolContext::detached();
    cx.services = Services::default();
    let error = sent(&cx, json!({"text": "a", "user_id": "b"}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    let (cx, kept) = kept(9);
    let error = sent(&cx, json!({"text": " \n", "user_id": "b"}))
        .await
        .unwrap_err();
    assert_eq!(error.info().path.as_deref(), Some("/text"));
    assert!(kept.letters.lock().unwrap().is_empty());
}

#[test]
fn a_message_to_somebody_else_is_more_than_one_to_oneself() {
    let (cx, _) = kept(0);
    let effects = |args: Value| {
        let facts = SendMessage::default().facts_for(&cx.who, &args).unwrap();
        (
            facts.effects.has(Effect::MessageOther),
            facts.subject.unwrap(),
        )
    };
    let home = json!({"text": "a", "stream_id": "home"});
    assert_eq!(effects(home), (false, "stream_id home".to_owned()));
    let away = json!({"text": "a", "stream_id": "away"});
    assert_eq!(effects(away), (true, "stream_id away".to_owned()));
    let group = json!({"text": "a", "stream_id": "home", "group_id": "g"});
    assert_eq!(effects(group), (true, "group_id g".to_owned()));
}
