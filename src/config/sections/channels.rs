//! `[channels.NAME]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way for messages out of a session, for `send_message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Channel {
    /// What it is: a URL that each message is posted to, a file that each is a line of, or the
    /// inboxes of the other sessions of this installation.
    pub kind: ChannelKind,
    /// Where: the URL of a webhook, which may hold a secret; the path of a file, which starts at the
    /// data directory when it is relative. `NAME.jsonl` for a file that does not say.
    #[schemars(extend("writeOnly" = true))]
    pub url: Option<String>,
    /// The platform that it reaches; its name, if left out.
    #[schemars(length(min = 1))]
    pub platform: Option<String>,
    /// How often a webhook is tried again that cannot be reached or is busy.
    #[schemars(range(min = 0, max = 10))]
    pub retries: u32,
    /// How many characters a part of a message has at most. An inbox takes messages whole.
    #[schemars(range(min = 1, max = 100_000))]
    pub split_chars: u32,
    /// How many parts a message has at most. The last has all that is left.
    #[schemars(range(min = 1, max = 100))]
    pub split_parts: u32,
}

impl Default for Channel {
    fn default() -> Self {
        Self {
            kind: ChannelKind::Webhook,
            url: None,
            platform: None,
            retries: 3,
            split_chars: 1000,
            split_parts: 5,
        }
    }
}

/// What a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ChannelKind {
    /// Each message is posted to a URL.
    Webhook,
    /// Each message is a line of a file.
    File,
    /// Each message is kept for a session of the same tenant, which is told of it when it runs next.
    Inbox,
}
