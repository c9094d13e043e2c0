//! The program at a terminal, with a person there: it asks, and goes on with what they type.

use std::io::{Read as _, Write as _};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::sync::mpsc;

use rstest::rstest;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

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
    pub(crate) fn until(&mut self, has: &str) {
        while !self.seen.contains(has) {
            match self.screen.recv_timeout(HANGS) {
                Ok(text) => self.seen += &text,
                Err(_) => panic!("{has:?} never comes: {}", self.seen),
            }
        }
        let (_, rest) = self.seen.split_once(has).unwrap();
        self.seen = rest.to_owned();
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
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
    let world = World::new();
    let turns = json!([{"tool_calls": calls}, {"text": "all done"}]);
    world.write("model.yaml", turns.to_string());
    let toml = format!(
        "[model]\nprovider = \"scripted\"\nscript = {:?}\n[sandbox]\nbackend = \"passthrough\"\n",
        world.work("model.yaml")
    );
    world.config(&toml);
    world
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
