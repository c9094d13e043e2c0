//! The rules of the configuration, and how long approvals hold.

use rstest::rstest;
use serde_json::Value;

use crate::config::problems;
use crate::world::World;

#[rstest]
#[case(
    "[permissions]\nrules = [{ tool = \"*\", decision = \"deny\" }, { tool = \"*\" }]",
    "outfitter.toml:2:45: `permissions.rules.1` needs `decision`"
)]
#[case(
    "[permissions]\nrules = [{ tool = \"*\", args = \" \", decision = \"deny\" }]",
    "`permissions.rules.0.args` must not be empty; leave it out for any"
)]
#[case(
    "[permissions]\nrules = [{ tool = \"*\", args = {}, decision = \"deny\" }]",
    "`permissions.rules.0.args` means nothing: its args are empty"
)]
#[case(
    "[permissions]\nrules = [{ tool = \"*\", args = { a = { b = 1 } }, decision = \"deny\" }]",
    "`permissions.rules.0.args.a` means nothing: an argument is to be a text, a number, true, false, or a list of these"
)]
#[case(
    "[permissions]\nrules = [{ tool = \"*\", args = 3, decision = \"deny\" }]",
    "`permissions.rules.0.args` must be a text, or a table of values by name, not 3"
)]
#[case(
    "[permissions]\nrules = [{ tool = \"*\", agent = \"other\", decision = \"deny\" }]",
    "`permissions.rules.0.agent` names the agent \"other\", and there is only \"main\""
)]
#[case(
    "[permissions]\nalways_days = 0",
    "`permissions.always_days` must be a whole number from 1 to 365, not 0"
)]
#[case(
    "[permissions]\nrules = [{ tool = \"*\", decision = \"maybe\" }]",
    "outfitter.toml:2:24: `permissions.rules.0.decision` must be one of allow, ask, deny"
)]
fn a_rule_that_means_nothing_is_a_problem(#[case] toml: &str, #[case] message: &str) {
    let found = problems(&World::with(toml), &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(message), "{found:?}");
}

#[test]
fn rules_are_explained_by_their_numbers_in_their_order() {
    let world = World::with(
        "[permissions]\nrules = [\n\
         { tool = \"b*\", args = { path = \"src/**\", n = [1, 2] }, decision = \"ask\" },\n\
         { tool = \"a\", args = \"x *\", role = \"user\", channel = \"http\", decision = \"deny\" },\n\
         { tool = \"c\", tenant = \"t\", agent = \"m*\", decision = \"allow\" },\n]\n",
    );
    let document = world.run(&["config", "explain", "--json"]).json();
    let lines = document["notes"]["rules"].as_array().unwrap();
    let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
    assert_eq!(
        lines,
        [
            "0  ask    tool = \"b*\", args = { n = [1, 2], path = \"src/**\" }",
            "1  deny   tool = \"a\", args = \"x *\", role = \"user\", channel = \"http\"",
            "2  allow  tool = \"c\", tenant = \"t\", agent = \"m*\"",
        ]
    );
    let text = world.run(&["config", "explain"]).stdout;
    assert!(text.contains("#   1  deny   tool = \"a\""), "{text}");
    // What is explained is what is read.
    world.write("here/again.toml", &text);
    let again = world.run(&["config", "explain", "--json", "--config", "again.toml"]);
    assert_eq!(again.json()["notes"]["rules"], document["notes"]["rules"]);
}
