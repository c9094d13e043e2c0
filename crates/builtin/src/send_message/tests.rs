use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use outfitter_core::{
    Cancel, Code, ModelDelta, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream,
    Services, StopReason, StreamId, TokenUsage, UsageMeter, UsageSource,
};
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
    let args =
        json!({"text": "One. Two. Three.", "user_id": "bob", "stream_id": "home", "polish": false});
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
    let args =
        json!({"text": "One. Two. Three.", "stream_id": "home", "split": false, "polish": false});
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

/// A model that says this, or fails.
struct Says {
    info: ModelInfo,
    deltas: Vec<Result<ModelDelta, ()>>,
    asked: Mutex<Vec<ModelRequest>>,
}

#[async_trait]
impl ModelProvider for Says {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(&self, request: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        self.asked.lock().unwrap().push(request);
        let broken = || ModelError::Setup {
            message: "it is gone".to_owned(),
            hint: None,
        };
        let deltas: Vec<_> = self
            .deltas
            .iter()
            .map(|delta| delta.clone().map_err(|()| broken()))
            .collect();
        Ok(futures_util::stream::iter(deltas).boxed())
    }
}

fn polishing(cx: &mut ToolContext, deltas: Vec<Result<ModelDelta, ()>>) -> Arc<Says> {
    let model = Arc::new(Says {
        info: ModelInfo {
            provider: "p".to_owned(),
            name: "n".to_owned(),
            vision: false,
            context_tokens: None,
        },
        deltas,
        asked: Mutex::default(),
    });
    cx.services = cx
        .services
        .clone()
        .with(Arc::new(PolishModel(model.clone())));
    model
}

fn text(text: &str) -> Result<ModelDelta, ()> {
    Ok(ModelDelta::Text(text.to_owned()))
}

#[tokio::test]
async fn a_text_is_polished_before_it_is_split() {
    let (mut cx, kept) = kept(9);
    let end = Ok(ModelDelta::Stopped(StopReason::End));
    let model = polishing(&mut cx, vec![text("One."), text(" Two. Three.\n"), end]);
    let args = json!({"text": "one two three", "user_id": "bob"});
    let outcome = sent(&cx, args).await.unwrap();
    assert_eq!(
        outcome.result,
        json!({"stream_id": "chat:user:bob", "created": true, "parts": 2})
    );
    let letters = kept.letters.lock().unwrap();
    let texts: Vec<&str> = letters.iter().map(|letter| &*letter.text).collect();
    assert_eq!(texts, ["One. Two.", "Three."]);
    let asked = model.asked.lock().unwrap();
    assert_eq!(asked[0].messages[0].content(), "one two three");
    assert!(asked[0].tools.is_empty());
}

#[derive(Default)]
struct Counts(Mutex<Vec<TokenUsage>>);

impl UsageMeter for Counts {
    fn used(&self, usage: TokenUsage) {
        self.0.lock().unwrap().push(usage);
    }
}

#[tokio::test]
async fn what_polishing_took_is_told_to_the_run() {
    let reported = TokenUsage {
        input_tokens: 70,
        output_tokens: 4,
        ..TokenUsage::default()
    };
    let end = Ok(ModelDelta::Stopped(StopReason::End));
    // The provider tells it last; where it does not, or breaks off, it is estimated.
    for (deltas, told) in [
        (
            vec![text("One."), end.clone(), Ok(ModelDelta::Usage(reported))],
            Some(reported),
        ),
        (vec![text("One."), end], None),
        (vec![text("half a"), Err(())], None),
    ] {
        let (mut cx, _kept) = kept(9);
        polishing(&mut cx, deltas);
        let counts = Arc::new(Counts::default());
        cx.services = cx.services.clone().with::<dyn UsageMeter>(counts.clone());
        sent(&cx, json!({"text": "one", "user_id": "bob"}))
            .await
            .unwrap();
        let counted = counts.0.lock().unwrap();
        assert_eq!(counted.len(), 1);
        match told {
            Some(told) => assert_eq!(counted[0], told),
            None => assert_eq!(counted[0].source, UsageSource::Estimated),
        }
    }
}

#[tokio::test]
async fn a_text_that_shall_not_be_polished_is_shown_to_no_model() {
    let (mut cx, kept) = kept(9);
    let model = polishing(&mut cx, vec![text("other words")]);
    let args = json!({"text": "as it is", "user_id": "bob", "polish": false});
    let outcome = sent(&cx, args).await.unwrap();
    assert_eq!(outcome.result.get("note"), None);
    assert_eq!(kept.letters.lock().unwrap()[0].text, "as it is");
    assert!(model.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_model_that_fails_loses_no_message() {
    let stopped = |reason| Ok(ModelDelta::Stopped(reason));
    let cases = [
        (vec![Err(())], "failed to"),
        (vec![text("half a"), Err(())], "failed to"),
        (vec![], "broke off"),
        (vec![text("half a")], "broke off"),
        (
            vec![text("half a"), stopped(StopReason::Length)],
            "broke off",
        ),
        (vec![text(" \n"), stopped(StopReason::End)], "nothing of it"),
        (
            vec![text(&"x".repeat(10_000)), stopped(StopReason::End)],
            "far more",
        ),
        (
            vec![text("I cannot"), stopped(StopReason::Refused)],
            "did not want",
        ),
        (
            vec![Ok(ModelDelta::Refusal("no".to_owned()))],
            "did not want",
        ),
        (vec![stopped(StopReason::ToolCalls)], "did not want"),
    ];
    for (deltas, why) in cases {
        let (mut cx, kept) = kept(9);
        polishing(&mut cx, deltas);
        let outcome = sent(&cx, json!({"text": "as it is", "user_id": "bob"}))
            .await
            .unwrap();
        assert_eq!(outcome.failed, None, "{why}");
        assert_eq!(kept.letters.lock().unwrap()[0].text, "as it is");
        let note = outcome.result["note"].as_str().unwrap().to_owned();
        assert!(note.starts_with("sent as it was written: "), "{note}");
        assert!(note.contains(why), "{note}");
    }
}

#[tokio::test]
async fn without_a_model_a_text_goes_as_it_is_and_that_is_said() {
    let (cx, kept) = kept(9);
    let outcome = sent(&cx, json!({"text": "as it is", "user_id": "bob"}))
        .await
        .unwrap();
    let note = outcome.result["note"].as_str().unwrap();
    assert!(note.contains("[send] polish_model"), "{note}");
    assert_eq!(kept.letters.lock().unwrap()[0].text, "as it is");
}
