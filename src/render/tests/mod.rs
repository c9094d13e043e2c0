//! What a reader sees, event by event.

mod story;

use std::sync::Arc;

use outfitter_core::{
    Code, DeltaKind, ErrorInfo, EventBody, Message, MessageId, MessageRole, Part, RunOutcome,
    RunOutput, Stream, SuggestedAction, UiHints, WarningCode,
};
use serde_json::json;

use super::{Answer, Colour, Detail, Face, Kind, View, transcript};
use story::{Story, TERMINAL, answer, assistant, calls, message_id, output};

const COLOURED: Face = Face {
    colour: Colour::On,
    ..TERMINAL
};

/// A whole run with a bit of everything.
fn tell_all(story: &mut Story) {
    story
        .started()
        .delta(DeltaKind::Reasoning, "The tests fail,\n")
        .delta(DeltaKind::Reasoning, "so I run them.\n\n")
        .delta(DeltaKind::Text, "\nI run ")
        .delta(DeltaKind::Text, "the tests first.\n")
        .message(vec![
            Part::Text {
                text: "\nI run the tests first.\n".to_owned(),
            },
            calls("c1", "execute_shell_command", "{}"),
        ])
        .call(
            "c1",
            "execute_shell_command",
            json!({"command": "cargo test"}),
        )
        .prints(
            "c1",
            Stream::Stdout,
            "running 2 tests\ntest a ... ok\ntest b",
        )
        .prints("c1", Stream::Stderr, "warning: unused\n")
        .prints("c1", Stream::Stdout, " ... FAILED\n")
        .prints("c1", Stream::Stdout, "")
        .ends(
            "c1",
            "execute_shell_command",
            json!({"exit_code": 101, "stdout_bytes": 52}),
        )
        .call("c2", "file_update", json!({"path": "src/lib.rs"}))
        .ends(
            "c2",
            "file_update",
            json!({
                "replacements": 1,
                "diff": "--- a\n+++ b\n@@ -1,2 +1,2 @@\n fn b() {\n-    1\n+    2\n",
            }),
        )
        .call(
            "c3",
            "file_write",
            json!({"path": "/etc/passwd", "content": "x"}),
        )
        .refused(
            "c3",
            "file_write",
            ErrorInfo::new(Code::NotPermitted, "the path is outside of the workspace")
                .with_hint("paths begin at the workspace"),
        )
        .tell(EventBody::Warning {
            code: WarningCode::Retried,
            message: "the provider was busy; tried again".to_owned(),
        })
        .says(&["Test `b` passes now."])
        .finished("Test `b` passes now.");
}

#[test]
fn a_run_in_a_terminal() {
    let mut story = Story::watched();
    tell_all(&mut story);
    insta::assert_snapshot!(story.both);
}

#[test]
fn a_run_in_colour_has_the_same_words() {
    let mut plain = Story::watched();
    tell_all(&mut plain);
    let mut coloured = Story::new(View::live(COLOURED, COLOURED, Detail::Calm));
    tell_all(&mut coloured);
    assert_eq!(outfitter_text::ansi::fold(&coloured.both), plain.both);
    for line in coloured.both.lines() {
        let (on, off) = (
            line.matches("\u{1b}[").count(),
            line.matches("\u{1b}[0m").count(),
        );
        assert!(
            on >= 2 * off && (on == 0) == (off == 0),
            "colour leaks out of {line:?}"
        );
    }
    insta::assert_snapshot!(coloured.both.replace('\u{1b}', "␛"));
}

#[test]
fn a_pipe_gets_the_answer_and_nothing_else() {
    let mut story = Story::new(View::live(Face::PLAIN, TERMINAL, Detail::Calm));
    tell_all(&mut story);
    assert_eq!(story.data, "Test `b` passes now.\n");
    insta::assert_snapshot!(story.people);
}

#[test]
fn where_nobody_watches_there_is_no_noise() {
    let mut story = Story::new(View::live(Face::PLAIN, Face::PLAIN, Detail::Calm));
    tell_all(&mut story);
    assert!(!story.both.contains('\u{1b}'));
    assert!(!story.people.contains("openai/gpt-5"), "{}", story.people);
    assert!(!story.people.contains("so I run them"), "{}", story.people);
    assert!(!story.people.contains("tokens"), "{}", story.people);
    assert!(
        story.people.contains("denied: the path"),
        "{}",
        story.people
    );
}

#[test]
fn more_is_shown_when_asked_for() {
    let mut story = Story::new(View::live(TERMINAL, TERMINAL, Detail::Full));
    story
        .started()
        .call("c1", "grep", json!({"pattern": "todo", "limit": 3}))
        .ends("c1", "grep", json!({"matches": [], "count": 0}))
        .finished("None.");
    insta::assert_snapshot!(story.both);
}

#[test]
fn calls_that_run_at_once_are_told_apart() {
    let mut story = Story::watched();
    story
        .call("c1", "execute_shell_command", json!({"command": "make a"}))
        .call("c2", "execute_shell_command", json!({"command": "make b"}))
        .call("c3", "grep", json!({"pattern": "x"}))
        .prints("c2", Stream::Stdout, "b1\n")
        .prints("c1", Stream::Stdout, "a1\n")
        .ends("c3", "grep", json!({"matches": [], "count": 0}))
        .ends("c1", "execute_shell_command", json!({"exit_code": 0}))
        .prints("c2", Stream::Stdout, "b2\n")
        .ends("c2", "execute_shell_command", json!({"exit_code": 0}));
    insta::assert_snapshot!(story.both);
}

#[test]
fn nothing_a_tool_prints_controls_the_terminal() {
    let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[31mred\u{1b}[0m\r\u{9b}5mover\u{202e}txt\n";
    let mut story = Story::watched();
    story
        .call("c1", "x\u{1b}[2Jy", json!({"command": evil}))
        .prints("c1", Stream::Stdout, evil)
        .prints("c1", Stream::Stderr, "\u{1b}")
        .prints("c1", Stream::Stderr, "[2Jhalf\n")
        .refused(
            "c1",
            "x",
            ErrorInfo::new(Code::Failed, evil).with_hint(evil),
        )
        .says(&["model \u{1b}", "[2J", evil])
        .tell(EventBody::Warning {
            code: WarningCode::Refused,
            message: evil.to_owned(),
        });
    assert!(
        !story
            .both
            .contains(['\u{1b}', '\u{9b}', '\u{7}', '\u{202e}', '\r'])
    );
    insta::assert_snapshot!(story.both);
}

#[test]
fn a_progress_bar_is_one_line() {
    let mut story = Story::watched();
    story.call("c1", "execute_shell_command", json!({"command": "fetch"}));
    for step in 0..100 {
        story.prints("c1", Stream::Stderr, &format!("\r{step}%"));
    }
    story.prints("c1", Stream::Stderr, "\rdone\n").ends(
        "c1",
        "execute_shell_command",
        json!({"exit_code": 0}),
    );
    assert_eq!(story.both.matches('│').count(), 1, "{}", story.both);
    assert!(story.both.contains("│ done\n"), "{}", story.both);
}

#[test]
fn a_line_that_never_ends_is_shown_when_its_call_does() {
    let mut story = Story::watched();
    story
        .call(
            "c1",
            "execute_shell_command",
            json!({"command": "printf x"}),
        )
        .prints("c1", Stream::Stdout, "no break")
        .ends("c1", "execute_shell_command", json!({"exit_code": 0}));
    assert!(story.both.contains("│ no break\n"), "{}", story.both);
}

#[test]
fn what_is_too_much_to_show_is_counted() {
    let mut story = Story::watched();
    story
        .call(
            "c1",
            "execute_shell_command",
            json!({"command": "seq 1000"}),
        )
        .prints("c1", Stream::Stdout, &"line\n".repeat(1000))
        .progress("c1", Stream::Stdout, "after\n", 4096)
        .ends("c1", "execute_shell_command", json!({"exit_code": 0}));
    assert_eq!(story.both.matches("│ line\n").count(), 400);
    assert!(story.both.contains("… 4.0 kB lost"), "{}", story.both);
    assert!(story.both.contains("… 601 more lines"), "{}", story.both);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut story = Story::watched();
    let long = "汉字 and words ".repeat(30);
    story
        .call("c1", "execute_shell_command", json!({"command": long}))
        .prints("c1", Stream::Stdout, &format!("{long}\n"))
        .ends("c1", "execute_shell_command", json!({"value": long}));
    for line in story.both.lines() {
        assert!(super::text::columns(line) <= 72, "{line}");
    }
}

#[test]
fn text_lost_on_the_way_is_made_good_by_the_message() {
    let mut story = Story::watched();
    story.delta(DeltaKind::Text, "one two");
    story.message(vec![Part::Text {
        text: "one two three\n".to_owned(),
    }]);
    assert_eq!(story.data, "one two three\n");

    let mut story = Story::watched();
    story.delta(DeltaKind::Text, "one three");
    story.message(vec![Part::Text {
        text: "one two three".to_owned(),
    }]);
    assert_eq!(story.data, "one three\none two three\n");
}

#[test]
fn words_appear_as_they_come() {
    let mut story = Story::watched();
    story.delta(DeltaKind::Text, "\n\nHel");
    assert_eq!(story.data, "Hel");
    story.delta(DeltaKind::Text, "lo\n\n");
    assert_eq!(story.data, "Hello");
    story.delta(DeltaKind::Text, "you");
    assert_eq!(story.data, "Hello\n\nyou");
}

#[test]
fn a_run_that_failed_says_why_only_where_nobody_else_does() {
    let failed = || EventBody::RunFinished {
        outcome: RunOutcome::Failed,
        output: Arc::new(RunOutput {
            status: RunOutcome::Failed,
            answer: String::new(),
            suggested_actions: Vec::new(),
            error: Some(ErrorInfo::new(Code::Unavailable, "the provider is down")),
        }),
    };
    let mut live = Story::watched();
    live.tell(failed());
    assert_eq!(live.people, "failed\n");
    let mut replay = Story::new(View::replay(TERMINAL, Detail::Calm));
    replay.tell(failed());
    assert_eq!(replay.data, "failed: unavailable: the provider is down\n");
}

#[test]
fn what_may_follow_is_shown_line_by_line_and_controls_nothing() {
    let action = |label: &str, prompt: Option<&str>, command: Option<&str>| SuggestedAction {
        label: label.to_owned(),
        prompt: prompt.map(str::to_owned),
        command: command.map(str::to_owned),
    };
    let mut story = Story::watched();
    story.tell(EventBody::RunFinished {
        outcome: RunOutcome::Success,
        output: Arc::new(RunOutput {
            status: RunOutcome::Success,
            answer: String::new(),
            suggested_actions: vec![
                action("Test", None, Some("cargo test")),
                action("More\n", Some("explain\n\u{1b}[31mit"), None),
                action("nothing", None, None),
            ],
            error: None,
        }),
    });
    assert_eq!(
        story.people,
        "$ cargo test  (Test)\n> explain ␛[31mit  (More)\n"
    );
    assert_eq!(story.data, "");
}

#[test]
fn a_conversation_introduces_itself_once() {
    let mut story = Story::watched();
    story.started().finished("One.").started().finished("Two.");
    assert_eq!(
        story.people.matches("openai/gpt-5").count(),
        1,
        "{}",
        story.people
    );
}

#[test]
fn a_replay_is_all_data_and_has_the_prompt() {
    let mut story = Story::new(View::replay(TERMINAL, Detail::Calm));
    story.started();
    story.tell(EventBody::Message(Arc::new(Message::text(
        MessageId::new("msg_0").unwrap(),
        MessageRole::User,
        "what is\nto do?",
    ))));
    story
        .message(vec![
            Part::Reasoning {
                text: "I look.".to_owned(),
                signature: None,
            },
            calls("c1", "grep", "{}"),
        ])
        .call("c1", "grep", json!({"pattern": "todo"}))
        .ends("c1", "grep", json!({"matches": [{}], "count": 1}))
        .message(vec![Part::Text {
            text: "One thing.".to_owned(),
        }])
        .finished("One thing.");
    assert_eq!(story.people, "");
    insta::assert_snapshot!(story.data);
}

#[test]
fn a_session_reads_as_a_conversation() {
    let user = Message::text(message_id(), MessageRole::User, "what is to do?");
    let messages = [
        Arc::new(user),
        assistant(vec![
            Part::Reasoning {
                text: "I look.".to_owned(),
                signature: None,
            },
            Part::Text {
                text: "I search.\n".to_owned(),
            },
            calls("c1", "grep", "{\"pattern\": \"todo\"}"),
            calls("c2", "file_read", "{\"path\": \"a"),
        ]),
        answer(output(
            "c1",
            "grep",
            Some(json!({"matches": [], "count": 0})),
            None,
        )),
        answer(output(
            "c2",
            "file_read",
            None,
            Some(ErrorInfo::new(
                Code::InvalidArguments,
                "the arguments are cut off",
            )),
        )),
        assistant(vec![Part::Text {
            text: "Nothing.".to_owned(),
        }]),
    ];
    insta::assert_snapshot!(transcript(&messages, TERMINAL, Detail::Calm));
}

/// What a program says of its result is drawn instead of told, live and when it is told again.
#[test]
fn a_result_that_says_what_it_means_is_drawn() {
    let mut planned = output(
        "c1",
        "project_cli",
        Some(json!({"events": [{"title": "Tea", "start": "2026-12-01T16:00:00Z"}]})),
        None,
    );
    planned.ui_hints = Some(UiHints(
        json!({"template": "table", "from": "/events", "columns": [
            {"path": "/start", "label": "Begins", "format": "datetime"},
            {"path": "/title", "label": "What"},
        ]}),
    ));
    let arguments = json!({"command": "calendar", "subcommand": "read", "args": {}});
    let mut story = Story::watched();
    story
        .call("c1", "project_cli", arguments.clone())
        .tell(EventBody::Message(answer(planned.clone())));
    assert_eq!(
        story.people,
        "● project_cli  calendar read\n\
         \u{20} │ Begins                What\n\
         \u{20} │ 2026-12-01 16:00 UTC  Tea\n\
         \u{20} ✓ done\n"
    );
    let messages = [
        assistant(vec![calls("c1", "project_cli", &arguments.to_string())]),
        answer(planned),
    ];
    assert_eq!(
        transcript(&messages, TERMINAL, Detail::Calm),
        story.people.replace("✓ ", "✓ project_cli  ")
    );
}

#[test]
fn a_view_follows_what_the_streams_are() {
    let view = View::live(Face::PLAIN, TERMINAL, Detail::Calm);
    assert_eq!((view.answer, view.kind), (Answer::AtEnd, Kind::Live));
    let view = View::live(TERMINAL, Face::PLAIN, Detail::Calm);
    assert_eq!(view.answer, Answer::Streamed);
}
