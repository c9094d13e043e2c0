//! What `[sandbox] backend = "ssh"` needs, and what it cannot hold.

use serde_json::Value;

use super::layers::Layers;
use super::problem::{Problem, Problems};

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
pub(super) fn check(layers: &Layers, problems: &mut Problems) {
    let backend = layers.winner("sandbox.backend");
    let backend = backend.filter(|backend| backend.value == "ssh");
    let table = layers.winner("sandbox.ssh");
    let Some(backend) = backend else {
        if let Some(table) = table
            && !problems.has("sandbox.backend")
        {
            let why = "is for the backend `ssh` only; set `sandbox.backend`, or leave it out";
            problems.say(&table.source, "sandbox.ssh", why);
        }
        return;
    };
    let Some(table) = table else {
        if !problems.has("sandbox.ssh") {
            let why = "is `ssh`, which needs `sandbox.ssh`, that names the account";
            problems.say(&backend.source, "sandbox.backend", why);
        }
        return;
    };
    for name in NEEDED {
        if text(&table.value, name).is_empty() {
            problems.needs(table.place(name), "sandbox.ssh", name, format!("`{name}`"));
        }
    }
    let given = |name: &str| table.value.get(name).is_some_and(|value| !value.is_null());
    let wrong = ["key_file", "agent"].map(|name| problems.has(&format!("sandbox.ssh.{name}")));
    match (given("key_file"), given("agent")) {
        (false, false) if wrong == [false, false] => {
            let what = "`key_file` or `agent`";
            problems.needs(&table.source, "sandbox.ssh", "key_file", what);
        }
        (true, true) => {
            problems.push(Problem {
                at: table.place("agent").clone(),
                key: "sandbox.ssh.agent".to_owned(),
                message:
                    "`sandbox.ssh` cannot have both `key_file` and `agent`; leave one of them \
                          out"
                    .to_owned(),
            });
        }
        _ => {}
    }
    if given("passphrase_env") && !given("key_file") && !wrong[0] {
        let at = table.place("passphrase_env");
        problems.say(at, "sandbox.ssh.passphrase_env", "is for a `key_file` only");
    }
    let workspace = text(&table.value, "workspace");
    if !workspace.is_empty() && (!workspace.starts_with('/') || workspace.contains(['\n', '\0'])) {
        let why = "must be an absolute path on the other machine";
        problems.say(table.place("workspace"), "sandbox.ssh.workspace", why);
    }
    for name in ["host", "user"] {
        let of_it = text(&table.value, name);
        if of_it.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@') {
            let key = format!("sandbox.ssh.{name}");
            let why = "must be one word without spaces and without `@`";
            problems.say(table.place(name), key, why);
        }
    }
    if let Some(require) = layers.winner("sandbox.require")
        && require.value != "none"
    {
        let why = "asks for what the backend `ssh` never gives: nothing confines a command within \
                   its account; leave it out";
        problems.say(&require.source, "sandbox.require", why);
    }
    if let Some(network) = layers.winner("sandbox.network")
        && network.value != Value::Bool(true)
    {
        let why = "cannot be held by the backend `ssh`: commands reach what the other machine \
                   reaches; leave it out";
        problems.say(&network.source, "sandbox.network", why);
    }
    for key in OF_THIS_MACHINE {
        if let Some(set) = layers.winner(key) {
            let why = "does nothing with the backend `ssh`, which runs nothing here; leave it out";
            problems.say(&set.source, key, why);
        }
    }
}

fn text<'v>(table: &'v Value, name: &str) -> &'v str {
    table.get(name).and_then(Value::as_str).unwrap_or_default()
}
