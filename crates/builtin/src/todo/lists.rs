//! The lists of the sessions, as far as this process has derived them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use outfitter_core::{
    CallId, PastCalls, Scope, Seq, SessionHistory, SessionId, Status, ToolContext, ToolError,
    ToolName,
};
use serde_json::Value;

use super::WRITE;
use super::list::{Task, TaskList};

/// How many lists are kept; the one unused for longest is derived again when it is needed.
const MAX_LISTS: usize = 256;

/// Whose list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    scope: Scope,
    root: SessionId,
}

/// One list.
#[derive(Debug, Clone, Default)]
struct Derived {
    /// What the log comes to.
    logged: TaskList,
    /// Up to where it has been taken in.
    taken: Seq,
    /// Where to read on.
    next: Seq,
    /// Writes that are not in the log yet, in their order.
    pending: Vec<(CallId, Vec<Task>)>,
}

/// The lists of all sessions. Shared by the tools on them.
#[derive(Debug, Default)]
pub struct TodoLists(Mutex<VecDeque<(Key, Derived)>>);

impl TodoLists {
    /// The list as it is now.
    pub(super) async fn read(&self, cx: &ToolContext) -> Result<TaskList, ToolError> {
        self.act(cx, |derived| Ok(derived.now())).await
    }

    /// The list once these tasks are in it.
    pub(super) async fn write(
        &self,
        cx: &ToolContext,
        tasks: Vec<Task>,
    ) -> Result<TaskList, ToolError> {
        self.act(cx, |derived| {
            derived.now().check_room(&tasks)?;
            derived.pending.push((cx.call.clone(), tasks));
            Ok(derived.now())
        })
        .await
    }

    /// Takes in what the log has, then acts. The log is read without holding the lists; whoever
    /// has read less than another changes nothing.
    async fn act<T>(
        &self,
        cx: &ToolContext,
        act: impl FnOnce(&mut Derived) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let history = cx.services.get::<dyn SessionHistory>();
        let root = history
            .as_ref()
            .map_or(&cx.session, |history| history.root());
        let key = Key {
            scope: Scope::from(&*cx.who),
            root: root.clone(),
        };
        // Without a log (a call that stands alone) the list lasts as long as this process.
        let past = match &history {
            Some(history) => {
                let from = self.with(&key, |derived| derived.next);
                let tool = ToolName::new(WRITE)
                    .map_err(|error| ToolError::internal("a tool's name").with_source(error))?;
                let past = history.calls_of(&tool, from).await.map_err(|error| {
                    ToolError::unavailable("the list could not be read from the log")
                        .with_source(error)
                })?;
                Some(past)
            }
            None => None,
        };
        self.with(&key, |derived| {
            if let Some(past) = &past {
                derived.take(past);
            }
            act(derived)
        })
    }

    fn with<T>(&self, key: &Key, act: impl FnOnce(&mut Derived) -> T) -> T {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lists.iter().position(|(known, _)| known == key);
        let mut list = match known.and_then(|at| lists.remove(at)) {
            Some((_, list)) => list,
            None => Derived::default(),
        };
        let result = act(&mut list);
        if lists.len() >= MAX_LISTS {
            lists.pop_front();
        }
        lists.push_back((key.clone(), list));
        result
    }
}

impl Derived {
    fn take(&mut self, past: &PastCalls) {
        for (seq, output) in &past.outputs {
            if *seq <= self.taken {
                continue;
            }
            self.taken = *seq;
            self.pending
                .retain(|(call, _)| *call != output.tool_call_id);
            // A write that failed has changed nothing.
            if output.status == Status::Success {
                self.logged.merge(&tasks_of(&output.tool_call_args));
            }
        }
        self.next = self.next.max(past.next);
    }

    fn now(&self) -> TaskList {
        let mut list = self.logged.clone();
        self.pending.iter().for_each(|(_, tasks)| list.merge(tasks));
        list
    }
}

/// The tasks of a call as the log has it.
fn tasks_of(args: &Value) -> Vec<Task> {
    let tasks = args.get("tasks").and_then(Value::as_array);
    let tasks = tasks.into_iter().flatten();
    tasks
        .filter_map(|task| serde_json::from_value(task.clone()).ok())
        .collect()
}
