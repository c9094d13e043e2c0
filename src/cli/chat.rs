//! `chat`.

use std::process::ExitCode;

use outfitter_agent::{Input, RunRequest};
use outfitter_core::{Cancel, SessionId};

use super::Invocation;
use super::args::ChatArgs;
use super::ask::made;
use super::failure::{Failure, Stop};
use super::lines::line;
use super::reload::{Reload, hangup};
use super::session::{hold, then_disconnect};
use super::stopping::{Signals, runtime, until_stopped_by};
use outfitter_core::Code;

/// The session of a chat that is not told which.
const SESSION: &str = "cli";

/// Runs `chat`.
pub(crate) fn run(at: &Invocation<'_>, args: &ChatArgs) -> Result<ExitCode, Stop> {
    let (loaded, whole) = at.outfit(args.flags())?;
    let agent = whole.agent()?;
    let id = match args
        .options
        .session
        .clone()
        .or_else(|| loaded.session.clone())
    {
        Some(id) => id,
        None => SessionId::new(SESSION).map_err(|error| Failure::of(Code::Internal, &error))?,
    };
    let work = async {
        let _held = hold(&whole, &id)?;
        let session = at.open(&whole, &args.options, id.into()).await?;
        if !at.global.json {
            let model = agent.parts().model.info().label();
            at.out.tell_line(&format!(
                "session {}, model {model}; an empty line or Ctrl-D ends it",
                session.id
            ));
        }
        let mut viewer = at.viewer();
        let mut notes = super::idle::notes(&whole);
        let mut last = ExitCode::SUCCESS;
        while let Some(words) = next_line(at).await? {
            let cancel = Cancel::new();
            let input = RunRequest {
                notes: std::mem::take(&mut notes),
                ..Input::Prompt(words).into()
            };
            let made = made(at, &agent, &session, input, &cancel, viewer);
            let stops = Signals::but_hangup()?;
            let (end, back, shown) = until_stopped_by(stops, &cancel, made).await?;
            viewer = back;
            shown?;
            last = super::run::ended(at, &session.id, &end?)?;
        }
        Ok(last)
    };
    // A terminal that goes away is seen by its end: a person who hangs up says no more.
    let reload = Reload {
        at,
        flags: args.flags(),
        whole: &whole,
        check: |_| Ok(()),
    };
    runtime()?.block_on(async {
        let hangup = hangup()?;
        let work = Box::pin(then_disconnect(&whole, work));
        reload.with_each(hangup, work).await
    })
}

/// The next line of the person; none at an empty one, the end, or a signal.
async fn next_line(at: &Invocation<'_>) -> Result<Option<String>, Stop> {
    if !at.global.json && at.out.stderr.terminal {
        at.out.tell("\n> ");
    }
    let mut signals = Signals::but_hangup()?;
    let line = tokio::select! {
        line = line() => line,
        () = signals.next() => None,
    };
    Ok(line)
}
