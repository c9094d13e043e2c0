//! The mode of a run: which one it has, and what the model is told of it.

use outfitter_core::{Mode, Selection};

use crate::request::Input;
use crate::session::Session;
use crate::texts;
use crate::turn_log::TurnLog;

/// The session of a run that goes on with a turn: it may use what the turn could from its
/// beginning, and no more. New words begin a new turn.
pub(crate) fn kept(session: &Session, log: &TurnLog, input: &Input) -> Option<Session> {
    let stored = match input {
        Input::Prompt(_) => return None,
        Input::Continue | Input::Answer(_) | Input::Answers(_) => log.turn.as_ref()?.mode,
    };
    (stored < session.proxy.grant().mode).then(|| Session {
        proxy: session.proxy.narrow(Selection {
            mode: stored,
            ..Selection::default()
        }),
        ..session.clone()
    })
}

/// What a model is told of the mode; nothing where it may use everything. Stable, so that
/// providers can cache it.
#[must_use]
pub fn told_of_mode(mode: Mode) -> Option<&'static str> {
    match mode {
        Mode::Agent => None,
        Mode::Plan => Some(texts::PLAN),
        Mode::Chat => Some(texts::CHAT),
    }
}
