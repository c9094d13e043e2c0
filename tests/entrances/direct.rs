//! Calls that no model makes, at the command line.

use serde_json::Value;

use crate::world::{Ran, World};

/// Calls a tool in the session `calls`.
pub(crate) fn call(world: &World, tool: &str, args: &Value) -> Ran {
    let args = args.to_string();
    // A call without a session is made in memory, where no other session is.
    world.run(&[
        "tools",
        "call",
        tool,
        "--args",
        &args,
        "--json",
        "--session",
        "calls",
    ])
}
