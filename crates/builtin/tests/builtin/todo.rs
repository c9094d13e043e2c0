//! `todo_write` and `todo_read`, on a history that a test writes.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use outfitter_builtin::BuiltinOptions;
use outfitter_core::{
    CallId, Code, PastCalls, Principal, Role, Seq, SessionHistory, SessionId, Status, StoreError,
    SystemClock, ToolContext, ToolName, ToolOutput,
};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::Tools;

/// What is in the log of the root session.
struct History {
    root: SessionId,
    outputs: Mutex<Vec<(Seq, Arc<ToolOutput>)>>,
    broken: bool,
}

impl History {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            root: SessionId::mint(&SystemClock),
            outputs: Mutex::default(),
            broken: false,
        })
    }

    fn log(&self, cx: &ToolContext, args: &Value, status: Status) {
        let mut outputs = self.outputs.lock().unwrap();
        let seq = Seq(outputs.len() as u64 + 1);
        let output = ToolOutput {
            tool_name: "todo_write".to_owned(),
            resolved: None,
            tool_call_id: cx.call.clone(),
            tool_call_args: args.clone(),
            status,
            result: None,
            error: None,
            ui_hints: None,
            artifacts: Vec::new(),
            truncated: None,
        };
        outputs.push((seq, Arc::new(output)));
    }
}

#[async_trait]
impl SessionHistory for History {
    fn root(&self) -> &SessionId {
        &self.root
    }

    async fn calls_of(&self, tool: &ToolName, from: Seq) -> Result<PastCalls, StoreError> {
        if self.broken {
            return Err(StoreError::NotFound(self.root.clone()));
        }
        assert_eq!(tool.as_str(), "todo_write");
        let outputs = self.outputs.lock().unwrap();
        let next = Seq(outputs.len() as u64 + 1);
        let read = outputs.iter().filter(|(seq, _)| *seq >= from);
        Ok(PastCalls {
            outputs: read.cloned().collect(),
            next,
        })
    }
}

/// A call in a session of this run tree.
fn call_in(history: &Arc<History>) -> ToolContext {
    let mut cx = ToolContext::detached();
    cx.call = CallId::mint(&SystemClock);
    cx.services = cx.services.with::<dyn SessionHistory>(history.clone());
    cx
}

fn tools() -> Tools {
    Tools::new(&BuiltinOptions::default())
}

fn one(id: &str, status: &str) -> Value {
    json!({ "tasks": [{ "id": id, "content": format!("do {id}"), "status": status }] })
}

async fn ids(tools: &Tools, cx: &ToolContext) -> Vec<String> {
    let read = tools.call("todo_read", cx, json!({})).await.unwrap();
    let tasks = read.result["tasks"].as_array().unwrap().clone();
    tasks
        .iter()
        .map(|task| task["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn the_list_is_told_with_its_counts() {
    let (tools, history) = (tools(), History::new());
    let cx = call_in(&history);
    let args = json!({ "tasks": [
        { "id": "plan", "content": "make a plan", "status": "completed", "conclusion": "two steps" },
        { "id": "do", "content": "carry it out", "status": "in_progress", "assignee": "ann" },
    ]});
    let wrote = tools.call("todo_write", &cx, args.clone()).await.unwrap();
    assert_eq!(
        wrote.result,
        json!({
            "summary": { "total": 2, "pending": 0, "in_progress": 1, "completed": 1 },
            "tasks": args["tasks"],
        })
    );
    history.log(&cx, &args, Status::Success);
    let read = tools
        .call("todo_read", &call_in(&history), json!({}))
        .await
        .unwrap();
    assert_eq!(read.result, wrote.result);
}

/// Another process knows nothing but the log.
#[tokio::test]
async fn the_list_survives_a_restart() {
    let history = History::new();
    let before = tools();
    for (id, status) in [("a", "pending"), ("b", "pending"), ("a", "completed")] {
        let cx = call_in(&history);
        before
            .call("todo_write", &cx, one(id, status))
            .await
            .unwrap();
        history.log(&cx, &one(id, status), Status::Success);
    }
    let after = tools();
    let read = after
        .call("todo_read", &call_in(&history), json!({}))
        .await
        .unwrap();
    assert_eq!(read.result["summary"]["completed"], 1);
    assert_eq!(ids(&after, &call_in(&history)).await, ["a", "b"]);
}

#[tokio::test]
async fn a_write_that_failed_has_changed_nothing() {
    let history = History::new();
    let (here, cx) = (tools(), call_in(&history));
    here.call("todo_write", &cx, one("a", "pending"))
        .await
        .unwrap();
    assert_eq!(ids(&here, &call_in(&history)).await, ["a"]);
    history.log(&cx, &one("a", "pending"), Status::Interrupted);
    assert!(ids(&here, &call_in(&history)).await.is_empty());
    assert!(ids(&tools(), &call_in(&history)).await.is_empty());
}

/// Sub-agents write at once, some of it logged and some not yet: nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writes_at_once_lose_nothing() {
    const WRITERS: usize = 40;
    let (tools, history) = (Arc::new(tools()), History::new());
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..WRITERS {
        let (tools, history) = (tools.clone(), history.clone());
        writers.spawn(async move {
            let cx = call_in(&history);
            let args = one(&format!("t{number}"), "pending");
            let wrote = tools.call("todo_write", &cx, args.clone()).await.unwrap();
            tokio::task::yield_now().await;
            history.log(&cx, &args, Status::Success);
            wrote.result["summary"]["total"].as_u64().unwrap()
        });
    }
    let mut totals = writers.join_all().await;
    totals.sort_unstable();
    let wanted: Vec<u64> = (1..=WRITERS as u64).collect();
    assert_eq!(totals, wanted, "each saw the ones before it");
    assert_eq!(ids(&tools, &call_in(&history)).await.len(), WRITERS);
    assert_eq!(ids(&self::tools(), &call_in(&history)).await.len(), WRITERS);
}

#[tokio::test]
async fn a_run_tree_has_one_list_and_another_has_its_own() {
    let (tools, ours, theirs) = (tools(), History::new(), History::new());
    let (parent, child) = (call_in(&ours), call_in(&ours));
    assert_ne!(parent.session, child.session);
    tools
        .call("todo_write", &parent, one("a", "pending"))
        .await
        .unwrap();
    tools
        .call("todo_write", &child, one("b", "pending"))
        .await
        .unwrap();
    assert_eq!(ids(&tools, &parent).await, ["a", "b"]);
    assert!(ids(&tools, &call_in(&theirs)).await.is_empty());
    // Nor has somebody else in a session of the same name.
    let mut other = call_in(&ours);
    other.who = Arc::new(Principal {
        subject: "bob".into(),
        ..(*other.who).clone()
    });
    assert!(ids(&tools, &other).await.is_empty());
}

#[rstest]
#[case(json!([]), None)]
#[case(json!([{"id": "a", "content": "x"}]), None)]
#[case(json!([{"id": "a", "content": "x", "status": "done"}]), None)]
#[case(json!([{"id": "a", "content": "x", "status": "pending", "owner": "me"}]), None)]
#[case(json!([{"id": "a".repeat(65), "content": "x", "status": "pending"}]), Some("/tasks/0/id"))]
#[case(json!([{"id": "a", "content": "x".repeat(2001), "status": "pending"}]), Some("/tasks/0/content"))]
#[case(json!([{"id": "a", "content": " ", "status": "pending"}]), Some("/tasks/0/content"))]
#[case(json!([{"id": "a", "content": "x", "status": "pending"}, {"id": "a", "content": "y", "status": "pending"}]), Some("/tasks/1/id"))]
#[tokio::test]
async fn what_is_no_list_of_tasks_is_refused(#[case] tasks: Value, #[case] at: Option<&str>) {
    let (tools, history) = (tools(), History::new());
    let args = json!({ "tasks": tasks });
    let Some(at) = at else {
        assert!(!tools.fits("todo_write", &args));
        return;
    };
    let refused = tools
        .call_unchecked("todo_write", &call_in(&history), args)
        .await;
    let error = refused.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some(at));
    assert!(ids(&tools, &call_in(&history)).await.is_empty());
}

#[tokio::test]
async fn a_full_list_is_said_to_be_full() {
    let (tools, history) = (tools(), History::new());
    let all: Vec<Value> = (0..200)
        .map(|n| json!({ "id": n.to_string(), "content": "x", "status": "pending" }))
        .collect();
    let cx = call_in(&history);
    tools
        .call("todo_write", &cx, json!({ "tasks": all }))
        .await
        .unwrap();
    let more = tools
        .call("todo_write", &call_in(&history), one("more", "pending"))
        .await;
    assert_eq!(more.unwrap_err().code(), Code::TooLarge);
    let done = tools
        .call("todo_write", &call_in(&history), one("7", "completed"))
        .await;
    assert_eq!(done.unwrap().result["summary"]["completed"], 1);
}

/// A list that cannot be read is no empty list.
#[tokio::test]
async fn a_log_that_cannot_be_read_is_an_error() {
    let broken = Arc::new(History {
        root: SessionId::mint(&SystemClock),
        outputs: Mutex::default(),
        broken: true,
    });
    let error = tools()
        .call("todo_read", &call_in(&broken), json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    assert_eq!(call_in(&broken).who.role, Role::Guest);
}
