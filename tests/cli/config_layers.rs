//! Where the values of the configuration come from: flags, variables, aliases, the file, defaults.

use rstest::rstest;
use serde_json::{Value, json};

use crate::config::explained;
use crate::world::World;

#[test]
fn flag_over_variable_over_alias_over_file_over_default() {
    let key = "tools.max_result_tokens";
    let empty = World::new();
    assert_eq!(
        explained(&empty, &[], key),
        (json!(12000), "default".into())
    );

    let world = World::with("[tools]\nmax_result_tokens = 1000\n");
    let file = "outfitter.toml:2:1".to_owned();
    assert_eq!(explained(&world, &[], key), (json!(1000), file));

    let alias = ("SAGE_MAX_TOOL_RESULT_TOKENS", "2000");
    assert_eq!(
        explained(&world, &[alias], key),
        (json!(2000), alias.0.into())
    );

    let variable = ("OUTFITTER_TOOLS__MAX_RESULT_TOKENS", "3_000");
    assert_eq!(
        explained(&world, &[alias, variable], key),
        (json!(3000), variable.0.into())
    );
}

#[rstest]
#[case("AGENT_TOOLS", "", "tools.available", json!([]))]
#[case("AGENT_TOOLS", "calculator, grep", "tools.available", json!(["calculator", "grep"]))]
#[case("AGENT_TOOLS", "grep,,grep", "tools.available", json!(["grep"]))]
#[case("AGENT_MEMORY_DATABASE", "c.sqlite3", "store.url", json!("sqlite:ROOT/here/c.sqlite3"))]
#[case("SAGE_TOOL_PROGRESS_ENABLED", "false", "progress.enabled", json!(false))]
#[case("SAGE_TOOL_PROGRESS_FLUSH_INTERVAL_MS", "0", "progress.flush_interval_ms", json!(0))]
#[case("SAGE_TOOL_PROGRESS_FLUSH_BYTES", "1024", "progress.flush_bytes", json!(1024))]
#[case("OUTFITTER_SKILLS__DIRS", "~/a,b", "skills.dirs", json!(["ROOT/home/a", "ROOT/here/b"]))]
#[case("OUTFITTER_SKILLS__DIRS", "[\"/a,b\"]", "skills.dirs", json!(["/a,b"]))]
#[case("OUTFITTER_SANDBOX__READ", "/usr,/etc/hosts", "sandbox.read", json!(["/usr", "/etc/hosts"]))]
#[case("OUTFITTER_TOOLS__ALIASES", "{ r = \"file_read\" }", "tools.aliases", json!({"r": "file_read"}))]
#[case("OUTFITTER_PERMISSIONS__LOCAL_ROLE", "guest", "permissions.local_role", json!("guest"))]
fn a_variable_sets_its_key(
    #[case] name: &str,
    #[case] text: &str,
    #[case] key: &str,
    #[case] value: Value,
) {
    let set = explained(&World::new(), &[(name, text)], key);
    assert_eq!(set, (value, name.to_owned()));
}

#[test]
fn a_variable_of_another_program_is_left_alone() {
    let ran = World::new().run_with(&["config", "check"], &[("OUTFITTER_HOME", "/x")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn the_first_key_that_is_set_chooses_the_provider() {
    let variables = [
        ("OLLAMA_HOST", "h"),
        ("GEMINI_API_KEY", "g"),
        ("OPENAI_API_KEY", "o"),
        ("ANTHROPIC_API_KEY", "a"),
    ];
    let chosen = |count| {
        let (value, source) = explained(&World::new(), &variables[..count], "model.provider");
        (value.as_str().map(str::to_owned), source)
    };
    assert_eq!(chosen(0), (None, "default".to_owned()));
    for (count, provider) in [
        (1, "ollama"),
        (2, "gemini"),
        (3, "openai"),
        (4, "anthropic"),
    ] {
        let source = format!("{} is set", variables[count - 1].0);
        assert_eq!(chosen(count), (Some(provider.to_owned()), source));
    }
}

#[test]
fn an_empty_key_chooses_nothing() {
    let variables = [("ANTHROPIC_API_KEY", ""), ("OPENAI_API_KEY", "o")];
    let (provider, _) = explained(&World::new(), &variables, "model.provider");
    assert_eq!(provider, "openai");
}

#[test]
fn another_provider_does_not_get_what_the_file_says_of_its_own() {
    let world = World::with(
        "[model]\nprovider = \"openai\"\nbase_url = \"http://localhost:1\"\nmax_retries = 5\n",
    );
    let same = [("OUTFITTER_MODEL__PROVIDER", "openai")];
    let (url, _) = explained(&world, &same, "model.base_url");
    assert_eq!(url, "http://localhost:1");
    let other = [("OUTFITTER_MODEL__PROVIDER", "anthropic")];
    assert_eq!(explained(&world, &other, "model.base_url").0, Value::Null);
    assert_eq!(explained(&world, &other, "model.max_retries").0, 5);
}

#[test]
fn a_default_gives_way_to_a_lower_bound() {
    let world = World::with("[model]\nmax_retry_delay_ms = 8\n");
    let (value, source) = explained(&world, &[], "model.retry_delay_ms");
    assert_eq!(
        (value, source.as_str()),
        (json!(8), "model.max_retry_delay_ms is less")
    );
}

#[test]
fn the_named_file_then_the_current_directory_then_the_home() {
    let world = World::new();
    let turns = |world: &World, args: &[&str]| {
        let args = [&["config", "explain", "--json"], args].concat();
        let document = world.run(&args).json();
        let rows = document["keys"].as_array().unwrap();
        let row = rows.iter().find(|row| row["key"] == "agent.max_turns");
        row.unwrap()["value"].clone()
    };
    world.write(
        "home/.config/outfitter/outfitter.toml",
        "[agent]\nmax_turns = 1\n",
    );
    assert_eq!(turns(&world, &[]), 1);
    world.write("here/outfitter.toml", "[agent]\nmax_turns = 2\n");
    assert_eq!(turns(&world, &[]), 2);
    world.write("here/other.toml", "[agent]\nmax_turns = 3\n");
    assert_eq!(turns(&world, &["--config", "other.toml"]), 3);
}

#[test]
fn a_named_file_that_is_missing_is_an_error() {
    let ran = World::new().run(&["config", "check", "--config", "none.toml"]);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn paths_of_a_file_begin_where_the_file_is() {
    let world = World::new();
    world.write(
        "etc/o.toml",
        "[store]\ndata_dir = \"data\"\n[skills]\ndirs = [\"./a\"]\n",
    );
    let ran = world.run(&["config", "explain", "--json", "--config", "../etc/o.toml"]);
    let text = ran.stdout;
    assert!(text.contains("etc/data/outfitter.db"), "{text}");
    assert!(text.contains("etc/a\""), "{text}");
}
