//! What the pipeline costs beside the work it cannot do without.
//!
//! `bare` parses the text of the arguments, holds them to the schema, calls the tool and writes its
//! result as JSON. `pipeline` does the same with everything that makes a call safe and known, into
//! a journal in memory. The two are read against each other, on one machine in one run.

use std::hint::black_box;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use criterion::{Criterion, criterion_group, criterion_main};
use futures_util::FutureExt as _;
use outfitter_core::{
    Arguments, Attended, CallEnd, CallId, Cancel, Deadline, EntryBody, Grant, Journal,
    JournalError, Outcome, Principal, Progress, RawCall, RefusingArtifacts, RefusingSandbox, Reply,
    Role, RunId, Selection, Services, SessionFacts, SessionId, SourceId, SystemClock, Tool,
    ToolContext, ToolError, ToolName, ToolSpec, Trust,
};
use outfitter_tools::{NativeSource, Pipeline, RunHandle, ToolRegistry};
use serde_json::{Value, json};

const RAW: &str = r#"{"text":"hello there","n":7}"#;

struct Echo(ToolSpec);

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        Ok(Outcome::json(args).into())
    }
}

/// Keeps the last entries, so that dropping them is part of the cost and memory stays flat.
#[derive(Default)]
struct Memory(Mutex<Vec<EntryBody>>);

#[async_trait]
impl Journal for Memory {
    async fn record(&self, entries: Vec<EntryBody>) -> Result<(), JournalError> {
        if let Ok(mut kept) = self.0.lock() {
            if kept.len() > 1024 {
                kept.clear();
            }
            kept.extend(entries);
        }
        Ok(())
    }

    fn progress(&self, _: &CallId) -> Progress {
        Progress::nowhere()
    }

    fn close_progress(&self, _: &CallId) {}
}

fn spec() -> Option<ToolSpec> {
    Some(ToolSpec::new(
        ToolName::new("echo").ok()?,
        "Gives its arguments back.",
        json!({
            "type": "object",
            "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["text", "n"],
            "additionalProperties": false,
        }),
    ))
}

fn compare(criterion: &mut Criterion) {
    let (Some(spec), Ok(id), Ok(source)) = (spec(), CallId::new("call_1"), SourceId::new("bench"))
    else {
        return;
    };
    let Ok(validator) = jsonschema::validator_for(&spec.input_schema) else {
        return;
    };
    let echo: Arc<dyn Tool> = Arc::new(Echo(spec));
    let detached = ToolContext::detached();

    criterion.bench_function("bare", |bench| {
        bench.iter(|| {
            let args: Value = serde_json::from_str(black_box(RAW)).unwrap_or_default();
            assert!(validator.is_valid(&args));
            match echo.call(&detached, args).now_or_never() {
                Some(Ok(Reply::Done(outcome))) => serde_json::to_string(&outcome.result).ok(),
                Some(Ok(Reply::Wait(_)) | Err(_)) | None => None,
            }
        });
    });

    let registry = ToolRegistry::default();
    let added = registry.add(Arc::new(NativeSource::new(
        source,
        Trust::Builtin,
        vec![echo.clone()],
    )));
    assert!(added.is_ok() && registry.faults().is_empty());
    let clock = Arc::new(SystemClock);
    let who = Arc::new(Principal {
        tenant: "local".into(),
        subject: "bench".into(),
        role: Role::User,
        channel: "bench".into(),
        stream: None,
    });
    let session = SessionId::mint(&*clock);
    let view = registry
        .seal(Grant::full(Role::User), Selection::default())
        .view(&SessionFacts {
            who: who.clone(),
            session: session.clone(),
            attended: Attended::No,
            expanded: Default::default(),
            suggested: None,
            skills: Default::default(),
        });
    let run = RunHandle {
        who,
        session,
        run: RunId::mint(&*clock),
        attended: Attended::No,
        cancel: Cancel::new(),
        deadline: Deadline::NEVER,
        journal: Arc::new(Memory::default()),
        sandbox: Arc::new(RefusingSandbox::new()),
        artifacts: Arc::new(RefusingArtifacts),
        clock,
        services: Services::default(),
    };
    let pipeline = Pipeline::default();
    criterion.bench_function("pipeline", |bench| {
        bench.iter(|| {
            let call = RawCall {
                id: id.clone(),
                name: "echo".to_owned(),
                arguments: Arguments::parse(black_box(RAW)),
            };
            // The tool is done at once, so no runtime is needed and none is measured.
            let end = pipeline.run(&view, call, &run).now_or_never();
            assert!(matches!(&end, Some(Ok(CallEnd::Output(output))) if output.error.is_none()));
            end
        });
    });
}

/// From nothing to the first request: every schema is checked and compiled.
fn first_view(criterion: &mut Criterion) {
    /// As many as a usual set of built-in tools.
    const TOOLS: usize = 12;
    let session = SessionFacts {
        who: ToolContext::detached().who,
        session: ToolContext::detached().session,
        attended: Attended::No,
        expanded: Default::default(),
        suggested: None,
        skills: Default::default(),
    };
    criterion.bench_function("first view", |bench| {
        bench.iter(|| {
            let tools = (0..TOOLS).map(|_| outfitter_tools::read_artifact(12_000));
            let registry = ToolRegistry::default();
            for (n, tool) in tools.enumerate() {
                // One source each, so that one name can be had many times.
                let id = SourceId::new(format!("s{n}")).unwrap_or_else(|_| unreachable!());
                let source = NativeSource::new(id, Trust::Remote, vec![tool]);
                assert!(registry.add(Arc::new(source)).is_ok());
            }
            let proxy = registry.seal(Grant::full(Role::User), Selection::default());
            let view = proxy.view(&session);
            assert_eq!(view.presented().count(), TOOLS);
            view
        });
    });
}

criterion_group!(benches, compare, first_view);
criterion_main!(benches);
