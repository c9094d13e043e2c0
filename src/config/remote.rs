//! What `[sandbox] backend = "ssh"` needs, and what it cannot hold.

use serde_json::Value;

use super::load::Layers;
use super::problem::Problem;

/// Keys of the table that it cannot do without.
const NEEDED: [&str; 4] = ["host", "user", "known_hosts", "workspace"];

/// Keys that would do nothing there.
const OF_THIS_MACHINE: [&str; 5] = [
    "sandbox.read",
    "sandbox.write",
    "sandbox.memory_mb",
    "sandbox.cpu_seconds",
    "sandbox.processes",
];

/// Names what is missing, what contradicts itself, and what would do nothing.
pub(super) fn check(layers: &Layers, problems: &mut Vec<Problem>) {
    let backend = layers.winner("sandbox.backend");
    let backend = backend.filter(|backend| backend.value == "ssh");
    let table = layers.winner("sandbox.ssh");
    let mut wrong = |at: &super::source::Source, message: String| {
        problems.push(Problem {
            at: at.clone(),
            message,
        });
    };
    let Some(backend) = backend else {
        if let Some(table) = table {
            let message = "`sandbox.ssh` is for the backend `ssh` only";
            wrong(&table.source, message.to_owned());
        }
        return;
    };
    let Some(table) = table else {
        let message = "the backend `ssh` needs `sandbox.ssh`, which names the account";
        wrong(&backend.source, message.to_owned());
        return;
    };
    for name in NEEDED {
        if text(&table.value, name).is_empty() {
            wrong(&table.source, format!("`sandbox.ssh` needs `{name}`"));
        }
    }
    let given = |name: &str| table.value.get(name).is_some_and(|value| !value.is_null());
    match (given("key_file"), given("agent")) {
        (false, false) => {
            let message = "`sandbox.ssh` needs `key_file` or `agent`";
            wrong(&table.source, message.to_owned());
        }
        (true, true) => {
            let message = "`sandbox.ssh` cannot have both `key_file` and `agent`";
            wrong(&table.source, message.to_owned());
        }
        (true, false) | (false, true) => {}
    }
    if given("passphrase_env") && !given("key_file") {
        let message = "`sandbox.ssh.passphrase_env` is for a `key_file` only";
        wrong(&table.source, message.to_owned());
    }
    let workspace = text(&table.value, "workspace");
    if !workspace.is_empty() && (!workspace.starts_with('/') || workspace.contains(['\n', '\0'])) {
        let message = "`sandbox.ssh.workspace` must be an absolute path on the other machine";
        wrong(&table.source, message.to_owned());
    }
    if let Some(require) = layers.winner("sandbox.require")
        && require.value != "none"
    {
        let message = "`sandbox.require` asks for what the backend `ssh` never gives: nothing \
                       confines a command within its account";
        wrong(&require.source, message.to_owned());
    }
    if let Some(network) = layers.winner("sandbox.network")
        && network.value != Value::Bool(true)
    {
        let message = "`sandbox.network` cannot be held by the backend `ssh`: commands reach what \
                       the other machine reaches";
        wrong(&network.source, message.to_owned());
    }
    for key in OF_THIS_MACHINE {
        if let Some(set) = layers.winner(key) {
            wrong(
                &set.source,
                format!("`{key}` does nothing with the backend `ssh`, which runs nothing here"),
            );
        }
    }
}

fn text<'v>(table: &'v Value, name: &str) -> &'v str {
    table.get(name).and_then(Value::as_str).unwrap_or_default()
}
