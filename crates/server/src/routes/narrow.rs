//! What a request may use of what its session may use. Names that mean nothing here are dropped,
//! and the run says so.

use std::sync::Arc;

use outfitter_agent::{Note, Session};
use outfitter_core::{Mode, NameSet, Selection, WarningCode};
use outfitter_tools::Found;

use crate::app::App;
use crate::problem::Problem;

/// Names in one request.
const MOST_NAMES: usize = 1_000;

/// Bytes of each: it is told again to everybody who hears of the run.
const MOST_NAME_BYTES: usize = 256;

/// Whether a request may name so much.
pub(super) fn bounded(names: Option<&[String]>) -> Result<(), Problem> {
    let names = names.unwrap_or_default();
    if names.len() > MOST_NAMES {
        return Err(Problem::malformed(format!(
            "a request names at most {MOST_NAMES} tools or skills"
        )));
    }
    names.iter().try_for_each(|name| one_name(name))
}

/// Whether a name may be so long.
pub(super) fn one_name(name: &str) -> Result<(), Problem> {
    match name.len() > MOST_NAME_BYTES {
        true => Err(Problem::malformed(format!(
            "a name has at most {MOST_NAME_BYTES} bytes"
        ))),
        false => Ok(()),
    }
}

/// The session with what the request wants of it, and what was dropped.
pub(super) fn narrowed(
    app: &App,
    session: Session,
    tools: Option<Vec<String>>,
    skills: Option<Vec<String>>,
) -> (Session, Vec<Note>) {
    let mut notes = Vec::new();
    let mut wanted = Selection::default();
    if let Some(names) = tools {
        let view = session.proxy.view(&session.facts(Arc::default()));
        let (known, unknown) = parted(names, |name| !matches!(view.find(name), Found::Unknown(_)));
        note(&mut notes, "available_tools", "tool", &unknown);
        wanted.tools = NameSet::of(known);
    }
    if let Some(names) = skills {
        let there = app.directory.skills(&session.who);
        let (known, unknown) = parted(names, |name| {
            there.iter().any(|skill| skill["name"] == name)
        });
        note(&mut notes, "available_skills", "skill", &unknown);
        wanted.skills = NameSet::of(known);
    }
    let session = Session {
        proxy: session.proxy.narrow(wanted),
        ..session
    };
    (session, notes)
}

/// The session with no more than this mode of what it may use.
pub(super) fn in_mode(session: Session, mode: Option<Mode>) -> Session {
    let Some(mode) = mode else {
        return session;
    };
    Session {
        proxy: session.proxy.narrow(Selection {
            mode,
            ..Selection::default()
        }),
        ..session
    }
}

fn parted(names: Vec<String>, is_known: impl Fn(&str) -> bool) -> (Vec<String>, Vec<String>) {
    names
        .into_iter()
        .partition(|name| name.contains(['*', '?']) || is_known(name))
}

fn note(notes: &mut Vec<Note>, field: &str, kind: &str, unknown: &[String]) {
    if !unknown.is_empty() {
        notes.push(Note {
            code: WarningCode::UnknownName,
            message: format!(
                "{field} names what is no {kind} of this session, and was dropped: {}",
                unknown.join(", ")
            ),
        });
    }
}
