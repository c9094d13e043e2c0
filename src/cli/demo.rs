//! `demo`.

use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;

use outfitter_agent::{Answered, Input, RunEnd, Session};
use outfitter_core::{
    AnswerKind, Cancel, Clock as _, Code, Level, Role, RunOutcome, SessionId, SystemClock,
};
use serde_json::Value;

use super::Invocation;
use super::ask::made;
use super::failure::{Failure, Stop};
use super::stopping::{runtime, until_stopped};
use crate::demo::{Days, PROMPT, Place, Surroundings, Tour};
use crate::outfit::{BuildError, Outfitter, SessionOptions};
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
    let place = Place::lay_out()
        .map_err(|error| Failure::because(Code::Unavailable, "lay out the workspace", &error))?;
    // Somebody listens, so that what does not get through was held back.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok();
    let address = listener.as_ref().and_then(|one| one.local_addr().ok());
    let tour = Arc::new(Tour::new(Surroundings {
        days: Days::after(SystemClock.now()),
        port: address.map_or(0, |address| address.port()),
    }));
    tell(
        at,
        &format!(
            "A tour without a key or a network: the model is scripted, all else is real.\n\
             It works in {}, which is gone afterwards.\n\n> {}\n\n",
            place.workspace().display(),
            PROMPT.replace('\n', "\n  "),
        ),
    );
    let end = runtime()?.block_on(async {
        let (whole, session) = open(at, &place, tour).await?;
        let end = led(at, &whole, &session).await;
        whole.disconnect().await;
        end
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
    super::run::ended_for_good(at, &end)
}

/// Puts the tour together. Where nothing here can hold commands, it has none: they are not run
/// unheld because of that.
async fn open(
    at: &Invocation<'_>,
    place: &Place,
    tour: Arc<Tour>,
) -> Result<(Outfitter, Session), Stop> {
    let mut has_commands = true;
    loop {
        let mut builder = crate::Builder::new(place.config(), at.env.clone())
            .supervisor(outfitter_process::SupervisorProgram::this_binary())
            .model(tour.clone());
        if !has_commands {
            builder = builder.without_commands();
        }
        let whole = (at.customise)(builder).build()?;
        let options = SessionOptions {
            id: SessionId::mint(&**whole.clock()),
            role: Role::Admin,
            workspace: place.workspace(),
            attended: at.attended(),
            prompt: None,
        };
        match whole.open(options).await {
            Ok(session) => {
                if has_commands {
                    weaker(at, session.sandbox.info().level);
                }
                return Ok((whole, session));
            }
            Err(BuildError::Sandbox(why)) if has_commands => {
                whole.disconnect().await;
                tell(
                    at,
                    &format!(
                        "! failed to {why}\n\
                         Nothing on this machine holds commands back, so the tour leaves them out: it \
                         corrects\nthe report and does not run it, and tries nothing against a \
                         sandbox. `outfitter doctor`\nsays what is missing.\n\n"
                    ),
                );
                has_commands = false;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Leads the tour to its end. A question that nobody answers takes what is to happen then.
async fn led(at: &Invocation<'_>, whole: &Outfitter, session: &Session) -> Result<RunEnd, Stop> {
    let agent = whole.agent()?;
    let cancel = Cancel::new();
    let mut input = Input::Prompt(PROMPT.to_owned());
    let mut viewer = at.viewer_of(Answer::Streamed);
    let mut silences = 0;
    loop {
        let made = made(at, &agent, session, input, &cancel, viewer);
        let (end, back, shown) = until_stopped(&cancel, made).await?;
        shown?;
        let end = end?;
        if cancel.is_cancelled() && end.outcome == RunOutcome::Waiting {
            let failure = Failure::new(Code::Cancelled, "finish the tour: it was cancelled");
            return Err(failure.into());
        }
        let open = match end.outcome {
            RunOutcome::Waiting if silences < MOST_SILENCES => end.waiting.first(),
            _ => None,
        };
        let Some(open) = open else {
            return Ok(end);
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
}

/// Tells people, unless programs read.
fn tell(at: &Invocation<'_>, text: &str) {
    if !at.global.json {
        at.out.tell(text);
    }
}

/// Says what a weaker sandbox means, before anything is run in it.
fn weaker(at: &Invocation<'_>, level: Level) {
    let meaning = match level {
        Level::Full => return,
        Level::Partial => {
            "commands are held back,\nbut less than they should be; `outfitter doctor` says more"
        }
        Level::None => "nothing holds commands\nback, and each waits for an approval",
    };
    let level = level.as_str();
    let words = format!("The sandbox has the level {level} on this machine: {meaning}.\n\n");
    tell(at, &words);
}
