//! `demo`.

use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;

use outfitter_agent::{Answered, Input, RunEnd};
use outfitter_core::{AnswerKind, Cancel, Code, Level, Role, RunOutcome, SandboxInfo, SessionId};
use serde_json::Value;

use super::Invocation;
use super::ask::made;
use super::failure::{Failure, Stop};
use super::session::{runtime, until_stopped};
use crate::demo::{Days, PROMPT, Place, Surroundings, Tour};
use crate::outfit::SessionOptions;
use crate::render::Answer;

/// How often the tour goes on where nobody answered: more often than it asks.
const MOST_SILENCES: usize = 8;

/// Runs `demo`. The configuration has no say in it, so that it is the same everywhere.
pub(crate) fn run(at: &Invocation<'_>) -> Result<ExitCode, Stop> {
    if crate::helpers::program("planner").is_none() {
        let failure = Failure::new(
            Code::Unavailable,
            "begin the tour: its helpers are not here",
        );
        let hint = "build the program with its default features";
        return Err(failure.with_hint(hint).into());
    }
    let place = Place::lay_out().map_err(|error| {
        Failure::new(Code::Unavailable, format!("lay out the workspace: {error}"))
    })?;
    let clock = outfitter_core::SystemClock;
    // Somebody listens, so that what does not get through was held back.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok();
    let address = listener.as_ref().and_then(|one| one.local_addr().ok());
    let tour = Tour::new(Surroundings {
        days: Days::after(outfitter_core::Clock::now(&clock)),
        port: address.map_or(0, |address| address.port()),
    });
    let builder = crate::Builder::new(place.config(), at.env.clone())
        .supervisor(outfitter_process::SupervisorProgram::this_binary())
        .model(Arc::new(tour));
    let whole = (at.customise)(builder).build()?;
    let agent = whole.agent()?;
    tell(
        at,
        &format!(
            "A tour without a key or a network: the model is scripted, all else is real.\n\
             It works in {}, which is gone afterwards.\n\n> {}\n\n",
            place.workspace().display(),
            PROMPT.replace('\n', "\n  "),
        ),
    );
    let end: RunEnd = runtime()?.block_on(async {
        let session = whole
            .open(SessionOptions {
                id: SessionId::mint(&**whole.clock()),
                role: Role::Admin,
                workspace: place.workspace(),
                attended: at.attended(),
                prompt: None,
            })
            .await?;
        weaker(at, session.sandbox.info());
        let cancel = Cancel::new();
        let mut input = Input::Prompt(PROMPT.to_owned());
        let mut viewer = at.viewer_of(Answer::Streamed);
        let mut silences = 0;
        loop {
            let made = made(at, &agent, &session, input, &cancel, viewer);
            let (end, back, shown) = until_stopped(&cancel, made).await?;
            shown?;
            let end = end?;
            let open = match end.outcome {
                RunOutcome::Waiting if silences < MOST_SILENCES => end.waiting.first(),
                _ => None,
            };
            let Some(open) = open else {
                whole.disconnect().await;
                return Ok::<_, Stop>(end);
            };
            silences += 1;
            tell(
                at,
                "Nobody answers, and a tour does not wait: what is to happen then happens now.\n",
            );
            input = Input::Answer(Answered {
                interrupt: open.id.clone(),
                value: Value::Null,
                by: AnswerKind::Expired,
            });
            viewer = back;
        }
    })?;
    if end.outcome == RunOutcome::Success {
        tell(
            at,
            "\nNext: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST and try\n  \
             outfitter run \"what is in this directory?\"\n  \
             outfitter tools list\n  \
             outfitter doctor\n",
        );
    }
    super::run::ended(at, end)
}

/// Tells people, unless programs read.
fn tell(at: &Invocation<'_>, text: &str) {
    if !at.global.json {
        at.out.tell(text);
    }
}

/// Says what a weaker sandbox means, before anything is run in it.
fn weaker(at: &Invocation<'_>, info: &SandboxInfo) {
    let meaning = match info.level {
        Level::Full => return,
        Level::Partial => "commands of the tour are held back less than they should be",
        Level::None => "nothing holds commands back, so they are not run without an approval",
    };
    let missing: String = info
        .missing
        .iter()
        .map(|why| format!("  {why}\n"))
        .collect();
    tell(
        at,
        &format!(
            "The sandbox has the level {} on this machine: {meaning}.\n{missing}\n",
            info.level.as_str()
        ),
    );
}
