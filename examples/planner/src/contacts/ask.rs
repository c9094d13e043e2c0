//! `planner contacts search`, `person` and `frequency`.

use outfitter_core::Code;
use serde::Deserialize;
use serde_json::{Number, json};

use super::describe::{one_value, people_table};
use super::store::{Contact, Mine};
use crate::answer::Answer;
use crate::fault::Fault;

/// How many are found at most.
pub(super) const MOST: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    keyword: String,
    #[serde(default = "twenty")]
    limit: usize,
}

fn twenty() -> usize {
    20
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Person {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Frequency {
    chat: String,
}

/// Whoever has the keyword in their name, their id or one of their groups.
pub(super) fn search(args: &Search, mine: &Mine) -> Result<Answer, Fault> {
    if !(1..=MOST).contains(&args.limit) {
        return Err(Fault::invalid("limit", format!("limit is not 1 to {MOST}")));
    }
    let keyword = args.keyword.trim().to_lowercase();
    if keyword.is_empty() {
        return Err(Fault::invalid("keyword", "the keyword is empty"));
    }
    let users: Vec<_> = mine
        .all()
        .filter(|contact| mentions(contact, &keyword))
        .take(args.limit)
        .map(|contact| {
            let mut user = json!({
                "user_id": contact.id, "name": contact.name, "platform": contact.platform,
            });
            if let Some(stream) = &contact.stream {
                user["stream_id"] = json!(stream);
            }
            user
        })
        .collect();
    Ok(Answer {
        result: json!({ "users": users }),
        ui: people_table(),
    })
}

fn mentions(contact: &Contact, keyword: &str) -> bool {
    [&contact.name, &contact.id]
        .into_iter()
        .chain(&contact.groups)
        .any(|text| text.to_lowercase().contains(keyword))
}

/// The one of this name.
pub(super) fn person(args: &Person, mine: &Mine) -> Result<Answer, Fault> {
    let name = args.name.trim().to_lowercase();
    let mut named = mine
        .all()
        .filter(|contact| contact.name.to_lowercase() == name);
    let Some(one) = named.next() else {
        return Err(Fault::new(
            Code::NotFound,
            format!("there is nobody called {:?}", args.name),
        ));
    };
    if named.next().is_some() {
        return Err(Fault::new(
            Code::Conflict,
            format!("there is more than one called {:?}", args.name),
        ));
    }
    let profile = json!({
        "name": one.name, "platform": one.platform, "groups": one.groups,
        "about": one.profile.as_deref().unwrap_or_default(),
    });
    Ok(Answer {
        result: json!({ "person_id": one.id, "profile": profile }),
        ui: one_value("Person", "/profile/about"),
    })
}

/// How often to speak in the conversation with somebody; 1 where nothing is said of it.
pub(super) fn frequency(args: &Frequency, mine: &Mine) -> Result<Answer, Fault> {
    let chat = args.chat.trim();
    let known = mine
        .all()
        .find(|contact| contact.stream.as_deref() == Some(chat))
        .ok_or_else(|| Fault::new(Code::NotFound, format!("there is no conversation {chat:?}")))?;
    let value = known.frequency.clone().unwrap_or_else(|| Number::from(1));
    Ok(Answer {
        result: json!({ "value": value }),
        ui: one_value("Frequency", "/value"),
    })
}
