//! From the arguments of a call to what a program gets, or why it is not called.

use outfitter_core::{Code, Role, Status};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{World, description, entry, entry_with};

/// Leaves behind what it was called with.
const REMEMBERS: &str = r#"
for word in "$@"; do printf '%s\n' "$word"; done > "$OUT/argv"
cat > "$OUT/stdin"
pwd > "$OUT/cwd"; echo "$HOME" > "$OUT/home"
echo '{"v":1,"status":"success","result":{"n":1}}'"#;

#[tokio::test]
async fn arguments_are_flags_and_input_and_no_shell_reads_them() {
    let world = World::new();
    let session = world.probe(REMEMBERS).await;
    let output = session
        .run(json!({
            "text": "$(touch pwned) `id` ; rm -rf \"x\" 'y'",
            "count": 3,
            "list": ["a", "--json"],
            "deep": { "b": [1], "a": null },
        }))
        .await;
    assert_eq!(output.status, Status::Success, "{output:?}");
    assert_eq!(
        world.read("argv"),
        "probe\nrun\n--json\n--count=3\n--text=$(touch pwned) `id` ; rm -rf \"x\" 'y'\n--stdin\n"
    );
    assert_eq!(
        world.read("stdin"),
        r#"{"args":{"deep":{"a":null,"b":[1]},"list":["a","--json"]}}"#
    );
}

#[tokio::test]
async fn without_arguments_there_is_nothing_to_read() {
    let world = World::new();
    let session = world.probe(REMEMBERS).await;
    let output = session
        .call(json!({ "command": "probe", "subcommand": "run" }))
        .await;
    assert_eq!(output.status, Status::Success, "{output:?}");
    assert_eq!(world.read("argv"), "probe\nrun\n--json\n");
    assert_eq!(world.read("stdin"), "");
}

#[tokio::test]
async fn much_input_arrives_whole() {
    let world = World::new();
    let session = world.probe(REMEMBERS).await;
    let text = "ü".repeat(300_000);
    let output = session.run(json!({ "text": text })).await;
    assert_eq!(output.status, Status::Success, "{output:?}");
    let read: Value = serde_json::from_str(&world.read("stdin")).unwrap();
    assert_eq!(read["args"]["text"], text);
}

#[tokio::test]
async fn each_call_is_at_home_in_a_folder_that_goes_with_it() {
    let world = World::new();
    let session = world.probe(REMEMBERS).await;
    session.run(json!({})).await;
    let (first, cwd) = (world.read("home"), world.read("cwd"));
    assert_eq!(first, cwd);
    assert!(first.starts_with(world.path("scratch").to_str().unwrap()));
    session.run(json!({})).await;
    assert_ne!(world.read("home"), first);
    assert!(!std::path::Path::new(first.trim()).exists());
}

#[tokio::test]
async fn every_fault_of_the_arguments_is_told_and_nothing_runs() {
    let world = World::new();
    let session = world.probe(REMEMBERS).await;
    let output = session
        .run(json!({ "text": 5, "count": 0, "list": ["a", 1], "colour": "red" }))
        .await;
    let error = output.error.unwrap();
    insta::assert_json_snapshot!(error);
    assert!(!world.path("argv").exists());
}

#[tokio::test]
async fn an_argument_that_the_schema_does_not_name_is_refused_even_where_it_would_be_let_through() {
    let world = World::new();
    let open = entry_with(json!({ "args": { "properties": { "text": {} } } }));
    let program = world.program("probe", &description(json!([open])), REMEMBERS);
    let session = world.session([program]).await;
    for name in ["stdin", "token", "a b", "x=y"] {
        let output = session.run(json!({ name: "v" })).await;
        let error = output.error.unwrap();
        assert_eq!(error.code, Code::InvalidArguments, "{name}");
        assert_eq!(error.path, Some(format!("/args/{name}")));
    }
    assert!(!world.path("argv").exists());
}

#[rstest]
#[case(json!({"command": "nothing", "subcommand": "run"}), "/command")]
#[case(json!({"command": "probe", "subcommand": "nothing"}), "/subcommand")]
#[case(json!({"command": "probe"}), "/subcommand")]
#[case(json!({"command": "probe", "subcommand": "run", "args": []}), "/args")]
#[case(json!({"command": "probe", "subcommand": "run", "skill": "x"}), "/skill")]
#[case(json!({"command": "probe", "subcommand": "run", "token": "x"}), "/token")]
#[tokio::test]
async fn a_call_of_nothing_says_what_there_is(#[case] args: Value, #[case] path: &str) {
    let world = World::new();
    let session = world.probe(REMEMBERS).await;
    let error = session.call(args).await.error.unwrap();
    assert_eq!(error.code, Code::InvalidArguments);
    assert_eq!(error.path.as_deref(), Some(path), "{error:?}");
    assert!(!world.path("argv").exists());
}

#[tokio::test]
async fn who_may_not_call_is_not_told_how_it_would_be_called() {
    let world = World::new();
    let write = entry_with(json!({ "subcommand": "write", "effects": ["write"] }));
    let text = description(json!([entry(), write]));
    let session = world
        .session([world.program("probe", &text, REMEMBERS)])
        .await;
    let call = json!({ "command": "probe", "subcommand": "write", "args": { "count": "x" } });
    let error = session
        .call_as(Role::Guest, call.clone())
        .await
        .error
        .unwrap();
    assert_eq!(error.code, Code::NotPermitted);
    assert_eq!(
        error.message,
        "project_cli needs the role user with these arguments"
    );
    let error = session.call_as(Role::User, call).await.error.unwrap();
    assert_eq!(error.code, Code::InvalidArguments);
    assert_eq!(error.path.as_deref(), Some("/args/count"));
}

#[rstest]
#[case(json!(["read"]), Role::Guest, None)]
#[case(json!(["read", "message"]), Role::Guest, None)]
#[case(json!(["write"]), Role::Guest, Some(Code::NotPermitted))]
#[case(json!(["write"]), Role::User, None)]
#[case(json!(["network"]), Role::Guest, Some(Code::NotPermitted))]
// By the default policy these ask, and nobody is there; a role that does not suffice is not asked for.
#[case(json!(["network"]), Role::User, Some(Code::NeedsApproval))]
#[case(json!(["write:outside"]), Role::User, Some(Code::NeedsApproval))]
#[case(json!(["exec"]), Role::User, Some(Code::NotPermitted))]
#[tokio::test]
async fn a_call_is_judged_by_what_its_subcommand_does(
    #[case] effects: Value,
    #[case] role: Role,
    #[case] refusal: Option<Code>,
) {
    let world = World::new();
    // Beside one that anybody may call, so that the tool is there for all.
    let judged = entry_with(json!({ "subcommand": "judged", "effects": effects }));
    let text = description(json!([entry(), judged]));
    let session = world
        .session([world.program("probe", &text, REMEMBERS)])
        .await;
    let output = session
        .call_as(role, json!({ "command": "probe", "subcommand": "judged" }))
        .await;
    assert_eq!(output.error.map(|error| error.code), refusal);
    assert_eq!(world.path("argv").exists(), refusal.is_none());
}
