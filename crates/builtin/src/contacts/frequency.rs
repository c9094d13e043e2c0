//! `get_frequency`.

use async_trait::async_trait;
use outfitter_core::{Outcome, Reply, Tool, ToolContext, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::{answer, source};
use crate::args;
use crate::spec::{Words, object, spec};

const WORDS: Words<'static> = Words {
    name: "get_frequency",
    description: "Says how often one should speak in a conversation, as the source of contacts \
        has it. Use it before you write unasked, and keep to it. Not for who is there: that is \
        search_users.",
    keywords: &[
        "frequency",
        "how often",
        "talk",
        "chat",
        "频率",
        "发言",
        "活跃",
        "聊天",
    ],
};

/// Says how often to speak.
#[derive(Debug)]
pub struct GetFrequency {
    spec: ToolSpec,
}

impl Default for GetFrequency {
    fn default() -> Self {
        let input = object(
            &["chat"],
            json!({
                "chat": {
                    "type": "string", "minLength": 1, "maxLength": 256,
                    "description": "Which conversation.",
                },
            }),
        );
        let output = object(
            &["value"],
            json!({ "value": { "type": "number", "description": "How often." } }),
        );
        Self {
            spec: ToolSpec {
                idempotent: true,
                ..spec(&WORDS, input, output)
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    chat: String,
}

#[derive(Deserialize)]
struct Frequency {
    value: Number,
}

#[async_trait]
impl Tool for GetFrequency {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Args { chat } = args::parse(args)?;
        let source = source(cx)?;
        let told = source.ask(cx, "frequency", json!({ "chat": chat })).await?;
        let Frequency { value } = answer(told)?;
        Ok(Outcome::json(json!({ "value": value })).into())
    }
}
