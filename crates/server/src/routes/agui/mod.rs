//! `/agui`: AG-UI 1.0. `docs/protocols/ag-ui.md` is the protocol.

mod asked;
mod history;
mod sse;

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use outfitter_codec::agui::{AguiEncoder, Capabilities, RunAgentInput, RunFrame};
use outfitter_core::{Code, Principal, Scope};

use self::asked::Asked;
pub(crate) use self::history::Histories;
use crate::app::App;
use crate::body;
use crate::live::Place;
use crate::problem::Problem;
use crate::routes::narrow::in_mode;

/// `POST /agui`: a run, told as AG-UI. What is wrong with the conversation ends the stream with
/// `RUN_ERROR`; what is wrong with the request ends it before it begins.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    body: Body,
) -> Result<Response, Problem> {
    let bytes = body::read(body).await?;
    let input = RunAgentInput::parse(&bytes)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.info()))?;
    let place = Place {
        scope: Scope::from(&*who),
        session: input.thread.clone(),
    };
    let mine = app.client_runs.take(&place, &input.run);
    let history = app.histories.read(&*app.log, &place).await?;
    let asked = asked::asked(&app, &who, &input, &history);
    let asked = asked.and_then(|asked| Ok((asked, asked::mode(&input)?)));
    let frame = RunFrame::from(&input);
    let (request, mode) = match asked {
        Ok((Asked::Run(request), mode)) => (request, mode),
        Ok((Asked::Again(end), _)) => {
            let encoder = AguiEncoder::new(frame, history.transcript);
            return Ok(sse::again(&app, encoder, &end));
        }
        Err(problem) => {
            let encoder = AguiEncoder::new(frame, history.transcript);
            return Ok(sse::refused(&app, encoder, problem.error()));
        }
    };
    let mine = mine.filter(|_| !history.has_run(&input.run));
    let Some(mine) = mine else {
        return Err(history::had_already(&input.run));
    };
    let opened = app.open(who, &place.session).await;
    let started = match opened {
        Ok(session) => app.start_with(in_mode(session, mode), request, mine).await,
        Err(problem) => Err(problem),
    };
    let encoder = AguiEncoder::new(frame, history.transcript);
    match started {
        Ok(started) => Ok(sse::run(&app, encoder, started)),
        Err(problem) if problem == history::had_already(&input.run) => Err(problem),
        Err(problem) => match problem.error().code {
            Code::NotFound | Code::Conflict | Code::InvalidArguments | Code::Usage => {
                Ok(sse::refused(&app, encoder, problem.error()))
            }
            _ => Err(problem),
        },
    }
}

/// `GET /agui/capabilities`.
pub(super) async fn capabilities(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
) -> Response {
    let tools = app.directory.tools(&who);
    let document = Capabilities {
        version: app.config.version.clone(),
        tools: tools
            .iter()
            .filter(|tool| tool.presented)
            .map(Into::into)
            .collect(),
        sandboxed: app.directory.sandboxed().await,
        max_turns: app.host.agent().parts().settings.limits.max_turns.into(),
    }
    .document();
    super::json(&document)
}
