//! `planner calendar write`.

use jiff::{SignedDuration, Timestamp};
use outfitter_core::{Code, Principal, Role};
use serde::Deserialize;
use serde_json::json;
use ulid::Ulid;

use crate::answer::Answer;
use crate::describe::one_event;
use crate::fault::Fault;
use crate::instant;
use crate::store::{Event, Mine, Store};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    id: Option<String>,
    title: Option<String>,
    start: Option<String>,
    end: Option<String>,
    location: Option<String>,
    notes: Option<String>,
    attendees: Option<Vec<String>>,
    #[serde(rename = "if-revision")]
    if_revision: Option<u64>,
    #[serde(default)]
    delete: bool,
}

pub(crate) fn run(args: Arguments, who: &Principal, store: &Store) -> Result<Answer, Fault> {
    // The tool that calls us asks too; a gate that only others hold is none.
    if who.role < Role::User {
        return Err(Fault::new(
            Code::NotPermitted,
            "a guest may look at a calendar and not change it",
        ));
    }
    let mut mine = store.of(who)?;
    let (action, event) = match args.id.clone() {
        None if args.delete => return Err(Fault::invalid("id", "delete needs the id of an event")),
        None if args.if_revision.is_some() => {
            return Err(Fault::invalid("if-revision", "a new event has no revision"));
        }
        None => ("created", created(args, &mut mine)?),
        Some(id) => {
            let known = unchanged(&id, args.if_revision, &mine)?;
            if args.delete {
                ("deleted", mine.remove(&id)?)
            } else {
                ("updated", updated(known, args, &mut mine)?)
            }
        }
    };
    Ok(Answer {
        result: json!({ "action": action, "event": event }),
        ui: one_event(),
    })
}

fn created(args: Arguments, mine: &mut Mine) -> Result<Event, Fault> {
    let need = |name: &str, text: Option<String>| {
        text.ok_or_else(|| Fault::invalid(name, format!("a new event needs a {name}")))
    };
    let title = need("title", args.title)?;
    let start = instant::parse("start", &need("start", args.start)?)?;
    let event = Event {
        id: format!("evt_{}", Ulid::generate()),
        title: titled(title)?,
        start,
        end: ended(start, args.end.as_deref())?,
        location: args.location,
        notes: args.notes,
        attendees: args.attendees.unwrap_or_default(),
        revision: 1,
    };
    mine.put(event.clone())?;
    Ok(event)
}

fn updated(known: Event, args: Arguments, mine: &mut Mine) -> Result<Event, Fault> {
    let start = match &args.start {
        Some(text) => instant::parse("start", text)?,
        None => known.start,
    };
    let end = match (&args.end, &args.start) {
        (Some(text), _) => ended(start, Some(text))?,
        // It moves as it is.
        (None, Some(_)) => after(start, known.end.duration_since(known.start))?,
        (None, None) => known.end,
    };
    let event = Event {
        title: args.title.map_or(Ok(known.title), titled)?,
        start,
        end,
        location: args.location.or(known.location),
        notes: args.notes.or(known.notes),
        attendees: args.attendees.unwrap_or(known.attendees),
        revision: known.revision + 1,
        id: known.id,
    };
    mine.put(event.clone())?;
    Ok(event)
}

fn unchanged(id: &str, if_revision: Option<u64>, mine: &Mine) -> Result<Event, Fault> {
    let event = mine.event(id)?;
    match if_revision {
        Some(revision) if revision != event.revision => Err(Fault {
            details: Some(json!({ "got": event.revision, "expected": revision })),
            ..Fault::new(
                Code::Conflict,
                format!(
                    "the event was changed: it is at revision {}",
                    event.revision
                ),
            )
        }),
        Some(_) | None => Ok(event.clone()),
    }
}

fn titled(title: String) -> Result<String, Fault> {
    if title.trim().is_empty() {
        return Err(Fault::invalid("title", "the title is empty"));
    }
    Ok(title)
}

fn ended(start: Timestamp, end: Option<&str>) -> Result<Timestamp, Fault> {
    let Some(text) = end else {
        return after(start, SignedDuration::from_hours(1));
    };
    let end = instant::parse("end", text)?;
    if end <= start {
        return Err(Fault::invalid("end", "it would end before it begins"));
    }
    Ok(end)
}

fn after(start: Timestamp, span: SignedDuration) -> Result<Timestamp, Fault> {
    start
        .checked_add(span)
        .map_err(|_| Fault::invalid("start", "it would end after the end of time"))
}
