//! Sessions, and what they leave: commands, questions, approvals, artifacts.

use std::sync::Arc;

use outfitter_codec::JobLine;
use outfitter_core::{Interrupt, InterruptKind, SessionSummary, StandingApproval, UnixMs};

use super::columns::table;
use crate::render::text::one_line;
use crate::render::units::grouped;
use crate::render::{Face, Ink};

/// The sessions, one a line.
#[must_use]
pub fn sessions(sessions: &[(SessionSummary, Vec<Arc<Interrupt>>)], face: Face) -> String {
    if sessions.is_empty() {
        return "there are no sessions\n".to_owned();
    }
    let rows = sessions.iter().map(|(session, _)| {
        [
            session.id.to_string(),
            minute(session.updated),
            minute(session.created),
            grouped(session.entries),
        ]
    });
    let mut text = table(
        ["session", "changed (UTC)", "begun (UTC)", "entries"],
        rows,
        face,
    );
    for (session, asked) in sessions {
        if !asked.is_empty() {
            text.push_str(&format!("\n{} waits\n", session.id));
            text.push_str(&asked_lines(asked, face));
        }
    }
    text
}

/// The commands of a session that go on or did so, the last started first; nothing where there are
/// none.
#[must_use]
pub fn jobs(jobs: &[JobLine], face: Face) -> String {
    if jobs.is_empty() {
        return String::new();
    }
    let rows = jobs.iter().map(|job| {
        let how = match &job.ended {
            Some(how) => format!("{}, {how}", job.status),
            None => job.status.to_owned(),
        };
        [
            job.task_id.clone(),
            minute(UnixMs(job.started)),
            how,
            one_line(&job.command),
        ]
    });
    let header = ["command of it", "started (UTC)", "state", "line"];
    format!("\n{}", table(header, rows, face))
}

/// What a session waits for, and how it is answered; nothing where it waits for nothing.
#[must_use]
pub fn waiting(asked: &[Arc<Interrupt>], face: Face) -> String {
    if asked.is_empty() {
        return String::new();
    }
    format!(
        "\n{}\n{}",
        face.colour.paint(Ink::Quiet, "it waits"),
        asked_lines(asked, face)
    )
}

fn asked_lines(asked: &[Arc<Interrupt>], face: Face) -> String {
    let mut text = String::new();
    for asked in asked {
        let what = match &asked.kind {
            InterruptKind::Question { question, .. } => one_line(question),
            InterruptKind::Approval { reason } => {
                format!("an approval, because {}", one_line(reason))
            }
            InterruptKind::Delay => "for time to pass".to_owned(),
            InterruptKind::Remote { what } => one_line(what),
        };
        let until = minute(asked.expires);
        text.push_str(&format!("  {}  {what} (until {until} UTC)\n", asked.id));
        if let Some(value) = outfitter_codec::answer_words(asked) {
            let hint = format!("hint: outfitter sessions answer {} {value}", asked.id);
            text.push_str(&format!("  {}\n", face.colour.paint(Ink::Quiet, &hint)));
        }
    }
    text
}

/// Approvals that hold beyond their session, one a line.
#[must_use]
pub fn approvals(approvals: &[StandingApproval], face: Face) -> String {
    if approvals.is_empty() {
        return "there are no approvals that hold beyond their session\n".to_owned();
    }
    let rows = approvals.iter().map(|approval| {
        [
            approval.id.to_string(),
            minute(approval.expires),
            approval.tool.to_string(),
            one_line(&approval.what.join("; ")),
            one_line(&approval.place),
        ]
    });
    table(
        ["approval", "until (UTC)", "tool", "what", "where"],
        rows,
        face,
    )
}

/// What calls kept, one a line: id, session, media type, bytes, name.
#[must_use]
pub fn artifacts(rows: Vec<[String; 5]>, face: Face) -> String {
    if rows.is_empty() {
        return "there are no artifacts\n".to_owned();
    }
    let rows = rows.into_iter().map(|row| row.map(|cell| one_line(&cell)));
    table(["artifact", "session", "type", "bytes", "name"], rows, face)
}

/// An instant to the minute, in UTC.
fn minute(at: UnixMs) -> String {
    let at = i64::try_from(at.0)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map_or_else(
        || "?".to_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use outfitter_core::SessionId;

    use super::*;
    use crate::render::Colour;

    const NARROW: Face = Face {
        terminal: true,
        colour: Colour::Off,
        width: Some(64),
    };

    #[test]
    fn sessions_are_a_table() {
        let session = |id: &str, entries| {
            (
                SessionSummary {
                    id: SessionId::new(id).unwrap(),
                    created: UnixMs(1_700_000_000_000),
                    updated: UnixMs(1_700_000_100_000),
                    entries,
                },
                Vec::new(),
            )
        };
        let table = sessions(&[session("cli", 12), session("fix-42", 12_345)], NARROW);
        insta::assert_snapshot!(table);
    }

    #[test]
    fn no_sessions_are_said_in_words_not_in_an_empty_table() {
        assert_eq!(sessions(&[], NARROW), "there are no sessions\n");
    }
}
