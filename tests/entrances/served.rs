//! `outfitter serve` as a process, in a world of its own.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::http::{At, Whole};
use crate::world::{Ran, Running, World};

/// The program at work as a server.
pub(crate) struct Serving<'w> {
    running: Running<'w>,
    pub(crate) at: At,
}

impl<'w> Serving<'w> {
    /// Starts it on a free port, with the configuration of the world.
    pub(crate) fn start(world: &'w World) -> Self {
        Self::start_with(world, &[])
    }

    /// Starts it with more arguments before `serve`'s own.
    pub(crate) fn start_with(world: &'w World, more: &[&str]) -> Self {
        Self::start_at(world, "127.0.0.1:0", more)
    }

    /// Starts it where it is told to listen.
    pub(crate) fn start_at(world: &'w World, bind: &str, more: &[&str]) -> Self {
        let mut args = vec!["serve", "--bind", bind, "--json"];
        args.extend(more);
        let running = world.start(&args);
        running.until_stdout("\n");
        let (stdout, _) = running.taken();
        let said: Value = serde_json::from_str(stdout.lines().next().unwrap()).unwrap();
        let url = said["url"].as_str().unwrap();
        Self {
            running,
            at: At {
                address: url.strip_prefix("http://").unwrap().to_owned(),
                token: None,
            },
        }
    }

    /// Ends it as its operator would. It ends in good order and says nothing of panics.
    pub(crate) fn stop(self) -> Ran {
        self.running.signal(Signal::TERM);
        self.running.wait().exits(0)
    }

    /// Tells it to take its configuration anew, and gives what it says of that the n-th time.
    pub(crate) fn reload(&self, time: usize) -> String {
        let limit = Instant::now() + Duration::from_secs(60);
        self.running.signal(Signal::HUP);
        loop {
            let (_, stderr) = self.running.taken();
            // All of it is written at once.
            if let Some((at, _)) = stderr.match_indices("reload").nth(time - 1) {
                return stderr[at..].to_owned();
            }
            assert!(Instant::now() < limit, "it says nothing: {stderr}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// Tells it to end.
    pub(crate) fn terminate(&self) {
        self.running.signal(Signal::TERM);
    }

    /// Waits for its end after [`Self::terminate`].
    pub(crate) fn ended(self) -> Ran {
        self.running.wait().exits(0)
    }

    /// Tells it to end twice: it does not wait for what is under way.
    pub(crate) fn abandoned(self) {
        self.terminate();
        self.terminate();
        let ran = self.running.wait();
        // Where the first was enough, it ended in good order before the second came.
        assert!(matches!(ran.code, Some(0 | 130)), "{}", ran.shown());
    }

    /// Kills it while it ends, unless it is faster.
    pub(crate) fn kill_unless_ended(self) {
        self.running.signal(Signal::KILL);
        let ran = self.running.wait();
        assert!(matches!(ran.code, None | Some(0)), "{}", ran.shown());
    }

    /// Ends it in the middle of everything.
    pub(crate) fn kill(self) {
        self.running.signal(Signal::KILL);
        let ran = self.running.wait();
        assert_eq!(ran.code, None, "{}", ran.shown());
    }

    /// Makes a run in a session, to its end.
    pub(crate) fn run(&self, session: &str) -> Whole {
        self.at.run(session)
    }
}

impl At {
    /// Makes a run in a session, to its end.
    pub(crate) fn run(&self, session: &str) -> Whole {
        let body = json!({"session_id": session, "input": "go"});
        self.post("/v1/runs", &body).is(200)
    }

    /// Follows a run to its end.
    #[track_caller]
    pub(crate) fn follow(&self, run: &str) -> Vec<Value> {
        let events = self.get(&format!("/v1/runs/{run}/events"));
        events.is(200).lines()
    }

    /// Answers a question, and follows the run that goes on with it.
    #[track_caller]
    pub(crate) fn answer(&self, question: &str, answer: &Value) -> Vec<Value> {
        let body = json!({"answer": answer});
        let told = self
            .post(&format!("/v1/questions/{question}/answer"), &body)
            .is(202);
        self.follow(told.json()["run_id"].as_str().unwrap())
    }

    /// Decides an approval, and follows the run that goes on with it.
    #[track_caller]
    pub(crate) fn decide(&self, approval: &str, decision: &str) -> Vec<Value> {
        let body = json!({"decision": decision});
        let told = self
            .post(&format!("/v1/approvals/{approval}"), &body)
            .is(202);
        self.follow(told.json()["run_id"].as_str().unwrap())
    }

    /// Makes a direct call.
    pub(crate) fn call(&self, session: &str, tool: &str, arguments: &Value) -> Whole {
        let body = json!({"session_id": session, "arguments": arguments});
        self.post(&format!("/v1/tools/{tool}/call"), &body)
    }

    /// Runs over AG-UI.
    pub(crate) fn agui(&self, thread: &str, run: &str, rest: &Value) -> Whole {
        let mut body = json!({
            "threadId": thread, "runId": run, "messages": [], "tools": [], "context": [],
            "state": {}, "forwardedProps": {},
        });
        for (key, value) in rest.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.post("/agui", &body).is(200)
    }
}

/// The words of a person, as AG-UI sends them.
pub(crate) fn words(id: &str) -> Value {
    json!({"messages": [{"id": id, "role": "user", "content": "go"}]})
}

/// The lines of a type.
pub(crate) fn of<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// Fails the test unless the run whose lines these are came to this.
#[track_caller]
pub(crate) fn ends(lines: &[Value], expected: &str) {
    assert_eq!(outcome(lines), expected, "{lines:#?}");
}

/// The outcome of the run whose lines these are, which end with it.
#[track_caller]
pub(crate) fn outcome(lines: &[Value]) -> &str {
    let ends = of(lines, "run_finished");
    assert_eq!(ends.len(), 1, "{lines:#?}");
    let last = lines.last().unwrap();
    assert_eq!(last["type"], "run_finished", "{lines:#?}");
    last["outcome"].as_str().unwrap()
}

/// The results of the calls, by the ids of the calls.
pub(crate) fn outputs(lines: &[Value]) -> Vec<&Value> {
    let messages = of(lines, "message").into_iter();
    messages
        .map(|line| &line["message"]["metadata"]["tool_agent_output"])
        .filter(|output| output.is_object())
        .collect()
}
