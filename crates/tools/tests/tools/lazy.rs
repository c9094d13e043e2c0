//! Tools that are made at their first call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Cancel, Code, Effect, Effects, Facts, Outcome, Reply, SourceId, Targets, Tool, ToolContext,
    ToolError, ToolName, ToolSource, ToolSpec, Trust, Verdict,
};
use outfitter_tools::{
    DefaultPolicy, LazySource, Rule, Rules, StartTools, ToolRegistry, ToolsConfig,
};
use serde_json::{Value, json};

use crate::support::{Probe, World};

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(
        ToolName::new(name).unwrap(),
        "Says its name.",
        json!({"type": "object"}),
    )
}

struct Named(ToolSpec);

#[async_trait]
impl Tool for Named {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &ToolContext, _: Value) -> Result<Reply, ToolError> {
        Ok(Outcome::text(self.0.name.as_str()).into())
    }
}

/// Makes what it is told, slowly, and counts.
#[derive(Clone, Default)]
struct Maker {
    starts: Arc<AtomicUsize>,
    fails: Arc<Mutex<Option<&'static str>>>,
    makes: Arc<Mutex<Vec<ToolSpec>>>,
}

#[async_trait]
impl StartTools for Maker {
    async fn start(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(50)).await;
        let fails = *self.fails.lock().unwrap();
        if let Some(why) = fails {
            return Err(ToolError::unavailable(why));
        }
        let makes = self.makes.lock().unwrap().clone();
        let tool = |spec| Arc::new(Named(spec)) as Arc<dyn Tool>;
        Ok(makes.into_iter().map(tool).collect())
    }
}

impl Maker {
    fn of(made: Vec<ToolSpec>) -> Self {
        let maker = Self::default();
        *maker.makes.lock().unwrap() = made;
        maker
    }

    fn starts(&self) -> usize {
        self.starts.load(Ordering::Relaxed)
    }

    fn source(&self, known: Vec<ToolSpec>) -> LazySource {
        LazySource::new(
            SourceId::new("dear").unwrap(),
            Trust::Operator,
            known,
            self.clone(),
        )
    }
}

fn tool(source: &LazySource, name: &str) -> Arc<dyn Tool> {
    let snapshot = source.snapshot();
    let found = snapshot
        .tools
        .iter()
        .find(|tool| tool.spec().name.as_str() == name);
    found.unwrap_or_else(|| panic!("no {name}")).clone()
}

async fn call(tool: &dyn Tool) -> Result<Value, ToolError> {
    match tool.call(&ToolContext::detached(), json!({})).await? {
        Reply::Done(outcome) => Ok(outcome.result),
        Reply::Wait(_) => panic!("it waits"),
    }
}

#[tokio::test]
async fn listing_starts_nothing_and_many_first_calls_start_it_once() {
    let maker = Maker::of(vec![spec("b"), spec("a")]);
    let source = maker.source(vec![spec("b"), spec("a")]);
    let registry = ToolRegistry::default();
    let generation = source.snapshot().generation;
    let names: Vec<String> = source
        .snapshot()
        .tools
        .iter()
        .map(|tool| tool.spec().name.to_string())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!((maker.starts(), source.is_started()), (0, false));
    let tools: Vec<_> = (0..8)
        .map(|n| tool(&source, if n % 2 == 0 { "a" } else { "b" }))
        .collect();
    let calls = tools.iter().map(|tool| call(&**tool));
    let said: Vec<_> = futures_util::future::join_all(calls).await;
    assert_eq!(said[0].as_ref().unwrap(), "a");
    assert_eq!(said[1].as_ref().unwrap(), "b");
    assert_eq!((maker.starts(), source.is_started()), (1, true));
    // What was known was right, so nothing changes.
    assert_eq!(source.snapshot().generation, generation);
    registry.add(Arc::new(source)).unwrap();
    assert!(registry.faults().is_empty());
}

#[tokio::test]
async fn a_start_that_fails_is_told_and_tried_again() {
    let maker = Maker::of(vec![spec("a")]);
    *maker.fails.lock().unwrap() = Some("the licence has run out");
    let source = maker.source(vec![spec("a")]);
    let lazy = tool(&source, "a");
    for _ in 0..2 {
        let error = call(&*lazy).await.unwrap_err();
        assert_eq!(error.code(), Code::Unavailable);
        assert_eq!(error.to_string(), "the licence has run out");
    }
    *maker.fails.lock().unwrap() = None;
    assert_eq!(call(&*lazy).await.unwrap(), "a");
    assert_eq!(maker.starts(), 3);
}

#[tokio::test]
async fn a_call_that_is_stopped_while_it_starts_ends_and_the_next_starts_it() {
    let maker = Maker::of(vec![spec("a")]);
    let source = maker.source(vec![spec("a")]);
    let lazy = tool(&source, "a");
    let mut cx = ToolContext::detached();
    cx.cancel = Cancel::new();
    let stop = async {
        while maker.starts() == 0 {
            tokio::task::yield_now().await;
        }
        cx.cancel.cancel();
    };
    let (called, ()) = tokio::join!(lazy.call(&cx, json!({})), stop);
    assert_eq!(called.unwrap_err().code(), Code::Cancelled);
    assert!(!source.is_started());
    assert_eq!(call(&*lazy).await.unwrap(), "a");
}

#[tokio::test]
async fn what_is_not_as_it_was_known_is_not_called_and_is_told() {
    let mut wider = spec("wider");
    wider.effects = Effects::of(&[Effect::Exec]);
    let mut other = spec("other");
    other.input_schema = Arc::new(json!({"type": "object", "required": ["x"]}));
    let mut reworded = spec("reworded");
    reworded.description = "Says it otherwise.".into();
    let maker = Maker::of(vec![spec("same"), wider, other, reworded, spec("new")]);
    let known = ["same", "wider", "other", "reworded", "gone"].map(spec);
    let source = maker.source(known.to_vec());
    let before = source.snapshot();
    let of = |name: &str| tool(&source, name);
    let lazy = ["same", "reworded", "wider", "other", "gone"].map(of);
    // The arguments were judged by another schema, the effects by others.
    assert_eq!(call(&*lazy[2]).await.unwrap_err().code(), Code::Conflict);
    assert_eq!(call(&*lazy[3]).await.unwrap_err().code(), Code::Conflict);
    assert_eq!(call(&*lazy[4]).await.unwrap_err().code(), Code::Unavailable);
    assert_eq!(call(&*lazy[0]).await.unwrap(), "same");
    assert_eq!(call(&*lazy[1]).await.unwrap(), "reworded");
    let now = source.snapshot();
    assert!(now.generation > before.generation);
    let faults: Vec<String> = now
        .faults
        .iter()
        .map(|fault| format!("{}: {}", fault.what, fault.why))
        .collect();
    assert_eq!(
        faults,
        [
            "gone: it is not there any more",
            "other: it is not as it was known",
            "reworded: it is not as it was known",
            "wider: it is not as it was known",
            "new: it was not known",
        ]
    );
    assert_eq!(call(&*tool(&source, "wider")).await.unwrap(), "wider");
    assert_eq!(call(&*tool(&source, "new")).await.unwrap(), "new");
}

#[tokio::test]
async fn a_source_that_is_gone_is_gone_with_its_tools() {
    let maker = Maker::of(vec![spec("a")]);
    let source = maker.source(vec![spec("a")]);
    let lazy = tool(&source, "a");
    drop(source);
    // Whoever holds a tool can call it to its end.
    assert_eq!(call(&*lazy).await.unwrap(), "a");
    drop(lazy);
    assert_eq!(
        Arc::strong_count(&maker.starts),
        1,
        "nothing holds on to itself"
    );
}

/// Makes a tool whose arguments are a command line, which its spec does not say.
struct Shell(Arc<Mutex<Vec<Value>>>);

#[async_trait]
impl StartTools for Shell {
    async fn start(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let ran = self.0.clone();
        let probe = Probe::new("shell")
            .facts(|spec, args| {
                let line = args["line"].as_str().unwrap_or_default();
                Ok(Facts::of(spec).about(line).on(Targets::CommandLine))
            })
            .call(move |_, args| {
                ran.lock().unwrap().push(args.clone());
                Box::pin(async move { Ok(Outcome::json(args).into()) })
            });
        Ok(vec![Arc::new(probe)])
    }
}

#[tokio::test]
async fn the_first_call_does_not_escape_a_rule_that_reads_what_only_the_tool_itself_says() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let known = Probe::new("shell").spec;
    let source = LazySource::new(
        SourceId::new("dear").unwrap(),
        Trust::Operator,
        vec![known],
        Shell(ran.clone()),
    );
    // Judged before the tool is there, called after it is.
    let lazy = tool(&source, "shell");
    let world = World::of(Vec::new());
    world.registry.add(Arc::new(source)).unwrap();
    let rule = |args: &str, decision| Rule {
        tool: "shell".to_owned(),
        args: Some(args.into()),
        tenant: None,
        role: None,
        channel: None,
        agent: None,
        decision,
    };
    let rules = vec![rule("rm *", Verdict::Deny), rule("ls *", Verdict::Allow)];
    world.registry.configure(ToolsConfig {
        policy: Arc::new(Rules::new(rules, Arc::new(DefaultPolicy)).unwrap()),
        ..ToolsConfig::default()
    });
    let code = async |line: &str| {
        let args = json!({"line": line}).to_string();
        let output = world.output("shell", &args).await;
        output.error.as_ref().map(|error| error.code)
    };
    assert_eq!(code("rm x").await, Some(Code::Conflict));
    assert_eq!(code("rm x").await, Some(Code::NotPermitted));
    assert_eq!(call(&*lazy).await.unwrap_err().code(), Code::Conflict);
    assert!(ran.lock().unwrap().is_empty());
    assert_eq!(code("ls x").await, None);
    assert_eq!(*ran.lock().unwrap(), [json!({"line": "ls x"})]);
}
