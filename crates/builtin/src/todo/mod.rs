//! `todo_write` and `todo_read`: what there is to do, in one list for a whole run tree.
//!
//! The list is derived from the log: it is what the writes that the log has come to, in their
//! order, and the writes of calls that are not in the log yet on top. So it survives a restart
//! without a store of its own, and two writes at once lose nothing.

mod list;
mod lists;
mod read;
mod write;

pub use lists::TodoLists;
pub use read::TodoRead;
pub use write::TodoWrite;

use serde_json::{Value, json};

use self::list::{MAX_ASSIGNEE_CHARS, MAX_CONCLUSION_CHARS, MAX_CONTENT_CHARS, MAX_ID_CHARS};
use crate::spec::object;

/// The name of the tool whose calls make the list.
const WRITE: &str = "todo_write";

fn task_schema() -> Value {
    object(
        &["id", "content", "status"],
        json!({
            "id": { "type": "string", "minLength": 1, "maxLength": MAX_ID_CHARS, "description": "Its name; a task with the same id is changed." },
            "content": { "type": "string", "minLength": 1, "maxLength": MAX_CONTENT_CHARS, "description": "What is to be done." },
            "status": { "type": "string", "enum": ["pending", "in_progress", "completed"], "description": "How far it is." },
            "conclusion": { "type": "string", "maxLength": MAX_CONCLUSION_CHARS, "description": "What came of it. Stays as it was unless given; empty takes it away." },
            "assignee": { "type": "string", "maxLength": MAX_ASSIGNEE_CHARS, "description": "Who does it. Stays as it was unless given; empty takes it away." },
        }),
    )
}

fn output_schema() -> Value {
    object(
        &["summary", "tasks"],
        json!({
            "summary": object(
                &["total", "pending", "in_progress", "completed"],
                json!({
                    "total": { "type": "integer", "description": "Tasks in all." },
                    "pending": { "type": "integer", "description": "Not begun." },
                    "in_progress": { "type": "integer", "description": "Begun." },
                    "completed": { "type": "integer", "description": "Done." },
                }),
            ),
            "tasks": { "type": "array", "items": task_schema(), "description": "In the order in which they were first written." },
        }),
    )
}
