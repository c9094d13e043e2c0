//! The program at a terminal, with a person there: it asks, and goes on with what they type.

use std::io::{Read as _, Write as _};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::sync::mpsc;

use rstest::rstest;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::scripted::scripted;
use crate::world::{HANGS, World};

/// The program at a terminal of its own.
pub(crate) struct Terminal<'w> {
    /// The world it works in stays as long as it does.
    world: PhantomData<&'w World>,
    child: std::process::Child,
    keyboard: std::fs::File,
    screen: mpsc::Receiver<String>,
    seen: String,
}

impl<'w> Terminal<'w> {
    #[expect(
        clippy::disallowed_types,
        reason = "a test runs the program as a person does"
    )]
    pub(crate) fn start(world: &'w World, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || -> OwnedFd {
            let flags = OFlags::RDWR | OFlags::NOCTTY;
            rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap()
        };
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_outfitter"))
            .args(args)
            .env_clear()
            .env("HOME", world.root().join("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("NO_COLOR", "1")
            .current_dir(world.work(""))
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        let mut reader = std::fs::File::from(master.try_clone().unwrap());
        let (tell, screen) = mpsc::sync_channel(1_024);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // A terminal that nobody has open any more cannot be read.
            while let Ok(read @ 1..) = reader.read(&mut piece) {
                let text = String::from_utf8_lossy(&piece[..read]).into_owned();
                if tell.send(text).is_err() {
                    return;
                }
            }
        });
        Self {
            world: PhantomData,
            child,
            keyboard: master.into(),
            screen,
            seen: String::new(),
        }
    }

    /// Reads until this is on the screen, after what was read before.
    #[track_caller]
    pub(crate) fn until(&mut self, has: &str) -> String {
        while !self.seen.contains(has) {
            match self.screen.recv_timeout(HANGS) {
                Ok(text) => self.seen += &text,
                Err(_) => panic!("{has:?} never comes: {}", self.seen),
            }
        }
        let (before, rest) = self.seen.split_once(has).unwrap();
        let (before, rest) = (before.to_owned(), rest.to_owned());
        self.seen = rest;
        before
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// What Ctrl-C sends.
    fn stops(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn exits(self) -> i32 {
        self.ends().0
    }

    /// Waits for its end, and gives what was on the screen since the last look.
    pub(crate) fn ends(mut self) -> (i32, String) {
        // The screen is read until the program has closed it.
        while let Ok(text) = self.screen.recv_timeout(HANGS) {
            self.seen += &text;
        }
        let code = self.child.wait().unwrap().code().unwrap();
        (code, std::mem::take(&mut self.seen))
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn world(calls: &Value) -> World {
    let turns = json!([{"tool_calls": calls}, {"text": "all done"}]);
    scripted(&turns, "[sandbox]\nbackend = \"passthrough\"\n")
}

fn result(world: &World) -> Value {
    let shown = world
        .run(&["sessions", "show", "s", "--json"])
        .exits(0)
        .json();
    let messages = shown["messages"].as_array().unwrap();
    let mut results = messages.iter().filter(|message| message["role"] == "tool");
    results.next().unwrap()["metadata"]["tool_agent_output"].clone()
}

#[test]
fn a_question_is_asked_until_the_answer_fits() {
    let arguments = json!({"question": "how many?", "schema": {"type": "integer"}});
    let world = world(&json!([{"id": "one", "name": "ask_user", "arguments": arguments}]));
    let mut terminal = Terminal::start(&world, &["run", "--session", "s", "go"]);
    terminal.until("how many?");
    terminal.until("> ");
    terminal.types("many\n");
    terminal.until("not one of the answers");
    terminal.until("> ");
    terminal.types("7\n");
    terminal.until("all done");
    assert_eq!(terminal.exits(), 0);
    assert_eq!(result(&world)["result"]["answer"], 7);
}

#[rstest]
#[case("y\n", "success", true)]
#[case("n\n", "denied", false)]
fn an_approval_is_a_yes_or_a_no(#[case] typed: &str, #[case] status: &str, #[case] runs: bool) {
    let arguments = json!({"command": "echo done > done.txt"});
    let calls = json!([{"id": "late", "name": "execute_shell_command", "arguments": arguments}]);
    let world = world(&calls);
    let mut terminal = Terminal::start(&world, &["run", "--session", "s", "go"]);
    terminal.until("allow it?");
    assert!(!world.work("done.txt").exists(), "it ran before the yes");
    terminal.types(typed);
    terminal.until("all done");
    assert_eq!(terminal.exits(), 0);
    assert_eq!(result(&world)["status"], status);
    assert_eq!(world.work("done.txt").exists(), runs);
}

/// An empty line leaves it open, to be answered later from anywhere.
#[test]
fn what_the_person_does_not_answer_stays_open() {
    let arguments = json!({"question": "how many?", "schema": {"type": "integer"}});
    let world = world(&json!([{"id": "one", "name": "ask_user", "arguments": arguments}]));
    let mut terminal = Terminal::start(&world, &["run", "--session", "s", "go"]);
    terminal.until("> ");
    terminal.types("\n");
    terminal.until("sessions answer ");
    terminal.until("goes on");
    assert_eq!(terminal.exits(), 1);
    let serving = crate::served::Serving::start(&world);
    let open = serving.at.get("/v1/sessions/s").is(200).json();
    let id = open["waiting"][0].as_str().unwrap().to_owned();
    let lines = serving.at.answer(&id, &json!(3));
    crate::served::ends(&lines, "success");
    serving.stop();
}

/// A form is one question after another; what does not fit is asked again.
#[test]
fn a_form_is_filled_in_at_the_terminal() {
    let arguments = json!({"title": "A trip", "questions": [
        {"id": "where", "type": "text", "label": "Where to?", "required": true},
        {"id": "how", "type": "single", "label": "How?", "options": ["rail", "road"]},
        {"id": "sure", "type": "confirm", "label": "Sure?", "default": true},
    ]});
    let world = world(&json!([{"id": "one", "name": "questionnaire", "arguments": arguments}]));
    let mut terminal = Terminal::start(&world, &["run", "--session", "s", "go"]);
    terminal.until("A trip");
    terminal.until("Where to?");
    terminal.until("> ");
    terminal.types("the sea\n");
    terminal.until("How?");
    terminal.until("> ");
    terminal.types("air\n");
    terminal.until("not one of the answers");
    terminal.until("> ");
    terminal.types("2\n");
    terminal.until("Sure?");
    terminal.until("> ");
    terminal.types("\n");
    terminal.until("all done");
    assert_eq!(terminal.exits(), 0);
    assert_eq!(
        result(&world)["result"],
        json!({
            "status": "submitted", "auto_submit": false,
            "answers": {"where": "the sea", "how": "road", "sure": true},
        })
    );
}

/// Ctrl-C at a question was not heard: the program waited for the answer all the same.
#[rstest]
#[case::a_question("ask_user", json!({"question": "how many?", "schema": {"type": "integer"}}))]
#[case::a_form("questionnaire", json!({"title": "A trip", "questions": [
    {"id": "where", "type": "text", "label": "Where to?", "required": true},
]}))]
// What is shown before it is asked about has no `> `, which is what is waited for.
#[case::an_approval("execute_shell_command", json!({"command": "touch done.txt"}))]
fn ctrl_c_at_a_question_was_not_heard(#[case] tool: &str, #[case] arguments: Value) {
    let world = world(&json!([{"id": "one", "name": tool, "arguments": arguments}]));
    let terminal = |args: &[&str]| {
        let mut terminal = Terminal::start(&world, args);
        terminal.until("> ");
        terminal
    };
    let mut run = terminal(&["run", "--session", "s", "go"]);
    run.stops();
    run.until("sessions answer ");
    assert_eq!(run.exits(), 1, "the question stays open");
    assert!(!world.work("done.txt").exists());
}

/// The line that was waited for is not lost with the question that it was not for.
#[test]
fn a_chat_goes_on_after_ctrl_c_at_a_question() {
    let arguments = json!({"question": "how many?", "schema": {"type": "integer"}});
    let world = world(&json!([{"id": "one", "name": "ask_user", "arguments": arguments}]));
    let mut chat = Terminal::start(&world, &["chat", "--session", "s"]);
    chat.until("> ");
    chat.types("go\n");
    chat.until("leaves it open) > ");
    chat.stops();
    chat.until("\r\n> ");
    chat.types("never mind\n");
    chat.until("all done");
    chat.until("> ");
    chat.types("\n");
    assert_eq!(chat.exits(), 0);
}

#[test]
fn ctrl_c_at_the_question_of_the_tour_was_not_heard() {
    let world = World::new();
    let mut tour = Terminal::start(&world, &["demo"]);
    tour.until("leaves it open) > ");
    tour.stops();
    tour.until("failed to finish the tour: it was cancelled");
    assert_eq!(tour.exits(), 130);
}
