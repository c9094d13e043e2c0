//! `tools list`, `tools show`, `tools call`.

use std::io::Read as _;
use std::process::ExitCode;

use outfitter_core::{
    Arguments, CallEnd, CallId, Cancel, Code, Listing, RawCall, SessionId, SystemClock, ToolOutput,
};
use outfitter_tools::{Found, ToolView};
use serde_json::{Value, json};

use super::Invocation;
use super::args::{CallArgs, SessionOptions, ShowArgs, ToolArguments, ToolsCommand};
use super::failure::{Failure, Stop};
use super::lacking::lacking;
use super::output::encoded;
use super::session::{connected, hold, tell_pending, then_disconnect};
use super::stopping::{runtime, until_stopped};
use super::viewer::watch;
use crate::outfit::{Needed, Outfitter};
use crate::render::tables;

/// Arguments larger than this are a mistake.
const MOST_ARGUMENTS: u64 = 64 * 1024 * 1024;

/// Runs `tools`.
pub(crate) fn run(at: &Invocation<'_>, command: &ToolsCommand) -> Result<ExitCode, Stop> {
    match command {
        ToolsCommand::List { options } => list(at, options),
        ToolsCommand::Show(args) => show(at, args),
        ToolsCommand::Call(args) => call(at, args),
    }
}

fn list(at: &Invocation<'_>, options: &SessionOptions) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(options.flags())?;
    let (tools, pending, lacking) = connected(&whole, Needed::Everything, || {
        let tools = whole.view(at.attended()).listing();
        Ok((tools, whole.pending(), lacking(&whole)))
    })?;
    tell_pending(at, &pending);
    for line in lacking {
        at.out.tell_line(&format!("warning: {line}"));
    }
    if at.global.json {
        at.out.bytes(&encoded(|out| {
            outfitter_codec::encode_listing(&tools, out)
        })?)?;
    } else {
        at.out.data(&tables::tools(&tools, at.out.stdout))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(at: &Invocation<'_>, args: &ShowArgs) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(args.options.flags())?;
    let tool = connected(&whole, Needed::Tool(&args.name), || {
        found(&whole.view(at.attended()), &args.name)
    })?;
    if let Some(format) = args.format {
        let form = format
            .form(&tool)
            .map_err(|error| Failure::of(Code::Internal, &error))?;
        at.out.document(&form)?;
    } else if at.global.json {
        let line =
            encoded(|out| outfitter_codec::encode_listing(std::slice::from_ref(&tool), out))?;
        let list: Vec<Value> =
            serde_json::from_slice(&line).map_err(|error| Failure::of(Code::Internal, &error))?;
        at.out.document(list.first().unwrap_or(&Value::Null))?;
    } else {
        at.out.data(&tables::tool(&tool, at.out.stdout))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn found(view: &ToolView, name: &str) -> Result<Listing, Stop> {
    let mut listed = view.listing().into_iter();
    if let Some(tool) = listed.find(|tool| tool.name.as_str() == name) {
        return Ok(tool);
    }
    let hint = match view.find(name) {
        Found::Unknown(close) if !close.is_empty() => {
            format!("did you mean {}?", close.join(" or "))
        }
        _ => "`outfitter tools list` lists those you may use".to_owned(),
    };
    let failure = Failure::new(Code::UnknownTool, format!("find the tool {name:?}"));
    Err(failure.with_hint(hint).into())
}

/// Makes the call, and tells its one output, also where it was never made.
fn call(at: &Invocation<'_>, args: &CallArgs) -> Result<ExitCode, Stop> {
    let mut begun = None;
    let (end, saved) = match made(at, args, &mut begun) {
        Ok(made) => made,
        Err(stop) => return unmade(at, &args.name, begun, stop),
    };
    match end {
        CallEnd::Output(output) => match (said(at, &output)?, saved) {
            (exit, Ok(())) => Ok(exit),
            // The call was made, and its one output is on stdout.
            (_, Err(Stop::Failed(failure))) => {
                at.out.tell(&failure.lines());
                Ok(ExitCode::from(failure.code.exit()))
            }
            (_, Err(stop)) => Err(stop),
        },
        CallEnd::Waiting(_) => {
            let failure = Failure::new(
                Code::NeedsApproval,
                "finish the call: it waits for an answer",
            );
            unmade(at, &args.name, begun, failure.into())
        }
    }
}

/// What a call is called, and its arguments for showing.
type Begun = (CallId, Value);

/// How the call ended. `begun` is what is known of it, once its arguments are.
fn made(
    at: &Invocation<'_>,
    args: &CallArgs,
    begun: &mut Option<Begun>,
) -> Result<(CallEnd, Result<(), Stop>), Stop> {
    let loaded = at.load(args.options.flags())?;
    let named = args
        .options
        .session
        .clone()
        .or_else(|| loaded.session.clone());
    let whole = match named {
        Some(_) => at.build(&loaded)?,
        None => at.build_without_sessions(&loaded)?,
    };
    let call = RawCall {
        id: CallId::mint(&**whole.clock()),
        name: args.name.clone(),
        arguments: Arguments::parse(arguments(at, args.args.as_ref())?),
    };
    let agent = whole.caller();
    let shown = agent.parts().pipeline.redactor().arguments(&call.arguments);
    *begun = Some((call.id.clone(), shown));
    let held = named.as_ref().map(|id| hold(&whole, id)).transpose()?;
    let unnamed = named.is_none();
    let id = named.unwrap_or_else(|| SessionId::mint(&**whole.clock()));
    let work = async {
        if unnamed {
            whole.sweep_passing().await;
        }
        let needed = Needed::Tool(&args.name);
        let session = at
            .open_for(&whole, &args.options, id.clone().into(), needed)
            .await?;
        let cancel = Cancel::new();
        let calling = async {
            if at.global.json {
                let events = std::sync::Arc::new(outfitter_agent::NoSubscriber);
                let end = agent.call(&session, call, cancel.clone(), events).await;
                return (end, Ok(()));
            }
            let viewer = at.viewer();
            let (end, _, shown) = watch(viewer, &cancel, async |events| {
                agent.call(&session, call, cancel.clone(), events).await
            })
            .await;
            (end, shown)
        };
        let ended = until_stopped(&cancel, calling).await;
        drop(session);
        let ended = saved(at, &whole, &id, args, ended).await;
        if unnamed {
            whole.forget(&id).await;
        }
        ended
    };
    let end = runtime()?.block_on(then_disconnect(&whole, work));
    drop(held);
    end
}

/// What came of the call, with what it kept written where that was asked for.
async fn saved(
    at: &Invocation<'_>,
    whole: &Outfitter,
    session: &SessionId,
    args: &CallArgs,
    ended: Result<Ended, Stop>,
) -> Result<(CallEnd, Result<(), Stop>), Stop> {
    let (end, shown) = ended?;
    shown?;
    let end = end?;
    let saved = match (&end, &args.save) {
        (CallEnd::Output(output), Some(folder)) => {
            super::artifacts::save(at, whole, (session, &output.artifacts), folder).await
        }
        _ => Ok(()),
    };
    Ok((end, saved))
}

/// How a call ended, and whether it could be shown.
type Ended = (Result<CallEnd, outfitter_agent::RunError>, Result<(), Stop>);

/// A call that was never made, or left before its end, is told as one that failed, where programs
/// read: they always get one output, with its arguments where they could be read.
fn unmade(
    at: &Invocation<'_>,
    name: &str,
    begun: Option<Begun>,
    stop: Stop,
) -> Result<ExitCode, Stop> {
    let failure = match stop {
        Stop::Failed(failure) | Stop::Abandoned(failure) if at.global.json => failure,
        other => return Err(other),
    };
    let (id, shown) = begun.unwrap_or_else(|| (CallId::mint(&SystemClock), json!({})));
    let message = format!("failed to {}", failure.message);
    let mut error = outfitter_core::ErrorInfo::new(failure.code, message);
    error.hint.clone_from(&failure.hint);
    let output = ToolOutput::failed(name, id, shown, error);
    at.out.bytes(&encoded(|out| {
        outfitter_codec::encode_tool_output(&output, out)
    })?)?;
    at.out.tell(&failure.lines());
    Ok(ExitCode::from(failure.code.exit()))
}

fn said(at: &Invocation<'_>, output: &ToolOutput) -> Result<ExitCode, Stop> {
    if at.global.json {
        at.out.bytes(&encoded(|out| {
            outfitter_codec::encode_tool_output(output, out)
        })?)?;
    } else if let Some(result) = &output.result {
        match result {
            Value::String(text) => at.out.data(&format!("{text}\n"))?,
            other => at.out.document(other)?,
        }
    }
    let Some(error) = &output.error else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut failure = Failure::new(
        error.code,
        format!("call {}: {}", output.tool_name, error.message),
    );
    failure.hint.clone_from(&error.hint);
    at.out.tell(&failure.lines());
    Ok(ExitCode::from(error.code.exit()))
}

fn arguments(at: &Invocation<'_>, args: Option<&ToolArguments>) -> Result<String, Stop> {
    let wrong = |from: &str, error: std::io::Error| {
        Failure::because(
            Code::Usage,
            format!("read the arguments from {from}"),
            &error,
        )
    };
    let mut text = String::new();
    match args {
        None => {}
        Some(ToolArguments::Inline(inline)) => text.clone_from(inline),
        Some(ToolArguments::Stdin) => {
            let mut stdin = std::io::stdin().lock().take(MOST_ARGUMENTS);
            stdin
                .read_to_string(&mut text)
                .map_err(|error| wrong("stdin", error))?;
        }
        Some(ToolArguments::File(path)) => {
            let path = at.env.current_dir().join(path);
            let name = path.display().to_string();
            let file = std::fs::File::open(&path).map_err(|error| wrong(&name, error))?;
            file.take(MOST_ARGUMENTS)
                .read_to_string(&mut text)
                .map_err(|error| wrong(&name, error))?;
        }
    }
    Ok(text)
}
