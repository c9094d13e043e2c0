//! `query_person`.

use async_trait::async_trait;
use outfitter_core::{Outcome, Reply, Tool, ToolContext, ToolError, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{answer, source};
use crate::args;
use crate::spec::{Words, object, spec};

const WORDS: Words<'static> = Words {
    name: "query_person",
    description: "Says what is known of one person, by name. Use it before you write to or about \
        somebody whose ways you do not know. The name must be whole: to find one by a part of it, \
        use search_users.",
    keywords: &[
        "person",
        "profile",
        "who",
        "contact",
        "人物",
        "资料",
        "画像",
        "联系人",
    ],
};

/// Says what is known of a person.
#[derive(Debug)]
pub struct QueryPerson {
    spec: ToolSpec,
}

impl Default for QueryPerson {
    fn default() -> Self {
        let input = object(
            &["person_name"],
            json!({
                "person_name": {
                    "type": "string", "minLength": 1, "maxLength": 200,
                    "description": "What they are called.",
                },
            }),
        );
        let output = object(
            &["person_id", "profile"],
            json!({
                "person_id": { "type": "string", "description": "Their id." },
                "profile": { "description": "What is known of them." },
            }),
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
    person_name: String,
}

#[derive(Serialize, Deserialize)]
struct Person {
    person_id: String,
    profile: Value,
}

#[async_trait]
impl Tool for QueryPerson {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Args { person_name } = args::parse(args)?;
        let source = source(cx)?;
        let told = source.ask(cx, "person", json!({ "name": person_name }));
        let Person { person_id, profile } = answer(told.await?)?;
        Ok(Outcome::json(json!({ "person_id": person_id, "profile": profile })).into())
    }
}
