//! How problems are told: by the flag that somebody wrote, and without what may be a secret.

use rstest::rstest;
use serde_json::{Value, json};

use crate::world::World;

/// Who wrote a flag knows the flag, not the key that it sets.
#[rstest]
#[case(&["tools", "list", "--tools", "gerp"], "configuration: --tools names no tool with \"gerp\", did you mean grep")]
#[case(&["run", "--tools", "grep,nosuchtool", "x"], "--tools names no tool with \"nosuchtool\"; `outfitter tools list` shows them")]
#[case(&["tools", "list", "--skills", "nosuch"], "configuration: --skills names no skill with \"nosuch\"")]
#[case(&["run", "--model", "opnai/gpt", "x"], "configuration: the provider of --model must be one of ")]
#[case(&["run", "--workflow", "nosuch", "x"], "configuration: --workflow must be off, lexical, model or the name of a workflow, not \"nosuch\"")]
#[case(&["serve", "--bind", "here"], "configuration: --bind must be an address and a port")]
#[case(&["run", "--mode", "plna", "x"], "invalid value 'plna' for '--mode <MODE>' [possible values: agent, plan, chat]")]
#[case(&["run", "--role", "root", "x"], "'--role <ROLE>' [possible values: guest, user, admin]")]
#[case(&["run", "--approval", "yes", "x"], "'--approval <ask|never>' [possible values: ask, never]")]
fn a_flag_was_blamed_by_the_name_of_a_key(#[case] args: &[&str], #[case] said: &str) {
    let ran = World::new().run(args);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    assert!(ran.stderr.contains(said), "{}", ran.shown());
    let keys = [
        "`tools.", "`skills.", "`model.", "`agent.", "`server.", "[tools]", "[skills]",
    ];
    assert!(
        !keys.iter().any(|key| ran.stderr.contains(key)),
        "{}",
        ran.shown()
    );
}

/// A key that stands where the name of its variable belongs is refused and never shown.
#[rstest]
#[case::model("[model]\nprovider = \"openai\"\napi_key_env = SECRET\n")]
#[case::ssh(
    "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nkey_file = \"outfitter.toml\"\npassphrase_env = SECRET\n"
)]
#[case::sandbox("[sandbox]\nenv = [\"HOME\", SECRET]\n")]
#[case::header(
    "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\nheaders = { Authorization = \"Bearer env:RAW\" }\n"
)]
#[case::query(
    "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\nquery = { key = \"env:RAW\" }\n"
)]
fn a_key_in_the_place_of_its_name_was_taken_and_printed(#[case] toml: &str) {
    for secret in [
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "sk_live_notarealkeyatall",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
        "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",
    ] {
        let toml = toml
            .replace("SECRET", &format!("{secret:?}"))
            .replace("RAW", secret);
        let world = World::with(&toml);
        for args in [
            &["config", "check"][..],
            &["config", "check", "--json"],
            &["config", "explain"],
            &["doctor"],
            &["run", "hello"],
        ] {
            let ran = world.run(args);
            assert_eq!(ran.code, 2, "{args:?} {}", ran.shown());
            assert!(
                !ran.shown().contains(&secret[4..]),
                "{args:?} {}",
                ran.shown()
            );
        }
    }
}

/// What is said of an address has `…` where its password was.
#[test]
fn a_hidden_part_of_an_address_was_spelled_in_percent_signs() {
    let world = World::with(
        "[model]\nprovider = \"openai\"\nname = \"m\"\nbase_url = \"https://u:hunter2@h.example/v1\"\n\
         [mcp.servers.far]\ncommand = \"far\"\nargs = [\"https://u:hunter2@far.example/\"]\n",
    );
    for args in [&["config", "explain"][..], &["config", "explain", "--json"]] {
        let shown = world.run(args).shown();
        assert!(shown.contains("https://u:…@h.example/v1"), "{shown}");
        assert!(shown.contains("https://u:…@far.example/"), "{shown}");
        assert!(
            !shown.contains("%E2%80%A6") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
    let wrong = World::with("[store]\nurl = \"postgres://u:hunter2@h.example/d\"\n");
    let shown = wrong.run(&["config", "check"]).shown();
    assert!(
        !shown.contains("%E2%80%A6") && !shown.contains("hunter2"),
        "{shown}"
    );
}

/// A word is a word: what a person answers with `n` was sent as `false`.
#[test]
fn a_word_of_a_script_was_read_as_a_boolean() {
    let world = World::with("[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n");
    world.write(
        "here/script.yaml",
        "- tool_calls:\n  - name: calculator\n    arguments: { expression: n, more: [y, yes, no, on, off], sure: true }\n\
         - text: no\n",
    );
    let ran = world.run(&["run", "--json", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let call = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|event| event["type"] == "tool_call")
        .unwrap();
    let words = json!(["y", "yes", "no", "on", "off"]);
    let arguments = json!({ "expression": "n", "more": words, "sure": true });
    assert_eq!(call["arguments"], arguments, "{call}");
    assert!(ran.stdout.contains("\"answer\":\"no\""), "{}", ran.shown());
}

/// What TOML can say and JSON cannot was taken for the text that it looks like.
#[rstest]
#[case::date("[agent]\nsystem_prompt = 2026-11-30\n", "agent.system_prompt", 2, 1)]
#[case::no_number("[web]\nuser_agent = nan\n", "web.user_agent", 2, 1)]
#[case::digits(
    "[agent]\nsystem_prompt = 99999999999999999999\n",
    "agent.system_prompt",
    2,
    1
)]
#[case::item(
    "[skills]\ndirs = [\n  \"a\",\n  1979-05-27,\n]\n",
    "skills.dirs.1",
    4,
    3
)]
#[case::preset(
    "[tools.presets.calculator]\nexpression = inf\n",
    "tools.presets.calculator.expression",
    2,
    1
)]
fn a_date_and_a_number_that_is_none_were_taken_for_text(
    #[case] toml: &str,
    #[case] key: &str,
    #[case] line: usize,
    #[case] column: usize,
) {
    let world = World::with(toml);
    let ran = world.run(&["config", "check"]);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    let said = format!("outfitter.toml:{line}:{column}: `{key}` is a ");
    assert_eq!(ran.stdout.matches(&said).count(), 1, "{}", ran.shown());
    assert!(
        ran.stdout.contains("text stands in quotes"),
        "{}",
        ran.shown()
    );
}
