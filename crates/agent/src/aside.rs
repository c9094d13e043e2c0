//! A question to the model beside the conversation: bounded, without tools, kept in no history.

use std::sync::Arc;

use futures_util::StreamExt as _;
use outfitter_core::{
    Cancel, Clock, Message, MessageId, MessageRole, ModelDelta, ModelError, ModelProvider,
    ModelRequest, TokenUsage, UsageSource,
};
use serde_json::Value;

/// The most of a reply that is read.
const MAX_REPLY_BYTES: usize = 16_384;

/// Bytes of text in a token, roughly, where the provider reports no usage.
const BYTES_PER_TOKEN: u64 = 4;

/// What a model said to a question, and what that cost.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) usage: TokenUsage,
}

/// Asks once. A reply that goes on and on is cut off.
pub(crate) async fn ask(
    model: &dyn ModelProvider,
    clock: &dyn Clock,
    cancel: &Cancel,
    system: &'static str,
    question: String,
) -> Result<Said, ModelError> {
    let asked = (system.len() + question.len()) as u64;
    let message = Message::text(MessageId::mint(clock), MessageRole::User, question);
    let request = ModelRequest {
        system: system.into(),
        messages: vec![Arc::new(message)],
        tools: Arc::default(),
    };
    let (mut text, mut usage) = (String::new(), None);
    let mut stream = model.stream(request, cancel.clone()).await?;
    loop {
        let delta = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            delta = stream.next() => delta,
        };
        match delta.transpose()? {
            None => break,
            Some(ModelDelta::Text(piece)) => text.push_str(&piece),
            Some(ModelDelta::Usage(used)) => usage = Some(used),
            Some(
                ModelDelta::Started(_)
                | ModelDelta::Reasoning(_)
                | ModelDelta::ReasoningSignature(_)
                | ModelDelta::Refusal(_)
                | ModelDelta::ToolCall(_)
                | ModelDelta::Provider(_)
                | ModelDelta::Stopped(_),
            ) => {}
        }
        if text.len() > MAX_REPLY_BYTES {
            break;
        }
    }
    let estimated = || TokenUsage {
        input_tokens: asked.div_ceil(BYTES_PER_TOKEN),
        output_tokens: (text.len() as u64).div_ceil(BYTES_PER_TOKEN),
        source: UsageSource::Estimated,
        ..TokenUsage::default()
    };
    let usage = usage.unwrap_or_else(estimated);
    Ok(Said { text, usage })
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
