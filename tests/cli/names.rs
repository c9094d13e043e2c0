//! Names in the configuration that mean nothing: rules, globs, aliases, operations.

use rstest::rstest;
use serde_json::{Value, json};

use crate::config::problems;
use crate::world::World;

fn rules(rows: &str) -> String {
    format!("[permissions]\nrules = [{rows}]\n")
}

#[rstest]
#[case(
    "{ tool = \"file_raed\", decision = \"deny\" }",
    "`permissions.rules.0.tool` can never be met: no tool is called \"file_raed\", did you mean file_read?"
)]
#[case(
    "{ tool = \"file_read\", args = { pth = \"a\" }, decision = \"deny\" }",
    "`permissions.rules.0.args.pth` can never be met: file_read has no argument \"pth\", did you mean path?"
)]
#[case(
    "{ tool = \"read\", decision = \"deny\" }",
    "`permissions.rules.0.tool` can never be met: \"read\" is another name of file_read"
)]
#[case(
    "{ tool = \"*\", channel = \"htpt\", decision = \"deny\" }",
    "`permissions.rules.0.channel` can never be met: there is no channel \"htpt\", only cli, http, agui, mcp, did you mean http?"
)]
#[case(
    "{ tool = \"*\", agent = \"mian*\", decision = \"deny\" }",
    "`permissions.rules.0.agent` can never be met: there is no agent \"mian*\", only \"main\""
)]
#[case(
    "{ tool = \"fetch_webpages\", args = \"ulrs=*\", decision = \"deny\" }",
    "`permissions.rules.0.args` can never be met: fetch_webpages has no argument \"ulrs\", did you mean urls?"
)]
#[case(
    "{ tool = \"run_command\", args = \"command=git *\", decision = \"deny\" }",
    "write args = { command = … }"
)]
fn a_rule_that_never_meets_a_call_was_right(#[case] row: &str, #[case] message: &str) {
    let found = problems(&World::with(&rules(row)), &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(message), "{found:?}");
    assert!(found[0].contains("outfitter.toml:2:"), "{found:?}");
}

#[rstest]
#[case(
    "[tools]\navailable = [\"fiel_*\", \"grep\"]",
    "`tools.available.0` has a glob like the name of no tool: \"fiel_*\""
)]
#[case(
    "[tools]\ndefer = [\"file_raed\"]",
    "`tools.defer.0` names no tool with \"file_raed\", did you mean file_read?"
)]
#[case(
    "[tools.aliases]\ngrep = \"glob\"",
    "`tools.aliases.grep` is never used: there is a tool called grep"
)]
#[case(
    "[plugin_api]\nallowlist = [\"call_shpo_get*\"]\napis.shop = { openapi = \"outfitter.toml\" }",
    "`plugin_api.allowlist.0` names an operation of no API with \"call_shpo_get*\", did you mean shop?"
)]
fn a_name_of_no_tool_was_right(#[case] toml: &str, #[case] message: &str) {
    let found = problems(&World::with(toml), &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(message), "{found:?}");
}

#[test]
fn what_may_still_come_is_told_as_unchecked_and_is_not_wrong() {
    let world = World::with(
        "[permissions]\nrules = [\n\
         { tool = \"notes__ad\", decision = \"deny\" },\n\
         { tool = \"call_shop_get*\", args = { id = \"1\" }, decision = \"allow\" },\n\
         { tool = \"project_cli\", args = \"subcommand=x\", decision = \"ask\" },\n\
         { tool = \"fetch_webpages\", decision = \"deny\" },\n]\n\
         [web]\nenabled = false\n\
         [mcp.servers.notes]\nbuiltin = \"notes\"\n\
         [plugin_api]\nallowlist = [\"*\"]\napis.shop.openapi = \"outfitter.toml\"\n\
         [commands.planner]\nprogram = \"planner\"\n",
    );
    let ran = world.run(&["config", "check", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let unchecked = &ran.json()["unchecked"];
    let keys: Vec<&Value> = unchecked
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["key"])
        .collect();
    assert_eq!(
        keys,
        [
            "permissions.rules.0.tool",
            "permissions.rules.1.tool",
            "permissions.rules.1.args.id",
            "permissions.rules.2.tool",
            "permissions.rules.2.args",
        ]
    );
    assert_eq!(unchecked[0]["from"], "the MCP server notes");
    let ran = world.run(&["config", "check"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let note = "note: `permissions.rules.0.tool` could not be checked: it may be for tools of the MCP server notes\n";
    assert!(ran.stderr.contains(note), "{}", ran.shown());
}

/// What is only known once the server has answered.
#[test]
fn a_run_and_doctor_say_what_no_tool_of_a_connected_server_is_called() {
    let world = World::with(
        "[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n\
         [permissions]\nrules = [{ tool = \"notes__ad\", decision = \"deny\" }]\n\
         [mcp.servers.notes]\nbuiltin = \"notes\"\n",
    );
    world.write("here/script.yaml", "- text: done\n");
    let why = "`permissions.rules.0.tool` can never be met: no tool is called \"notes__ad\"";
    let ran = world.run(&["run", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(ran.stderr.contains(why), "{}", ran.shown());
    let ran = world.run(&["run", "go", "--json"]);
    let warnings: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["type"] == "warning" && line["code"] == "unknown_name")
        .collect();
    assert_eq!(warnings.len(), 1, "{}", ran.shown());
    let message = warnings[0]["message"].as_str().unwrap();
    assert!(message.contains(why), "{message}");
    let ran = world.run(&["doctor", "--json"]);
    let checks = ran.json()["checks"].clone();
    let told = checks.as_array().unwrap().iter().any(|check| {
        check["status"] == json!("warn") && check["finding"].as_str().unwrap().contains(why)
    });
    assert!(told, "{}", ran.shown());
}

#[test]
fn a_secret_among_the_arguments_of_a_server_was_explained() {
    let world = World::with(
        "[mcp.servers.a]\ncommand = \"a\"\nargs = [\"--token\", \"hunter22\", \"--api-key=hunter33\", \"-v\"]\n\
         [commands.b]\nprogram = \"b\"\nargs = [\"DB_PASSWORD=hunter44\"]\n",
    );
    for args in [&["config", "explain"][..], &["config", "explain", "--json"]] {
        let ran = world.run(args);
        assert_eq!(ran.code, 0, "{}", ran.shown());
        assert!(!ran.stdout.contains("hunter"), "{}", ran.shown());
        assert!(
            ran.stdout.contains("--api-key=[redacted]"),
            "{}",
            ran.shown()
        );
    }
    let text = world.run(&["config", "explain"]).stdout;
    let line = "# args = [\"--token\", \"[redacted]\", \"--api-key=[redacted]\", \"-v\"]  # what may be secret is not shown";
    assert!(text.contains(line), "{text}");
    // Nor where they are wrong.
    let world = World::with("[mcp.servers.a]\ncommand = \"a\"\nargs = \"--token=hunter22\"\n");
    let ran = world.run(&["config", "check"]);
    assert_eq!(ran.code, 2);
    assert!(!ran.stdout.contains("hunter"), "{}", ran.shown());
}

/// A pipe has no end that comes by itself: a reader of it would wait for ever.
#[test]
fn a_pipe_where_a_file_is_configured_was_waited_for() {
    let world = World::with("[model]\nprovider = \"scripted\"\nscript = \"pipe\"\n");
    let pipe = world.path("here/pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let says = "it is not a regular file";
    let ran = world.run(&["run", "go"]);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    assert!(ran.stderr.contains(says), "{}", ran.shown());
    for path in ["pipe", "/dev/zero"] {
        let ran = world.run(&["config", "check", "--config", path]);
        assert_eq!(ran.code, 2, "{}", ran.shown());
        assert!(ran.stderr.contains(says), "{}", ran.shown());
    }
    let world = World::with(
        "[channels.a]\nkind = \"file\"\nurl = \"pipe\"\n\
         [plugin_api]\nallowlist = [\"*\"]\napis.shop.openapi = \"pipe\"\n",
    );
    let pipe = world.path("here/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let ran = world.run(&["doctor"]);
    assert!(ran.stdout.contains(says), "{}", ran.shown());
}
