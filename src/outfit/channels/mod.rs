//! Where messages go: the channels of the configuration.

mod file;
mod inbox;
mod webhook;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_builtin::{Letter, Messenger, Route, Taken};
use outfitter_core::{Clock, Principal, ToolError};
use serde_json::{Map, Value};

use crate::config::Config;
use crate::config::sections::{Channel, ChannelKind};
use file::LineFile;
pub(super) use inbox::Inboxes;
use webhook::Webhook;

/// All channels, by name.
pub(super) struct Channels {
    all: BTreeMap<String, Line>,
    clock: Arc<dyn Clock>,
}

struct Line {
    platform: String,
    split_chars: usize,
    split_parts: usize,
    way: Way,
}

enum Way {
    Webhook(Webhook),
    File(LineFile),
    Inbox(Inboxes),
    /// What is wrong with the configuration of this one.
    Broken(String),
}

/// The channels of this configuration; none where it has none.
pub(super) fn channels(
    config: &Config,
    data_dir: &Path,
    inboxes: &Inboxes,
    clock: &Arc<dyn Clock>,
) -> Option<Arc<dyn Messenger>> {
    if config.channels.is_empty() {
        return None;
    }
    let all = config
        .channels
        .iter()
        .map(|(name, channel)| (name.clone(), line(name, channel, data_dir, inboxes)))
        .collect();
    Some(Arc::new(Channels {
        all,
        clock: clock.clone(),
    }))
}

fn line(name: &str, channel: &Channel, data_dir: &Path, inboxes: &Inboxes) -> Line {
    let way = match channel.kind {
        ChannelKind::Webhook => match Webhook::new(channel.url.as_deref(), channel.retries) {
            Ok(webhook) => Way::Webhook(webhook),
            Err(why) => Way::Broken(why),
        },
        ChannelKind::File => {
            let named = channel.url.clone();
            let path = named.unwrap_or_else(|| format!("{name}.jsonl"));
            Way::File(LineFile::new(data_dir.join(path)))
        }
        ChannelKind::Inbox => Way::Inbox(inboxes.clone()),
    };
    // Whoever reads an inbox reads all of a message at once.
    let split_parts = match channel.kind {
        ChannelKind::Webhook | ChannelKind::File => channel.split_parts as usize,
        ChannelKind::Inbox => 1,
    };
    Line {
        platform: channel.platform.clone().unwrap_or_else(|| name.to_owned()),
        split_chars: channel.split_chars as usize,
        split_parts,
        way,
    }
}

#[async_trait]
impl Messenger for Channels {
    fn route(&self, platform: Option<&str>) -> Result<Route, ToolError> {
        let fits = |line: &Line| platform.is_none_or(|platform| line.platform == platform);
        let mut fitting: Vec<_> = self.all.iter().filter(|(_, line)| fits(line)).collect();
        // Where several reach it, or none, it may be the name of a channel.
        if let Some(platform) = platform
            && fitting.len() != 1
            && let Some(named) = self.all.get_key_value(platform)
        {
            fitting = vec![named];
        }
        let platforms = || {
            let mut all: Vec<&str> = self.all.values().map(|line| &*line.platform).collect();
            all.sort_unstable();
            all.dedup();
            all.join(", ")
        };
        let (channel, line) = match &*fitting {
            [one] => *one,
            [] => {
                let why = format!("no channel reaches it, only {}", platforms());
                return Err(ToolError::invalid("/platform", why));
            }
            [(_, first), rest @ ..] => {
                let alike = rest.iter().all(|(_, line)| line.platform == first.platform);
                let why = if alike {
                    let names: Vec<&str> = fitting.iter().map(|(name, _)| name.as_str()).collect();
                    let names = names.join(", ");
                    format!(
                        "say which by its name: {} is reached by the channels {names}",
                        first.platform
                    )
                } else {
                    format!("say which: there are channels to {}", platforms())
                };
                return Err(ToolError::invalid("/platform", why));
            }
        };
        Ok(Route {
            channel: channel.clone(),
            platform: line.platform.clone(),
            split_chars: line.split_chars,
            split_parts: line.split_parts,
        })
    }

    async fn deliver(
        &self,
        who: &Principal,
        route: &Route,
        letter: &Letter,
    ) -> Result<Taken, ToolError> {
        let Some(line) = self.all.get(&route.channel) else {
            return Err(ToolError::unavailable("the channel is gone"));
        };
        let at = self.clock.now().0;
        let told = || told(who, route, letter, at);
        match &line.way {
            Way::Webhook(webhook) => webhook.post(&route.channel, &letter.key, told()).await,
            Way::File(file) => file.append(told()).await,
            Way::Inbox(inboxes) => inboxes.keep(who, letter, at).await,
            Way::Broken(why) => {
                let why = format!("the channel {} cannot be used: {why}", route.channel);
                Err(ToolError::unavailable(why))
            }
        }
    }
}

/// A part of a message, as a webhook and a reader of a file get it.
fn told(who: &Principal, route: &Route, letter: &Letter, at: u64) -> Value {
    let (kind, id) = letter.to.as_pair();
    let from = Map::from_iter([
        ("tenant".to_owned(), who.tenant.as_str().into()),
        ("subject".to_owned(), who.subject.as_str().into()),
    ]);
    Value::Object(Map::from_iter([
        ("v".to_owned(), 1.into()),
        ("key".to_owned(), letter.key.as_str().into()),
        ("at".to_owned(), at.into()),
        ("platform".to_owned(), route.platform.as_str().into()),
        (kind.to_owned(), id.into()),
        ("part".to_owned(), letter.part.into()),
        ("parts".to_owned(), letter.parts.into()),
        ("text".to_owned(), letter.text.as_str().into()),
        ("from".to_owned(), Value::Object(from)),
    ]))
}

#[cfg(test)]
mod tests;
