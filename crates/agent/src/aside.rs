//! A question to the model beside the conversation: bounded, without tools, kept in no history.
//! What it uses is counted by who lends the model ([`crate::meter::Metered`]).

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use outfitter_core::{
    Cancel, Clock, Message, MessageId, MessageRole, ModelDelta, ModelError, ModelProvider,
    ModelRequest, Phase,
};
use serde_json::Value;

/// The most of a reply that is read.
const MAX_REPLY_BYTES: usize = 16_384;

/// How long a reply may take in all. What is asked for here is never worth a longer wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Asks once, and gives what the model says. A reply that goes on and on is cut off.
pub(crate) async fn ask(
    model: &dyn ModelProvider,
    clock: &dyn Clock,
    cancel: &Cancel,
    system: &'static str,
    question: String,
) -> Result<String, ModelError> {
    let message = Message::text(MessageId::mint(clock), MessageRole::User, question);
    let request = ModelRequest {
        system: system.into(),
        messages: vec![Arc::new(message)],
        tools: Arc::default(),
    };
    // What is left behind must end as well.
    let cancel = cancel.child();
    let reply = tokio::time::timeout(TIMEOUT, reply(model, request, &cancel)).await;
    reply.unwrap_or_else(|_| {
        cancel.cancel();
        Err(ModelError::Timeout {
            phase: Phase::Whole,
            after: TIMEOUT,
        })
    })
}

async fn reply(
    model: &dyn ModelProvider,
    request: ModelRequest,
    cancel: &Cancel,
) -> Result<String, ModelError> {
    let asked = async {
        let mut text = String::new();
        let mut stream = model.stream(request, cancel.clone()).await?;
        while let Some(delta) = stream.next().await {
            match delta? {
                ModelDelta::Text(piece) => text.push_str(&piece),
                ModelDelta::Started(_)
                | ModelDelta::Reasoning(_)
                | ModelDelta::ReasoningSignature(_)
                | ModelDelta::Refusal(_)
                | ModelDelta::ToolCall(_)
                | ModelDelta::Provider(_)
                | ModelDelta::Usage(_)
                | ModelDelta::Stopped(_) => {}
            }
            if text.len() > MAX_REPLY_BYTES {
                break;
            }
        }
        Ok(text)
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ModelError::Cancelled),
        said = asked => match cancel.is_cancelled() {
            // Who stopped it meanwhile wants nothing of it.
            true => Err(ModelError::Cancelled),
            false => said,
        },
    }
}

/// The JSON array in a reply, whatever stands around it: words, a fence, an object that has it.
pub(crate) fn array_in(text: &str) -> Option<Vec<Value>> {
    let starts = text.match_indices('[').map(|(at, _)| at);
    starts.take(MOST_STARTS).find_map(|at| {
        let mut read = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Vec<Value>>();
        read.next()?.ok()
    })
}

/// Places that an array is looked for at.
const MOST_STARTS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"["a","b"]"#, Some(vec!["a", "b"]))]
    #[case("Sure [see below]:\n```json\n[\"a\"]\n```", Some(vec!["a"]))]
    #[case(r#"{"tools":["a"]}"#, Some(vec!["a"]))]
    #[case("[]", Some(vec![]))]
    #[case("a and b", None)]
    #[case("[\"cut off", None)]
    fn an_array_is_found_in_what_a_model_says(
        #[case] text: &str,
        #[case] meant: Option<Vec<&str>>,
    ) {
        let meant = meant.map(|list| list.into_iter().map(Value::from).collect());
        assert_eq!(array_in(text), meant);
    }
}
