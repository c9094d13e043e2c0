//! Worlds whose model makes a call that is at work until a test lets it end.

use serde_json::json;

use crate::scripted::{ADMIN, scripted};
use crate::world::World;

/// A world whose model makes a call that ends when the file `go` is there.
pub(crate) fn world(more: &str) -> World {
    let wait = "echo begun; until [ -e go ]; do sleep 0.02; done; echo made >> done.txt";
    let turns = json!([
        {"tool_calls": [{"id": "waits", "name": "execute_shell_command", "arguments": {"command": wait}}]},
        {"text": "all done"},
    ]);
    scripted(&turns, &at_once(more))
}

/// What is printed is shown at once, so that a test sees what has begun.
pub(crate) fn at_once(more: &str) -> String {
    format!("{ADMIN}[progress]\nflush_interval_ms = 0\n{more}\n")
}

/// Ends the call of a session.
pub(crate) fn go(world: &World, session: &str) {
    std::fs::write(world.data(&format!("files/local/local/{session}/go")), "").unwrap();
}

/// What the calls of a session did.
pub(crate) fn made(world: &World, session: &str) -> String {
    let file = world.data(&format!("files/local/local/{session}/done.txt"));
    std::fs::read_to_string(file).unwrap_or_default()
}
