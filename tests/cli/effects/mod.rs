//! Keys do what they say, seen from outside. `tests/ledger` names the test of each.

mod apis;
mod connected;
mod heard;
mod here;
mod lazy;
mod served;
mod shown;
mod unheld;
mod workflows;

use serde_json::{Value, json};

use crate::world::{Ran, World};

/// Where commands are found.
const PATH: (&str, &str) = ("PATH", "/usr/local/bin:/usr/bin:/bin");

/// The result of a call by its name, as programs read it.
fn call(world: &World, tool: &str, arguments: &Value) -> Value {
    let ran = called(world, tool, arguments, &[]);
    ran.json()
}

fn called(world: &World, tool: &str, arguments: &Value, options: &[&str]) -> Ran {
    let text = arguments.to_string();
    let args = [
        &["tools", "call", tool, "--json", "--args", &text][..],
        options,
    ]
    .concat();
    world.run_with(&args, &[PATH, ("MARK", "from-outside")])
}

fn shell(world: &World, command: &str) -> Value {
    call(
        world,
        "execute_shell_command",
        &json!({ "command": command }),
    )
}

/// The names of the tools that are listed.
fn listed(world: &World, options: &[&str]) -> Vec<String> {
    let ran = world.run_with(&[&["tools", "list", "--json"], options].concat(), &[PATH]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let tools = ran.json();
    let names = tools.as_array().unwrap().iter();
    names
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// The events of a run of a script.
fn events(world: &World, script: &str) -> Vec<Value> {
    world.write("here/script.yaml", script);
    let ran = world.run_with(&["run", "--json", "go"], &[PATH]);
    ran.stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The configuration of a scripted model, before more of it.
const SCRIPTED: &str = "[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n";
