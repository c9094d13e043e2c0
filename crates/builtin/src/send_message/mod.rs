//! `send_message`: a text to a conversation, a group or a person, through a channel of the
//! installation.
//!
//! - [`target`]: whom it is for, and whether that is somebody else
//! - [`polish`]: a text made better by a model
//! - [`split`]: a long text in parts

mod polish;
mod split;
mod target;

use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Effect, Effects, ErrorInfo, Facts, Outcome, Principal, Reply, Role, Tool, ToolContext,
    ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args;
use crate::spec::{Words, object, spec};
use polish::Polished;
use target::{Reach, target};

pub use polish::PolishModel;
pub use target::Addressee;

/// How long a message may take: to be polished, and each of its parts to be tried several times.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The most characters of a message.
const MOST_CHARACTERS: usize = 100_000;

const WORDS: Words<'static> = Words {
    name: "send_message",
    description: "Sends a text to a conversation, a group or a person over a channel of this \
        installation. Use it to tell somebody who does not read this conversation, and say whom \
        by exactly one of stream_id, group_id and user_id. A long text goes in parts. Not for \
        who you speak with: say that in your answer; not for a question: ask_user waits for an \
        answer, and this does not.",
    keywords: &[
        "message", "send", "notify", "tell", "chat", "发送", "消息", "通知", "转告",
    ],
};

/// Where messages go: the channels of the installation.
#[async_trait]
pub trait Messenger: Send + Sync {
    /// The channel for a platform; the only one where none is named.
    ///
    /// # Errors
    /// `unavailable` or `invalid_arguments` when there is none such.
    fn route(&self, platform: Option<&str>) -> Result<Route, ToolError>;

    /// Delivers one part. It may be tried again: the other side knows it by its key.
    ///
    /// # Errors
    /// The channel's last failure.
    async fn deliver(
        &self,
        who: &Principal,
        route: &Route,
        letter: &Letter,
    ) -> Result<Taken, ToolError>;
}

/// A channel, as far as a message must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Its name.
    pub channel: String,
    /// The platform that it reaches.
    pub platform: String,
    /// The most characters of a part.
    pub split_chars: usize,
    /// The most parts of a message.
    pub split_parts: usize,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The same for every try, and for no other part.
    pub key: String,
    /// Whom it is for.
    pub to: Addressee,
    /// Its place among the parts, from 1.
    pub part: usize,
    /// How many there are.
    pub parts: usize,
    /// What it says.
    pub text: String,
}

/// What became of a part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    /// The conversation that it is in, where the channel says so.
    pub stream_id: Option<String>,
    /// Whether the conversation was begun with it.
    pub created: bool,
}

/// Sends a text.
#[derive(Debug)]
pub struct SendMessage {
    spec: ToolSpec,
}

impl Default for SendMessage {
    fn default() -> Self {
        let id = |what: &str| json!({ "type": "string", "maxLength": 256, "x-target": true, "description": what });
        let input = object(
            &["text"],
            json!({
                "text": {
                    "type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS,
                    "description": "What it says, as the reader shall read it.",
                },
                "stream_id": id("For a conversation: its id."),
                "group_id": id("For a group: its id on the platform."),
                "user_id": id("For a person: their id on the platform."),
                "platform": {
                    "type": "string", "minLength": 1, "maxLength": 64,
                    "description": "The platform; only needed where there are channels to several.",
                },
                "polish": {
                    "type": "boolean", "default": true,
                    "description": "Whether a model may mend how the text is put, where there is one for it. Say false where every word matters.",
                },
                "split": {
                    "type": "boolean", "default": true,
                    "description": "Whether a long text goes in parts.",
                },
            }),
        );
        let output = object(
            &["stream_id", "created", "parts"],
            json!({
                "stream_id": { "type": "string", "description": "The conversation it is in." },
                "created": { "type": "boolean", "description": "Whether that was begun with it." },
                "parts": { "type": "integer", "description": "How many parts were delivered." },
                "note": { "type": "string", "description": "Why the text went as it was written, where it was to be polished." },
            }),
        );
        Self {
            spec: ToolSpec {
                effects: Effects::of(&[Effect::Message]),
                min_role: Role::User,
                timeout: Some(TIMEOUT),
                ..spec(&WORDS, input, output)
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    text: String,
    #[serde(rename = "stream_id")]
    _stream: Option<String>,
    #[serde(rename = "group_id")]
    _group: Option<String>,
    #[serde(rename = "user_id")]
    _user: Option<String>,
    platform: Option<String>,
    #[serde(default = "yes")]
    polish: bool,
    #[serde(default = "yes")]
    split: bool,
}

fn yes() -> bool {
    true
}

#[async_trait]
impl Tool for SendMessage {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// What goes to somebody else is more than telling the people of the session something.
    fn facts_for(&self, who: &Principal, args: &Value) -> Result<Facts, ToolError> {
        let (to, reach) = target(args, who)?;
        let mut facts = Facts::of(&self.spec);
        if reach == Reach::Other {
            facts.effects = facts.effects.union(Effects::of(&[Effect::MessageOther]));
        }
        let (kind, id) = to.as_pair();
        facts.subject = Some(format!("{kind} {id}"));
        Ok(facts)
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let (to, _) = target(&args, &cx.who)?;
        let args: Args = args::parse(args)?;
        let messenger = cx.services.get::<dyn Messenger>().ok_or_else(|| {
            ToolError::not_set_up("there is no channel to send it by")
                .with_hint("a table [channels.NAME] of the configuration makes one")
        })?;
        let route = messenger.route(args.platform.as_deref())?;
        if args.text.trim().is_empty() {
            return Err(ToolError::invalid("/text", "it says nothing"));
        }
        let Polished { text, note } = if args.polish {
            polish::polish(cx, args.text).await
        } else {
            Polished {
                text: args.text,
                note: None,
            }
        };
        let texts = if args.split {
            split::split(&text, route.split_chars, route.split_parts)
        } else {
            split::split(&text, usize::MAX, 1)
        };
        let parts = texts.len();
        let mut taken = Taken::default();
        for (part, text) in (1..).zip(texts) {
            let letter = Letter {
                key: format!("{}-{part}", cx.call),
                to: to.clone(),
                part,
                parts,
                text: text.to_owned(),
            };
            match messenger.deliver(&cx.who, &route, &letter).await {
                Ok(one) => {
                    taken.stream_id = one.stream_id.or(taken.stream_id);
                    taken.created |= one.created;
                }
                Err(error) if part == 1 => return Err(error),
                // Some of it is there: whoever sends it again must know.
                Err(error) => {
                    let info: ErrorInfo = error.into_info();
                    return Ok(told(&to, &route, taken, part - 1, note)
                        .failing(info)
                        .into());
                }
            }
        }
        Ok(told(&to, &route, taken, parts, note).into())
    }
}

fn told(
    to: &Addressee,
    route: &Route,
    taken: Taken,
    parts: usize,
    note: Option<String>,
) -> Outcome {
    let stream = taken.stream_id.unwrap_or_else(|| match to {
        Addressee::Stream(id) => id.clone(),
        Addressee::Group(id) => format!("{}:group:{id}", route.platform),
        Addressee::User(id) => format!("{}:user:{id}", route.platform),
    });
    let mut result = json!({ "stream_id": stream, "created": taken.created, "parts": parts });
    if let Some(note) = note {
        result["note"] = note.into();
    }
    Outcome::json(result)
}

#[cfg(test)]
mod tests;
