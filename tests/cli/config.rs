//! The configuration: its layers, its problems, its explanation.

use std::collections::BTreeSet;

use rstest::rstest;
use serde_json::Value;

use crate::world::World;

/// The value of a key and where it comes from, as `config explain` says.
pub(crate) fn explained(world: &World, variables: &[(&str, &str)], key: &str) -> (Value, String) {
    let ran = world.run_with(&["config", "explain", "--json"], variables);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document = ran.json();
    let row = document["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["key"] == key)
        .unwrap_or_else(|| panic!("no key {key}"));
    let source = row["source"]["name"].as_str().unwrap().to_owned();
    (row["value"].clone(), source)
}

pub(crate) fn problems(world: &World, variables: &[(&str, &str)]) -> Vec<String> {
    let ran = world.run_with(&["config", "check"], variables);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn an_empty_file_is_right() {
    let ran = World::with("").run(&["config", "check"]);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn without_a_file_every_key_has_its_default() {
    let mut ran = World::new().run(&["config", "explain"]);
    // What follows is of this machine, and looked at below.
    let keys = ran.stdout.find("# What runs commands here").unwrap();
    ran.stdout.truncate(keys);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn what_explain_prints_is_a_file_that_gives_the_same_values() {
    let world = World::with("[model]\nprovider = \"openai\"\nname = \"a \\\"b\\\"\"\n");
    let first = world.run(&["config", "explain"]);
    let root = world.path("");
    let text = first.stdout.replace("ROOT/", &root.to_string_lossy());
    world.write("here/again.toml", &text);
    let strip = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(|line| line.split("  # ").next().unwrap_or(line).to_owned())
            .collect()
    };
    let again = world.run(&["config", "explain", "--config", "again.toml"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(strip(&again.stdout), strip(&first.stdout));
}

#[test]
fn every_problem_is_listed_with_its_place() {
    let world = World::with(
        r#"[model]
nmae = "gpt"
timeout_seconds = 0
base_url = "ftp://example.org"
retry_delay_ms = 1.5

[sandbox]
backend = "bwrep"
env = ["A-B"]

[agent]
max_turns = "many"
max_retries = 3

[mcp]
enabled = true

[shel]
"#,
    );
    let ran = world.run_with(
        &["config", "check"],
        &[
            ("OUTFITTER_AGENT__MAX_TURNS", "0"),
            ("OUTFITTER_MODEL__NMAE", "x"),
            ("OUTFITTER_MODEL_NAME", "x"),
            ("SAGE_TOOL_PROGRESS_ENABLED", "perhaps"),
            ("AGENT_SESSION_ID", "a/b"),
        ],
    );
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn other_commands_say_the_first_problem_on_one_line() {
    let world = World::with("[model]\nnmae = 1\n[agent]\nturns = 1\n");
    insta::assert_snapshot!(world.run(&["config", "explain"]).shown());
}

#[test]
fn a_file_that_is_not_toml_says_where() {
    let ran = World::with("[model]\nname = \"ö\" x\n").run(&["config", "check"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stdout
            .starts_with("outfitter.toml:2:12: this is not TOML"),
        "{}",
        ran.stdout
    );
}

#[rstest]
#[case(&[("AGENT_MEMORY_FILE", "a"), ("AGENT_MEMORY_DATABASE", "b")], "only one of AGENT_MEMORY_FILE and AGENT_MEMORY_DATABASE")]
#[case(&[("AGENT_MEMORY_FILE", "a.json")], "a JSON file are not supported")]
#[case(&[("AGENT_MEMORY_DATABASE", "")], "must be sqlite:PATH or memory:")]
#[case(&[("OUTFITTER_STORE__URL", "json:a.json")], "must be sqlite:PATH or memory:")]
fn a_store_that_cannot_be_used_is_refused(
    #[case] variables: &[(&str, &str)],
    #[case] message: &str,
) {
    let problems = problems(&World::new(), variables);
    assert!(problems[0].contains(message), "{problems:?}");
}

/// What the sandbox could never open is a mistake of the configuration, not a failure of each call.
#[rstest]
#[case::everything("write", "/", "is the whole file system")]
#[case::everything_to_read("read", "/", "is the whole file system")]
#[case::spelled_otherwise("write", "/usr/../.", "is the whole file system")]
#[case::nothing("write", "/nowhere/at/all", "does not exist")]
#[case::nothing_to_read("read", "~/none", "does not exist")]
#[case::relative("write", "build", "is relative")]
#[case::relative_to_read("read", "../data", "is relative")]
#[case::credentials("read", "~/.ssh", "credentials")]
#[case::passwords("read", "/etc/shadow", "credentials")]
#[case::above_our_data("write", "~/.local", "holds our own data")]
#[case::our_data("read", "~/.local/share/outfitter", "lies in our own data")]
#[case::the_kernel("write", "/proc/sys", "is made anew")]
fn what_the_sandbox_can_never_open_is_refused_at_once(
    #[case] key: &str,
    #[case] path: &str,
    #[case] words: &str,
) {
    let world = World::with(&format!("[sandbox]\n{key} = [\"/usr/share\", {path:?}]\n"));
    for dir in ["home/.ssh", "home/.local/share/outfitter", "here/build"] {
        std::fs::create_dir_all(world.path(dir)).unwrap();
    }
    let problems = problems(&world, &[]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    let at = format!(
        "outfitter.toml:2:{}: `sandbox.{key}.1` cannot open ",
        key.len() + 19
    );
    assert!(problems[0].starts_with(&at), "{problems:?}");
    assert!(problems[0].contains(words), "{problems:?}");
    // So nothing starts with it, and its code is that of a mistake.
    let args = [
        "tools",
        "call",
        "execute_shell_command",
        "--json",
        "--args",
        "{\"command\":\"true\"}",
    ];
    let ran = world.run(&args);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(!ran.stdout.contains("retryable\":true"), "{ran:?}");
    assert!(
        ran.stderr.contains(words) || ran.stdout.contains(words),
        "{ran:?}"
    );
    assert_eq!(world.run(&["serve", "--bind", "127.0.0.1:0"]).code, 2);
}

#[test]
fn the_lists_of_the_sandbox_are_explained_with_their_reasons() {
    let world = World::new();
    for dir in ["open", "out"] {
        std::fs::create_dir(world.path(dir)).unwrap();
    }
    let root = world.path("").canonicalize().unwrap();
    let toml = "[sandbox]\nread = [\"ROOT/open\"]\nwrite = [\"ROOT/out\"]\nenv = [\"PASSED\"]\n\
        network = [\"example.com\"]\nmemory_mb = 512\n";
    let toml = toml.replace("ROOT", root.to_str().unwrap());
    world.write("here/outfitter.toml", &toml);
    let variables = [("PASSED", "sentinel-value"), ("PATH", "/usr/bin:/bin")];
    let ran = world.run_with(&["config", "explain", "--json"], &variables);
    assert_eq!(ran.code, 0, "{ran:?}");
    let notes = ran.json()["notes"].clone();
    let lines = |name: &str| -> Vec<String> {
        let lines = notes[name]
            .as_array()
            .unwrap_or_else(|| panic!("{notes:#}"));
        lines
            .iter()
            .map(|line| line.as_str().unwrap().to_owned())
            .collect()
    };
    let has = |name: &str, line: &str| {
        let lines = lines(name);
        assert!(
            lines.iter().any(|known| known == line),
            "{line}: {lines:#?}"
        );
    };
    has("sandbox_read", "/usr (programs and libraries)");
    has("sandbox_read", "ROOT/open ([sandbox] read)");
    has("sandbox_write", "ROOT/here (the workspace)");
    has("sandbox_write", "ROOT/out ([sandbox] write)");
    has("sandbox_network", "example.com ([sandbox] network)");
    has("sandbox_environment", "PASSED ([sandbox] env)");
    has("sandbox_environment", "HOME (in the scratch folder)");
    has(
        "sandbox_limits",
        "512 MiB of memory for all of a command ([sandbox] memory_mb)",
    );
    assert!(lines("sandbox_fixed")[0].starts_with("ROOT/here/outfitter.toml ("));
    assert!(lines("sandbox_level")[0].starts_with("local, level "));
    assert!(!ran.stdout.contains("sentinel-value"), "a value is shown");
    let text = world.run_with(&["config", "explain"], &variables);
    assert!(
        text.stdout.contains("#   ROOT/open ([sandbox] read)\n"),
        "{}",
        text.stdout
    );
    assert!(!world.path("home/.local").exists(), "it made something");

    let unheld = World::with("[sandbox]\nbackend = \"passthrough\"\n");
    let notes = unheld.run(&["config", "explain", "--json"]).json()["notes"].clone();
    let level = notes["sandbox_level"][0].as_str().unwrap();
    assert!(level.starts_with("passthrough, level none"), "{level}");
    assert!(notes.get("sandbox_read").is_none(), "{notes:#}");
    let needs = notes["sandbox_level"][1].as_str().unwrap();
    assert!(needs.contains("needs an approval"), "{needs}");
    assert!(
        notes["sandbox_environment"].to_string().contains("HOME"),
        "{notes:#}"
    );
    // What a command is really given.
    let limits = notes["sandbox_limits"].to_string();
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let most = hard.unwrap_or(u64::MAX).min(65_536);
    assert!(limits.contains(&format!("{most} open files")), "{limits}");
}

#[test]
fn a_model_without_a_provider_is_a_problem() {
    let problems = problems(
        &World::with("[model]\nname = \"m\"\n"),
        &[("OPENAI_API_KEY", "o")],
    );
    insta::assert_snapshot!(problems.join("\n"));
}

#[rstest]
#[case("[model]\nprovider = \"scripted\"", "needs `model.script`")]
#[case(
    "[model]\nprovider = \"openai\"\nscript = \"a.yaml\"",
    "for the provider `scripted` only"
)]
#[case(
    "[model]\nretry_delay_ms = 9\nmax_retry_delay_ms = 8",
    "must not be more than"
)]
#[case(
    "[sandbox]\nbackend = \"passthrough\"\nrequire = \"full\"",
    "outfitter.toml:3:1: `sandbox.require` asks for what the backend `passthrough` never gives"
)]
fn values_must_fit_each_other(#[case] toml: &str, #[case] message: &str) {
    let problems = problems(&World::with(toml), &[]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains(message), "{problems:?}");
}

#[test]
fn no_value_of_a_secret_is_ever_printed() {
    let world = World::with("[model]\nprovider = \"openai\"\nbase_url = \"http://u:hunter2@h/\"\n");
    let keys = [("OPENAI_API_KEY", "sk-hunter2"), ("AGENT_TOOLS", "grep")];
    for args in [
        &["config", "explain"][..],
        &["config", "explain", "--json"],
        &["config", "check", "-v"],
    ] {
        let ran = world.run_with(args, &keys);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!ran.shown().contains("hunter2"), "{}", ran.shown());
    }
}

#[test]
fn the_schema_accepts_what_the_program_accepts() {
    let schema = World::new().run(&["config", "schema"]).json();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    insta::assert_json_snapshot!(schema);
}

#[test]
fn explain_lists_exactly_the_keys_of_the_schema() {
    let world = World::new();
    let schema = world.run(&["config", "schema"]).json();
    let mut of_schema = BTreeSet::new();
    for (section, table) in schema["properties"].as_object().unwrap() {
        assert!(
            table["description"].is_string(),
            "{section} says nothing of itself"
        );
        let Some(keys) = table["properties"].as_object() else {
            of_schema.insert(section.clone());
            continue;
        };
        for (name, key) in keys {
            assert!(
                key["description"].is_string(),
                "{section}.{name} says nothing of itself"
            );
            of_schema.insert(format!("{section}.{name}"));
        }
    }
    let document = world.run(&["config", "explain", "--json"]).json();
    let rows = document["keys"].as_array().unwrap();
    let explained: BTreeSet<String> = rows
        .iter()
        .map(|row| row["key"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(explained, of_schema);
    insta::assert_snapshot!(explained.into_iter().collect::<Vec<_>>().join("\n"));
}
