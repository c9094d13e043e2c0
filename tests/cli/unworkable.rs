//! Values that can never work, or name what is not there: one for each key at least, and all of them
//! at once.

use std::collections::BTreeSet;

use serde_json::json;

use crate::config::problems;
use crate::world::World;

/// Rows of a key, a file with a value of it that cannot work, and what is said of it.
fn wrong() -> Vec<[String; 3]> {
    let table: toml::Table = include_str!("unworkable.toml").parse().unwrap();
    let rows = table["rows"].as_array().unwrap().iter();
    let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
    rows.map(|row| std::array::from_fn(|at| text(&row[at])))
        .collect()
}

/// Whether a key of a problem, as `mcp.servers.a.args.0`, is what a key of the ledger means.
fn is_of(problem: &str, key: &str) -> bool {
    let rows = |steps: Vec<&str>| -> Vec<String> {
        let steps = steps
            .into_iter()
            .filter(|step| step.parse::<usize>().is_err());
        steps.map(str::to_owned).collect()
    };
    let problem = rows(problem.split('.').collect());
    let key = rows(key.split('.').collect());
    key.len() <= problem.len()
        && key
            .iter()
            .zip(&problem)
            .all(|(key, one)| key == "NAME" || key == one)
}

#[test]
fn a_value_of_each_key_that_cannot_work_was_right() {
    let mut failed = Vec::new();
    for [key, toml, says] in &wrong() {
        let world = World::with(&format!("{toml}\n"));
        let ran = world.run(&["config", "check", "--json"]);
        let document = ran.json();
        let all = document["problems"].as_array().cloned().unwrap_or_default();
        let told = all.iter().any(|one| {
            let of_it = is_of(one["key"].as_str().unwrap_or_default(), key);
            let message = one["message"].as_str().unwrap();
            of_it && message.contains(says) && one["at"]["line"].as_u64() >= Some(1)
        });
        if ran.code != 2 || !told {
            failed.push(format!("{key}: {says}\n{}", ran.shown()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_key_has_a_value_that_is_refused() {
    let ledger: toml::Table = include_str!("../ledger/keys.toml").parse().unwrap();
    let keys: BTreeSet<&str> = ledger.keys().map(String::as_str).collect();
    let wrong = wrong();
    let refused: BTreeSet<&str> = wrong.iter().map(|[key, ..]| key.as_str()).collect();
    let without: Vec<_> = keys.difference(&refused).collect();
    assert!(without.is_empty(), "{without:?}");
}

/// Of rules, lists, tables by name and names of tools only the first problem of a kind was shown,
/// some without a place.
#[test]
fn only_the_first_problem_of_a_kind_was_listed() {
    let world = World::with(ALL_AT_ONCE);
    insta::assert_snapshot!(world.run(&["config", "check"]).shown());
    let document = world.run(&["config", "check", "--json"]).json();
    let problems = document["problems"].as_array().unwrap();
    let lines: Vec<u64> = problems
        .iter()
        .filter_map(|one| one["at"]["line"].as_u64())
        .collect();
    assert_eq!(
        lines.len(),
        problems.len(),
        "each has its line: {document:#}"
    );
    assert!(
        problems.iter().all(|one| one["key"].is_string()),
        "{document:#}"
    );
}

const ALL_AT_ONCE: &str = r#"[tools]
available = ["grep", 5, "fiel_read", "gerp", "fiel_*"]
defer = ["nosuchtool"]

[tools.aliases]
"a b" = "grep"
find = "grepp"

[tools.presets.grep]
pattern = 5
patern = "a"

[tools.presets.nosuch]
a = 1

[permissions]
rules = [
  { tool = "file_raed", decision = "deny" },
  { tool = "file_read", decison = "deny" },
  { tool = "grep", args = { pattern = true, x = 1 }, agent = "other", decision = "ask" },
  "deny",
]

[sandbox]
read = ["/nowhere", "relative", "/also/nowhere"]

[[workflows]]
name = "a"
steps = ["x", ""]

[[workflows]]
name = "a"

[mcp.servers.one]
comand = "a"

[mcp.servers.two]
args = ["a", 1, 2]

[commands.p]
timeout_seconds = 0

[plugin_api]
allowlist = ["call_shop"]
apis.one = {}
apis.two = { openapi = "none.json", method = "GET" }
"#;

#[test]
fn serve_and_doctor_and_run_say_the_same_list() {
    let world =
        World::with("[tools]\navailable = [\"gerp\"]\ndefer = [1]\n[agent]\nmax_turns = 0\n");
    let list = problems(&world, &[]);
    assert_eq!(list.len(), 3, "{list:?}");
    let serve = world.run(&["serve", "--bind", "127.0.0.1:0"]);
    assert_eq!(serve.code, 2, "{}", serve.shown());
    let doctor = world.run(&["doctor"]);
    assert_eq!(doctor.code, 2, "{}", doctor.shown());
    for problem in &list {
        assert!(
            serve.stderr.contains(problem),
            "{problem}: {}",
            serve.shown()
        );
        assert!(
            doctor.stdout.contains(problem),
            "{problem}: {}",
            doctor.shown()
        );
    }
    let of = |args: &[&str]| world.run(args).json()["problems"].clone();
    let checked = of(&["config", "check", "--json"]);
    assert_eq!(checked.as_array().unwrap().len(), 3);
    assert_eq!(of(&["serve", "--json"]), checked);
    assert_eq!(of(&["doctor", "--json"]), checked);
    assert_eq!(of(&["tools", "list", "--json"]), checked);
}

/// A program may be installed later, and what needs it says so when it is used.
#[test]
fn a_program_that_is_not_found_was_not_told() {
    let world = World::with(
        "[mcp.servers.a]\ncommand = \"no-such-program\"\n[commands.b]\nprogram = \"bin/b\"\n\
         [mcp.servers.off]\ncommand = \"no-such-program\"\nenabled = false\n\
         [commands.c]\nprogram = \"c\"\n[commands.d]\nprogram = \"d\"\nenv = { PATH = \"/nowhere\" }\n",
    );
    world.write("here/bin/b", "no program");
    world.program("bin/c", "#!/bin/sh\n");
    world.program("bin/d", "#!/bin/sh\n");
    let path = world.path("bin");
    let variables = [("PATH", path.to_str().unwrap())];
    let ran = world.run_with(&["config", "check", "--json"], &variables);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(
        ran.json()["warnings"],
        json!([
            "outfitter.toml:2:1: `mcp.servers.a.command` names no-such-program, which is not found in PATH; install it, or write its path",
            "outfitter.toml:4:1: `commands.b.program` names ROOT/here/bin/b, and it is no program that may be run",
            "outfitter.toml:11:1: `commands.d.program` names d, which is not found in PATH; install it, or write its path",
        ])
    );
    assert_eq!(ran.stderr.lines().count(), 3, "{}", ran.shown());
}

/// So may a variable be set later.
#[test]
fn a_variable_that_is_not_set_was_not_told() {
    let world = World::with(
        "[model]\nprovider = \"openai\"\napi_key_env = \"MY_KEY\"\n\
         [plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\n\
         headers = { Authorization = \"Bearer env:TOKEN\" }\n",
    );
    let ran = world.run(&["config", "check", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(
        ran.json()["warnings"],
        json!([
            "outfitter.toml:3:1: `model.api_key_env` names MY_KEY, which is not set or is empty",
            "outfitter.toml:7:13: `plugin_api.apis.a.headers.Authorization` names TOKEN, which is not set or is empty",
        ])
    );
    let set = [("MY_KEY", "k"), ("TOKEN", "t")];
    let ran = world.run_with(&["config", "check", "--json"], &set);
    assert!(ran.json().get("warnings").is_none(), "{}", ran.shown());
}

fn warned(toml: &str) -> Vec<String> {
    let ran = World::with(toml).run(&["config", "check", "--json"]);
    assert_eq!(ran.code, 0, "{toml}{}", ran.shown());
    let warnings = ran.json()["warnings"].as_array().cloned();
    let warnings = warnings.unwrap_or_default().into_iter();
    warnings
        .map(|one| one.as_str().unwrap().to_owned())
        .collect()
}

/// A check failed where a run goes on, and where what a machine holds for itself was not there yet.
#[test]
fn what_a_run_goes_on_without_failed_a_check() {
    const SSH: &str = "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nhost = \"h.example\"\n\
                       user = \"u\"\nworkspace = \"/w\"\n";
    let with_key = format!("{SSH}key_file = \"key\"\nknown_hosts = \"hosts\"\n");
    let with_agent = format!("{SSH}agent = \"agent\"\nknown_hosts = \"outfitter.toml\"\n");
    for (toml, says) in [
        (
            "[skills]\ndirs = [\"none\"]\n",
            &["`skills.dirs.0` names ROOT/here/none: there is no such folder"][..],
        ),
        (
            "[skills]\ndirs = [\"outfitter.toml\"]\n",
            &["it is no folder"],
        ),
        (
            "[commands.a]\nprogram = \"/bin/sh\"\nskills_dir = \"none\"\n",
            &["there is no such folder"],
        ),
        (
            "[mcp.servers.a]\ncommand = \"/bin/sh\"\ncwd = \"none\"\n",
            &["there is no such folder"],
        ),
        (
            "[plugin_api.apis.a]\nopenapi = \"none.json\"\n",
            &["names ROOT/here/none.json: there is no such file"],
        ),
        (
            "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = \"none.json\"\n",
            &["there is no such file"],
        ),
        (
            "[channels.a]\nkind = \"file\"\nurl = \"/tmp\"\n",
            &["it is not a regular file"],
        ),
        (
            &with_key,
            &[
                "`sandbox.ssh.key_file` names ROOT/here/key: there is no such file",
                "`sandbox.ssh.known_hosts` names ROOT/here/hosts: there is no such file",
            ],
        ),
        (&with_agent, &["there is no such socket"]),
    ] {
        let warnings = warned(toml);
        assert_eq!(warnings.len(), says.len(), "{toml}{warnings:?}");
        for (warning, says) in warnings.iter().zip(says) {
            assert!(warning.contains(says), "{warning}");
        }
    }
}

/// The same tool or folder twice ended the start.
#[test]
fn a_repeat_in_a_list_ended_the_start() {
    let world = World::with(
        "[tools]\navailable = [\"grep\", \"grep\", \"calculator\", \"grep\"]\n\
         [skills]\ndirs = [\"more\", \"more\", \"none\"]\n\
         [commands.a]\nprogram = \"/bin/sh\"\nlazy = true\nonly = [\"b *\", \"b *\"]\n",
    );
    world.write("here/more/README.md", "none");
    let ran = world.run(&["config", "check", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(
        ran.json()["warnings"],
        json!([
            "outfitter.toml:4:25: `skills.dirs.1` names ROOT/here/none: there is no such folder"
        ])
    );
    let listed = world.run(&["tools", "list", "--json"]);
    assert_eq!(listed.code, 0, "{}", listed.shown());
    let explained = world.run(&["config", "explain"]).stdout;
    assert!(
        explained.contains("available = [\"grep\", \"calculator\"]"),
        "{explained}"
    );
}

/// Right names of variables were taken for keys, and texts with `env:` in them for names.
#[test]
fn a_right_name_or_text_was_refused_as_a_secret() {
    let world = World::with(
        "[model]\nprovider = \"openai\"\napi_key_env = \"MyCompanyServiceApiKey\"\n\
         [sandbox]\nenv = [\"npm_config_registry\", \"hf_MyInferenceServerTokenForProduction\"]\n\
         [plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\n\
         headers = { Authorization = \"Bearer env:NPM_TOKEN_2\" }\n\
         query = { filter = \"env:prod-eu\", key = \"env:SECRET_KEY_2\" }\n",
    );
    let set = [
        ("MyCompanyServiceApiKey", "k"),
        ("NPM_TOKEN_2", "t"),
        ("SECRET_KEY_2", "s"),
    ];
    let ran = world.run_with(&["config", "check", "--json"], &set);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(
        ran.json()["warnings"],
        json!([
            "outfitter.toml:10:11: `plugin_api.apis.a.query.filter` is sent as it stands: what is behind `env:` is no name of a variable",
        ])
    );
    // What is set is a name, whatever it looks like.
    let name = "hf_MyInferenceServer2";
    let toml = format!("[model]\nprovider = \"openai\"\napi_key_env = \"{name}\"\n");
    let world = World::with(&toml);
    let refused = world.run(&["config", "check"]);
    assert_eq!(refused.code, 2, "{}", refused.shown());
    assert!(!refused.shown().contains(name), "{}", refused.shown());
    let ran = world.run_with(&["config", "check"], &[(name, "k")]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
}

/// Keys are refused in the place of their names, and never shown.
#[test]
fn a_key_in_the_place_of_its_name_was_shown() {
    for key in [
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "sk-proj-4eC39HqLyjWDarjtT1zdp7dc",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ] {
        for toml in [
            format!("[model]\nprovider = \"openai\"\napi_key_env = \"{key}\"\n"),
            format!("[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\npassphrase_env = \"{key}\"\n"),
            format!(
                "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {{}}\n\
                 headers = {{ X-Key = \"env:{key}\" }}\n"
            ),
        ] {
            for args in [&["config", "check"][..], &["config", "check", "--json"]] {
                let ran = World::with(&toml).run(args);
                assert_eq!(ran.code, 2, "{toml}{}", ran.shown());
                assert!(!ran.shown().contains(key), "{}", ran.shown());
                assert!(ran.shown().contains("not what it holds"), "{}", ran.shown());
            }
        }
    }
}
