//! `tools list`, `tools show`, `tools call`.

use std::io::Read as _;
use std::process::ExitCode;

use outfitter_core::{
    Arguments, CallEnd, CallId, Cancel, Code, Listing, RawCall, SessionId, ToolOutput,
};
use outfitter_tools::Found;

use super::Invocation;
use super::args::{CallArgs, SessionOptions, ToolArguments, ToolsCommand};
use super::failure::{Failure, Stop};
use super::session::{hold, runtime, until_stopped, watch};
use crate::outfit::Outfitter;
use crate::render::tables;

/// Arguments larger than this are a mistake.
const MOST_ARGUMENTS: u64 = 64 * 1024 * 1024;

/// Runs `tools`.
pub(crate) fn run(at: &Invocation<'_>, command: &ToolsCommand) -> Result<ExitCode, Stop> {
    match command {
        ToolsCommand::List { options } => list(at, options),
        ToolsCommand::Show { name, options } => show(at, name, options),
        ToolsCommand::Call(args) => call(at, args),
    }
}

fn list(at: &Invocation<'_>, options: &SessionOptions) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(options.flags())?;
    connected(&whole)?;
    let tools = whole.view(at.attended()).listing();
    for fault in whole.faults() {
        let fault = &fault.fault;
        at.out.tell(&format!(
            "warning: {} is left out: {}\n",
            fault.what, fault.why
        ));
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

fn show(at: &Invocation<'_>, name: &str, options: &SessionOptions) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(options.flags())?;
    connected(&whole)?;
    let view = whole.view(at.attended());
    let tool: Option<Listing> = view
        .listing()
        .into_iter()
        .find(|tool| tool.name.as_str() == name);
    let Some(tool) = tool else {
        let info = match view.find(name) {
            Found::Unknown(close) if !close.is_empty() => {
                Some(format!("did you mean {}?", close.join(" or ")))
            }
            _ => None,
        };
        let failure = Failure::new(Code::UnknownTool, format!("find the tool {name:?}"));
        let hint =
            info.unwrap_or_else(|| "`outfitter tools list` lists those you may use".to_owned());
        return Err(failure.with_hint(hint).into());
    };
    if at.global.json {
        let line =
            encoded(|out| outfitter_codec::encode_listing(std::slice::from_ref(&tool), out))?;
        let list: Vec<serde_json::Value> =
            serde_json::from_slice(&line).map_err(|error| Failure::of(Code::Internal, &error))?;
        at.out
            .document(list.first().unwrap_or(&serde_json::Value::Null))?;
    } else {
        at.out.data(&tables::tool(&tool, at.out.stdout))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Connects what is configured, if anything is: most programs list their tools without it.
fn connected(whole: &Outfitter) -> Result<(), Stop> {
    if !whole.has_connections() {
        return Ok(());
    }
    runtime()?.block_on(async {
        whole.connect().await?;
        whole.disconnect().await;
        Ok(())
    })
}

fn call(at: &Invocation<'_>, args: &CallArgs) -> Result<ExitCode, Stop> {
    let mut loaded = at.load(args.options.flags())?;
    let named = args
        .options
        .session
        .clone()
        .or_else(|| loaded.session.clone());
    if named.is_none() {
        loaded.config.store.url = Some("memory:".to_owned());
    }
    let whole = at.build(loaded.config)?;
    let arguments = arguments(at, args.args.as_ref())?;
    let call = RawCall {
        id: CallId::mint(&**whole.clock()),
        name: args.name.clone(),
        arguments: Arguments::parse(arguments),
    };
    let agent = whole.caller();
    let held = named.as_ref().map(|id| hold(&whole, id)).transpose()?;
    let id = named.unwrap_or_else(|| SessionId::mint(&**whole.clock()));
    let end = runtime()?.block_on(async {
        let session = at.open(&whole, &args.options, id.into()).await?;
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
        let (end, shown) = until_stopped(&cancel, calling).await?;
        shown?;
        Ok::<_, Stop>(end?)
    });
    drop(held);
    match end? {
        CallEnd::Output(output) => said(at, &output),
        CallEnd::Waiting(_) => {
            let failure = Failure::new(
                Code::NeedsApproval,
                "finish the call: it waits for an answer",
            );
            Err(failure.into())
        }
    }
}

fn said(at: &Invocation<'_>, output: &ToolOutput) -> Result<ExitCode, Stop> {
    if at.global.json {
        at.out.bytes(&encoded(|out| {
            outfitter_codec::encode_tool_output(output, out)
        })?)?;
    } else if let Some(result) = &output.result {
        match result {
            serde_json::Value::String(text) => at.out.data(&format!("{text}\n"))?,
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
        Failure::new(
            Code::Usage,
            format!("read the arguments from {from}: {error}"),
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

fn encoded(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<(), outfitter_codec::EncodeError>,
) -> Result<Vec<u8>, Stop> {
    let mut out = Vec::new();
    encode(&mut out).map_err(|error| Failure::of(Code::Internal, &error))?;
    Ok(out)
}
