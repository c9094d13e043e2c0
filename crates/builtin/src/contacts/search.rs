//! `search_users`.

use std::collections::HashSet;

use async_trait::async_trait;
use outfitter_core::{Outcome, Reply, Tool, ToolContext, ToolError, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{answer, particles, source};
use crate::args;
use crate::spec::{Words, object, spec};

/// The most keywords of one search.
const MOST_KEYWORDS: usize = 20;

const WORDS: Words<'static> = Words {
    name: "search_users",
    description: "Finds people to write to by a part of a name, an id or the name of a group. Use \
        it when you need the id of somebody and do not know it. It finds whoever has any of the \
        keywords. Not for what is known of a person: that is query_person.",
    keywords: &[
        "contacts",
        "people",
        "find",
        "user",
        "group",
        "联系人",
        "用户",
        "查找",
        "搜索",
    ],
};

/// Finds people.
#[derive(Debug)]
pub struct SearchUsers {
    spec: ToolSpec,
}

impl Default for SearchUsers {
    fn default() -> Self {
        let word = json!({ "type": "string", "minLength": 1, "maxLength": 100 });
        let mut keyword = word.clone();
        keyword["description"] = "What to look for. Give this or `keywords`.".into();
        let input = object(
            &[],
            json!({
                "keyword": keyword,
                "keywords": {
                    "type": "array", "items": word, "minItems": 1, "maxItems": MOST_KEYWORDS,
                    "description": "Several to look for; one of them is enough.",
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": 1000,
                    "description": "How many at most; there is a limit of the installation, too.",
                },
            }),
        );
        let user = object(
            &["user_id", "name", "platform"],
            json!({
                "user_id": { "type": "string", "description": "Their id on the platform." },
                "name": { "type": "string", "description": "What they are called." },
                "platform": { "type": "string", "description": "Where they are." },
                "stream_id": { "type": "string", "description": "The conversation with them." },
            }),
        );
        let output = object(
            &["users", "count"],
            json!({
                "users": { "type": "array", "items": user, "description": "Who was found." },
                "count": { "type": "integer", "description": "How many." },
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
    keyword: Option<String>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default, deserialize_with = "args::maybe_whole")]
    limit: Option<u64>,
}

#[derive(Deserialize)]
struct Found {
    users: Vec<User>,
}

#[derive(Serialize, Deserialize)]
struct User {
    user_id: String,
    name: String,
    platform: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<String>,
}

#[async_trait]
impl Tool for SearchUsers {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let keywords: Vec<String> = args
            .keyword
            .into_iter()
            .chain(args.keywords)
            .map(|word| word.trim().to_owned())
            .filter(|word| !word.is_empty())
            .collect();
        if keywords.is_empty() {
            return Err(ToolError::invalid("/keyword", "say what to look for"));
        }
        let source = source(cx)?;
        let asked = args.limit.map_or(usize::MAX, args::to_usize);
        let most = asked.min(source.max_results());
        let bare: Vec<String> = keywords
            .iter()
            .filter_map(|word| particles::bare(word))
            .collect();
        let (mut users, mut known) = (Vec::new(), HashSet::new());
        // As it was written; without particles only where that finds nobody.
        for words in [keywords, bare] {
            for keyword in words {
                let wanted = json!({ "keyword": keyword, "limit": most });
                let found: Found = answer(source.ask(cx, "search", wanted).await?)?;
                for user in found.users {
                    if users.len() < most
                        && known.insert((user.platform.clone(), user.user_id.clone()))
                    {
                        users.push(user);
                    }
                }
            }
            if !users.is_empty() {
                break;
            }
        }
        let count = users.len();
        Ok(Outcome::json(json!({ "users": users, "count": count })).into())
    }
}
