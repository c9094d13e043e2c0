//! `planner calendar read`.

use outfitter_core::Principal;
use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::describe::events_table;
use crate::fault::Fault;
use crate::instant;
use crate::store::{Event, Store};

/// How many events are shown at most.
const MOST: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    id: Option<String>,
    from: Option<String>,
    to: Option<String>,
    query: Option<String>,
    #[serde(default = "fifty")]
    limit: usize,
}

fn fifty() -> usize {
    50
}

pub(crate) fn run(args: &Arguments, who: &Principal, store: &Store) -> Result<Answer, Fault> {
    if !(1..=MOST).contains(&args.limit) {
        return Err(Fault::invalid("limit", format!("limit is not 1 to {MOST}")));
    }
    let from = moment("from", args.from.as_deref())?;
    let to = moment("to", args.to.as_deref())?;
    let query = args.query.as_deref().map(str::to_lowercase);
    let mine = store.of(who)?;
    let events = match &args.id {
        Some(id) => vec![mine.event(id)?],
        None => mine.events(),
    };
    let found: Vec<&Event> = events
        .into_iter()
        .filter(|event| from.is_none_or(|from| event.end > from))
        .filter(|event| to.is_none_or(|to| event.start < to))
        .filter(|event| query.as_deref().is_none_or(|query| mentions(event, query)))
        .collect();
    let shown = &found[..found.len().min(args.limit)];
    let mut result = json!({ "events": shown, "count": shown.len() });
    if found.len() > shown.len() {
        result["more"] = json!(found.len() - shown.len());
    }
    Ok(Answer {
        result,
        ui: events_table(),
    })
}

fn moment(name: &str, text: Option<&str>) -> Result<Option<jiff::Timestamp>, Fault> {
    text.map(|text| instant::parse(name, text)).transpose()
}

fn mentions(event: &Event, query: &str) -> bool {
    [
        Some(&event.title),
        event.location.as_ref(),
        event.notes.as_ref(),
    ]
    .into_iter()
    .flatten()
    .any(|text| text.to_lowercase().contains(query))
}
