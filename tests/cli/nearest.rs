//! Keys that there are not: the nearest one, where one is near, else what there is.

use rstest::rstest;

use crate::config::problems;
use crate::world::World;

#[rstest]
#[case::skills("[skills]\nbudget_tokens = 1", "[skills] has dirs, available, load")]
#[case::mcp("[mcp]\nimport = []", "[mcp] has enabled, servers")]
#[case::gateway("[mcp.gateway]\npassthrough = true", "[mcp] has enabled, servers")]
#[case::auth("[auth]\ntokens = []", "the tables are model, agent, tools, ")]
#[case::telemetry("[telemetry]\nlog = \"info\"", "the tables are model, ")]
#[case::agents("[[agents]]\nid = \"a\"", "the nearest is `agent`")]
fn what_has_not_come_yet_is_unknown(#[case] toml: &str, #[case] there: &str) {
    let problems = problems(&World::with(toml), &[]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("unknown key `"), "{problems:?}");
    assert!(problems[0].contains(there), "{problems:?}");
}

#[rstest]
#[case::a_key_above_all_tables(
    "data_dir = \"d\"",
    "unknown key `data_dir`, the nearest is `store.data_dir`"
)]
#[case::a_number("agent = 5", "`agent` is a table: write its keys beneath [agent]")]
#[case::tables_in_a_list(
    "[[tools]]\navailable = []",
    "`tools` is a table: write its keys beneath [tools]"
)]
fn a_key_of_a_table_and_a_table_were_said_to_be_unknown(#[case] toml: &str, #[case] said: &str) {
    let problems = problems(&World::with(toml), &[]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains(said), "{problems:?}");
}

/// Another key is offered where it is near, and what there is where none is.
#[rstest]
#[case("model.nmae", "the nearest is `model.name`")]
#[case("model.url", "the nearest is `model.base_url`")]
#[case("model.timeout", "the nearest is `model.timeout_seconds`")]
#[case("model.temperature", "[model] has provider, name, ")]
#[case("model.stream", "[model] has provider, ")]
#[case("modle.name", "the nearest is `model.name`")]
#[case("modle.colour", "the nearest is `model`")]
#[case("agent.max_retries", "the nearest is `model.max_retries`")]
#[case("tool.availble", "the nearest is `tools.available`")]
#[case("network.proxy", "the tables are model, ")]
#[case("sandbox.timeout_seconds", "[sandbox] has backend, ")]
#[case("mcp.servers.a.comand", "the nearest is `mcp.servers.a.command`")]
#[case("mcp.servers.a.headers", "; there is command, args, ")]
#[case("sandbox.ssh.hosts", "the nearest is `sandbox.ssh.host`")]
fn a_key_far_away_was_the_nearest(#[case] key: &str, #[case] said: &str) {
    let (table, name) = key.rsplit_once('.').unwrap();
    let toml = format!("[{table}]\n{name} = 1\n");
    let problems = problems(&World::with(&toml), &[]);
    let unknown = format!("outfitter.toml:2:1: unknown key `{key}`");
    let told = problems.iter().find(|one| one.starts_with(&unknown));
    let told = told.unwrap_or_else(|| panic!("{problems:?}"));
    assert!(told.contains(said), "{told}");
}
