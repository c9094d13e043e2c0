//! `demo`.

use std::process::ExitCode;
use std::sync::Arc;

use outfitter_agent::{Input, RunEnd};
use outfitter_core::{Attended, Cancel, Code, Role, RunOutcome, SessionId};

use super::Invocation;
use super::ask::made;
use super::failure::{Failure, Stop};
use super::session::{runtime, until_stopped};
use crate::config::Config;
use crate::demo;
use crate::outfit::SessionOptions;
use crate::render::Answer;

/// Runs `demo`. The configuration has no say in it, so that it is the same everywhere.
pub(crate) fn run(at: &Invocation<'_>) -> Result<ExitCode, Stop> {
    let io = |doing: &str, error: std::io::Error| {
        Failure::new(Code::Unavailable, format!("{doing}: {error}"))
    };
    let dir = tempfile::Builder::new()
        .prefix("outfitter-demo-")
        .tempdir()
        .map_err(|error| io("make a temporary directory", error))?;
    let workspace = dir.path().join("workspace");
    demo::lay_out(&workspace).map_err(|error| io("lay out the workspace", error))?;

    let mut config = Config::default();
    config.store.url = Some("memory:".to_owned());
    config.store.data_dir = Some(dir.path().join("data"));
    let model = demo::model().map_err(|error| Failure::of(error.code(), &error))?;
    let builder = crate::Builder::new(config, at.env.clone())
        .supervisor(outfitter_process::SupervisorProgram::this_binary())
        .model(Arc::new(model));
    let whole = (at.customise)(builder).build()?;
    let agent = whole.agent()?;
    if !at.global.json {
        at.out.tell(&format!(
            "A tour without a key or a network: the model is scripted, everything else is real.\n\
             It works in {}, which is gone afterwards.\n\n> {}\n\n",
            workspace.display(),
            demo::PROMPT
        ));
    }
    let end: RunEnd = runtime()?.block_on(async {
        let session = whole
            .open(SessionOptions {
                id: SessionId::mint(&**whole.clock()),
                role: Role::Admin,
                workspace,
                attended: Attended::No,
                prompt: None,
            })
            .await?;
        let cancel = Cancel::new();
        let input = Input::Prompt(demo::PROMPT.to_owned());
        let made = made(
            at,
            &agent,
            &session,
            input,
            &cancel,
            at.viewer_of(Answer::Streamed),
        );
        let (end, _, shown) = until_stopped(&cancel, made).await?;
        shown?;
        Ok::<_, Stop>(end?)
    })?;
    if end.outcome == RunOutcome::Success && !at.global.json {
        at.out.tell(
            "\nNext: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST and try\n  \
             outfitter run \"what is in this directory?\"\n  \
             outfitter tools list\n  \
             outfitter doctor\n",
        );
    }
    super::run::ended(at, end)
}
