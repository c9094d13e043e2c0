//! `planner contacts add`.

use outfitter_core::{Code, Principal, Role};
use serde::Deserialize;
use serde_json::{Number, json};

use super::describe::one_contact;
use super::store::{Contact, Contacts};
use crate::answer::Answer;
use crate::fault::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    id: String,
    name: String,
    platform: String,
    conversation: Option<String>,
    groups: Option<Vec<String>>,
    about: Option<String>,
    frequency: Option<Number>,
}

pub(super) fn run(args: Arguments, who: &Principal, contacts: &Contacts) -> Result<Answer, Fault> {
    if who.role < Role::User {
        return Err(Fault::new(
            Code::NotPermitted,
            "a guest may look at contacts and not change them",
        ));
    }
    let contact = Contact {
        id: filled("id", &args.id)?,
        name: filled("name", &args.name)?,
        platform: filled("platform", &args.platform)?,
        stream: args.conversation,
        groups: args.groups.unwrap_or_default(),
        profile: args.about,
        frequency: args.frequency,
    };
    let told = json!({ "id": contact.id, "name": contact.name, "platform": contact.platform });
    let added = contacts.of(who)?.put(contact)?;
    let action = if added { "added" } else { "replaced" };
    Ok(Answer {
        result: json!({ "action": action, "contact": told }),
        ui: one_contact(),
    })
}

fn filled(name: &str, text: &str) -> Result<String, Fault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Fault::invalid(name, format!("the {name} is empty")));
    }
    Ok(text.to_owned())
}
