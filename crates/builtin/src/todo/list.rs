//! A list of tasks, and what merging into it means.

use outfitter_core::{Code, ErrorInfo, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many tasks one list may have.
pub(super) const MAX_TASKS: usize = 200;

/// How long an id may be.
pub(super) const MAX_ID_CHARS: usize = 64;

/// How long the content of a task may be.
pub(super) const MAX_CONTENT_CHARS: usize = 2_000;

/// How long a conclusion may be.
pub(super) const MAX_CONCLUSION_CHARS: usize = 4_000;

/// How long a name may be.
pub(super) const MAX_ASSIGNEE_CHARS: usize = 100;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) content: String,
    pub(super) status: TaskStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) conclusion: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) assignee: Option<String>,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TaskStatus {
    Pending,
    InProgress,
    Completed,
}

/// Tasks by id, in the order in which they first came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TaskList(Vec<Task>);

impl TaskList {
    /// Takes tasks in: a known id is changed where it stands, a new one comes last.
    pub(super) fn merge(&mut self, tasks: &[Task]) {
        for task in tasks {
            match self.0.iter_mut().find(|known| known.id == task.id) {
                Some(known) => {
                    let before = std::mem::replace(known, task.clone());
                    known.conclusion = kept(before.conclusion, task.conclusion.as_deref());
                    known.assignee = kept(before.assignee, task.assignee.as_deref());
                }
                None => {
                    let mut task = task.clone();
                    task.conclusion = kept(None, task.conclusion.as_deref());
                    task.assignee = kept(None, task.assignee.as_deref());
                    self.0.push(task);
                }
            }
        }
    }

    /// Refuses what would make the list too long.
    pub(super) fn check_room(&self, tasks: &[Task]) -> Result<(), ToolError> {
        let is_new = |task: &&Task| !self.0.iter().any(|known| known.id == task.id);
        let then = self.0.len() + tasks.iter().filter(is_new).count();
        if then <= MAX_TASKS {
            return Ok(());
        }
        let message = format!("the list would have {then} tasks; {MAX_TASKS} is the most");
        Err(ErrorInfo::new(Code::TooLarge, message)
            .at("/tasks")
            .with_hint("put several into one, or use the ids of completed tasks again")
            .into())
    }

    /// As it stands in results.
    pub(super) fn to_json(&self) -> Value {
        let count = |status: TaskStatus| self.0.iter().filter(|task| task.status == status).count();
        json!({
            "summary": {
                "total": self.0.len(),
                "pending": count(TaskStatus::Pending),
                "in_progress": count(TaskStatus::InProgress),
                "completed": count(TaskStatus::Completed),
            },
            "tasks": self.0,
        })
    }
}

/// What is not said stays; what is said to be empty goes.
fn kept(before: Option<String>, said: Option<&str>) -> Option<String> {
    match said {
        None => before,
        Some("") => None,
        Some(said) => Some(said.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn task(id: &str, status: TaskStatus) -> Task {
        Task {
            id: id.to_owned(),
            content: format!("do {id}"),
            status,
            conclusion: None,
            assignee: None,
        }
    }

    #[test]
    fn a_task_keeps_its_place_and_what_is_not_said() {
        let mut list = TaskList::default();
        let mut first = task("a", TaskStatus::Pending);
        first.assignee = Some("ann".to_owned());
        list.merge(&[first, task("b", TaskStatus::Pending)]);
        let mut done = task("a", TaskStatus::Completed);
        done.conclusion = Some("it works".to_owned());
        list.merge(&[done]);
        assert_eq!(
            list.to_json(),
            json!({
                "summary": { "total": 2, "pending": 1, "in_progress": 0, "completed": 1 },
                "tasks": [
                    { "id": "a", "content": "do a", "status": "completed", "conclusion": "it works", "assignee": "ann" },
                    { "id": "b", "content": "do b", "status": "pending" },
                ],
            })
        );
        let mut nobody = task("a", TaskStatus::Pending);
        nobody.assignee = Some(String::new());
        list.merge(&[nobody]);
        assert_eq!(list.0[0].assignee, None);
        assert_eq!(list.0[0].conclusion.as_deref(), Some("it works"));
    }

    #[test]
    fn a_full_list_takes_changes_and_nothing_new() {
        let mut list = TaskList::default();
        let all: Vec<Task> = (0..MAX_TASKS)
            .map(|n| task(&n.to_string(), TaskStatus::Pending))
            .collect();
        assert!(list.check_room(&all).is_ok());
        list.merge(&all);
        assert!(list.check_room(&all[..3]).is_ok());
        let error = list
            .check_room(&[task("new", TaskStatus::Pending)])
            .unwrap_err();
        assert_eq!(error.code(), Code::TooLarge);
    }

    fn tasks() -> impl Strategy<Value = Vec<Task>> {
        let status = prop::sample::select(vec![TaskStatus::Pending, TaskStatus::Completed]);
        let said = prop::option::of("[xy]{0,1}");
        let task = ("[a-d]", "[p-r]", status, said.clone(), said).prop_map(
            |(id, content, status, conclusion, assignee)| Task {
                id,
                content,
                status,
                conclusion,
                assignee,
            },
        );
        prop::collection::vec(task, 0..5)
    }

    proptest! {
        /// Reading a part of the log twice changes nothing.
        #[test]
        fn merging_the_last_merges_again_changes_nothing(merges in prop::collection::vec(tasks(), 0..6), from in 0_usize..6) {
            let mut list = TaskList::default();
            merges.iter().for_each(|tasks| list.merge(tasks));
            let once = list.clone();
            merges.iter().skip(from).for_each(|tasks| list.merge(tasks));
            prop_assert_eq!(list, once);
        }
    }
}
