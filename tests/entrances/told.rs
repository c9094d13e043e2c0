//! What a server tells of itself, and to whom.

use serde_json::{Value, json};

use crate::scripted::{configured, scripted};
use crate::served::Serving;

fn names(servers: &Value) -> Vec<&str> {
    let servers = servers.as_array().unwrap().iter();
    servers.map(|one| one["name"].as_str().unwrap()).collect()
}

/// What there is that they may not use, what it is called, and where it lies.
#[test]
fn guests_read_all_that_is_wrong_with_what_is_not_theirs() {
    const BROKEN: &str = "[mcp.servers.ledger]\ncommand = \"/nonexistent/ledger\"\n\
                          [mcp.servers.open]\ncommand = \"/nonexistent/open\"\nmin_role = \"guest\"\n\
                          [plugin_api]\nallowlist = []\napis.bank.openapi = \"/nonexistent/bank.json\"\n";
    let role = |role: &str| format!("{BROKEN}[permissions]\nhttp_role = \"{role}\"\n");
    let world = scripted(&json!([{"text": "all done"}]), &role("guest"));
    let serving = Serving::start(&world);
    let at = &serving.at;
    let servers = at.get("/v1/mcp/servers").is(200);
    assert_eq!(names(&servers.json()), ["open"]);
    let faults = at.get("/v1/diagnostics").is(200);
    for text in [&servers.text, &faults.text] {
        assert!(!text.contains("ledger") && !text.contains("bank"), "{text}");
    }
    serving.stop();

    configured(&world, &role("user"));
    let serving = Serving::start(&world);
    let servers = serving.at.get("/v1/mcp/servers").is(200);
    assert_eq!(names(&servers.json()), ["ledger", "open"]);
    let faults = serving.at.get("/v1/diagnostics").is(200);
    assert!(faults.text.contains("bank"), "{}", faults.text);
    serving.stop();
}

/// It said that it serves, and each of its callers was told that the store is not there.
#[test]
fn a_server_began_over_a_store_that_it_could_never_use() {
    let world = scripted(&json!([{"text": "all done"}]), "");
    std::fs::create_dir_all(world.data("")).unwrap();
    std::fs::write(world.data("outfitter.db"), "no database".repeat(1_000)).unwrap();
    let ran = world.run(&["serve", "--bind", "127.0.0.1:0"]).exits(1);
    assert!(
        ran.stderr.contains("it is not a database"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("hint: set [store] url"),
        "{}",
        ran.stderr
    );
}

/// Where our data lies is for the operator's log.
#[test]
fn a_caller_was_told_where_the_data_lies() {
    let world = scripted(&json!([{"text": "all done"}]), "");
    let serving = Serving::start(&world);
    let files = world.data("files");
    // A server that is idle may have made it or not.
    std::fs::rename(&files, world.data("away")).ok();
    std::fs::write(&files, "no folder").unwrap();
    let body = json!({"session_id": "s", "input": "go"});
    let refused = serving.at.post("/v1/runs", &body);
    refused.is_problem(503, "unavailable");
    let place = world.data("").display().to_string();
    assert!(
        !refused.text.contains(place.trim_end_matches('/')),
        "{}",
        refused.text
    );
    let said = serving.stop().stderr;
    assert!(said.contains(place.trim_end_matches('/')), "{said}");
}
