//! The table: what is called, and what must come of it for whom.

use outfitter::{Mode, Role};
use serde_json::{Value, json};

/// A call.
pub(crate) struct Row {
    /// What it is called in the table; also the id of the call.
    pub(crate) id: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// The least role that may make the call; none where there is no such tool.
    pub(crate) least: Option<Role>,
    /// What comes of it for those who may make it.
    pub(crate) end: End,
    /// What the others are told.
    pub(crate) refused: &'static str,
}

/// The tools of the table that only read or ask: what is left of them in the mode `plan`.
const READERS: [&str; 11] = [
    "ask_user",
    "calculator",
    "current_time",
    "file_read",
    "list_dir",
    "query_person",
    "questionnaire",
    "read_artifact",
    "search_users",
    "tool_expand_tools",
    "tool_search",
];

/// What comes of a call that may be made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    Success,
    /// It fails with this code.
    Fails(&'static str),
    /// A person must approve it.
    Asks,
    /// A person must approve it where nothing isolates.
    AsksUnlessIsolated,
    /// It asks a person something itself.
    Question,
}

/// Whose the artifact is that a row reads; filled in for each session.
pub(crate) struct Artifacts {
    /// Of the session that calls.
    pub(crate) own: String,
    /// Of another session of the same person.
    pub(crate) other: String,
}

/// The rows, for a session with these artifacts.
pub(crate) fn rows(artifacts: &Artifacts) -> Vec<Row> {
    use End::{Asks, AsksUnlessIsolated, Fails, Question, Success};
    use Role::{Admin, Guest, User};
    let row = |id, tool, arguments, least: Role, end| Row {
        id,
        tool,
        arguments,
        least: Some(least),
        end,
        refused: "not_permitted",
    };
    // A command of which a role sees nothing is none of those that its schema names.
    let unseen = |row: Row| Row {
        refused: "invalid_arguments",
        ..row
    };
    let nowhere = |id, tool| Row {
        id,
        tool,
        arguments: json!({}),
        least: None,
        end: Fails("unknown_tool"),
        refused: "unknown_tool",
    };
    let project = |command, subcommand, args: Value| json!({"command": command, "subcommand": subcommand, "args": args});
    vec![
        row(
            "pure",
            "calculator",
            json!({"expression": "6*7"}),
            Guest,
            Success,
        ),
        row(
            "pure_wrong",
            "calculator",
            json!({"expresion": "6*7"}),
            Guest,
            Fails("invalid_arguments"),
        ),
        row(
            "pure_fails",
            "calculator",
            json!({"expression": "1/0"}),
            Guest,
            Fails("failed"),
        ),
        row("clock", "current_time", json!({}), Guest, Success),
        row("read", "list_dir", json!({}), User, Success),
        row(
            "read_none",
            "file_read",
            json!({"path": "none.txt"}),
            User,
            Fails("not_found"),
        ),
        row(
            "read_outside",
            "file_read",
            json!({"path": "/etc/shadow"}),
            User,
            Fails("not_permitted"),
        ),
        row(
            "write",
            "file_write",
            json!({"path": "w.txt", "content": "w"}),
            User,
            Success,
        ),
        row(
            "write_outside",
            "file_write",
            json!({"path": "../w.txt", "content": "w"}),
            User,
            Fails("not_permitted"),
        ),
        row(
            "exec",
            "execute_shell_command",
            json!({"command": "touch made.txt"}),
            Admin,
            AsksUnlessIsolated,
        ),
        row(
            "exec_job",
            "await_shell",
            json!({"task_id": "job_none"}),
            Admin,
            Fails("not_found"),
        ),
        row(
            "network",
            "project_cli",
            project("mail", "send", json!({"to": "x"})),
            User,
            Asks,
        ),
        unseen(row(
            "network_unseen",
            "project_cli",
            project("parcel", "send", json!({"to": "x"})),
            User,
            Asks,
        )),
        row(
            "project_read",
            "project_cli",
            project("calendar", "read", json!({})),
            Guest,
            Success,
        ),
        row(
            "project_write",
            "project_cli",
            project(
                "calendar",
                "write",
                json!({"title": "t", "start": "2026-12-01T10:00:00Z"}),
            ),
            User,
            Success,
        ),
        row(
            "project_wrong",
            "project_cli",
            project("calendar", "none", json!({})),
            Guest,
            Fails("invalid_arguments"),
        ),
        row("server", "notes__add", json!({"title": "t"}), User, Success),
        row(
            "server_fails",
            "notes__get",
            json!({"id": 9999}),
            User,
            Fails("failed"),
        ),
        row(
            "question",
            "ask_user",
            json!({"question": "which?"}),
            Guest,
            Question,
        ),
        row(
            "form",
            "questionnaire",
            json!({"title": "t", "questions": [{"id": "q", "type": "confirm", "label": "?"}]}),
            Guest,
            Question,
        ),
        row(
            "message_own",
            "send_message",
            json!({"text": "t", "user_id": "local", "polish": false}),
            User,
            Success,
        ),
        row(
            "message_other",
            "send_message",
            json!({"text": "t", "user_id": "somebody", "polish": false}),
            User,
            Asks,
        ),
        row(
            "message_two",
            "send_message",
            json!({"text": "t", "user_id": "somebody", "group_id": "g"}),
            User,
            Fails("invalid_arguments"),
        ),
        row(
            "contacts",
            "search_users",
            json!({"keyword": "x"}),
            Guest,
            Success,
        ),
        row(
            "contacts_none",
            "query_person",
            json!({"person_name": "x"}),
            Guest,
            Fails("not_found"),
        ),
        row(
            "artifact_own",
            "read_artifact",
            json!({"id": artifacts.own}),
            Guest,
            Success,
        ),
        row(
            "artifact_other",
            "read_artifact",
            json!({"id": artifacts.other}),
            Guest,
            Fails("not_found"),
        ),
        row(
            "artifact_none",
            "read_artifact",
            json!({"id": "art_none"}),
            Guest,
            Fails("not_found"),
        ),
        row(
            "expand",
            "tool_expand_tools",
            json!({"tool_names": ["nope"]}),
            Guest,
            Success,
        ),
        row(
            "search",
            "tool_search",
            json!({"query": "read a file"}),
            Guest,
            Success,
        ),
        nowhere("unknown", "no_such_tool"),
        nowhere("unknown_close", "calculato"),
        nowhere("unknown_of_server", "notes__nothing"),
        nowhere("unknown_server", "letters__add"),
    ]
}

/// The tools that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowed {
    All,
    Some,
    None,
}

impl Allowed {
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Self::All => &["*"],
            Self::Some => &[
                "calculator",
                "file_*",
                "notes__add",
                "project_cli",
                "read_artifact",
            ],
            Self::None => &[],
        }
    }

    fn has(self, tool: &str) -> bool {
        let names = self.names().iter();
        names.copied().any(|name| match name.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => tool == name,
        })
    }
}

/// Where commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Under isolation.
    Local,
    /// Without.
    Passthrough,
}

/// For whom the table is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) role: Role,
    pub(crate) allowed: Allowed,
    pub(crate) backend: Backend,
    pub(crate) mode: Mode,
}

impl Case {
    fn mode_has(self, tool: &str) -> bool {
        match self.mode {
            Mode::Agent => true,
            Mode::Plan => READERS.contains(&tool),
            Mode::Chat => false,
        }
    }
}

/// Who is there to be asked. All else is the same at every entrance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Somebody {
    /// A run whose person can answer: over HTTP and AG-UI.
    Attends,
    /// A run that nobody watches: a question waits for `sessions answer`, and what a person would
    /// have to approve is denied.
    MayComeBack,
    /// A direct call, which no turn could go on from.
    IsNot,
}

/// What must come of a call: `success`, its status and code, or what it waits for.
pub(crate) fn verdict(row: &Row, case: Case, somebody: Somebody) -> String {
    let asks = match somebody {
        Somebody::Attends => "waits approval",
        Somebody::MayComeBack | Somebody::IsNot => "denied needs_approval",
    };
    let code = match row.least {
        None => "unknown_tool",
        Some(_) if !case.allowed.has(row.tool) => "unknown_tool",
        Some(_) if !case.mode_has(row.tool) => "not_permitted",
        Some(least) if case.role < least => row.refused,
        Some(_) => match (row.end, case.backend) {
            (End::Asks, _) | (End::AsksUnlessIsolated, Backend::Passthrough) => {
                return asks.to_owned();
            }
            (End::Success | End::AsksUnlessIsolated, _) => return "success".to_owned(),
            (End::Fails(code), _) => code,
            (End::Question, _) => match somebody {
                Somebody::Attends | Somebody::MayComeBack => return "waits question".to_owned(),
                Somebody::IsNot => "unavailable",
            },
        },
    };
    said(code)
}

/// A code with the status that goes with it.
pub(crate) fn said(code: &str) -> String {
    match code {
        "not_permitted" | "needs_approval" | "denied" => format!("denied {code}"),
        _ => format!("error {code}"),
    }
}
