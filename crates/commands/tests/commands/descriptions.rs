//! Descriptions that are refused, whole or in part, and why.

use outfitter_core::{Role, ToolSource as _};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{World, description, entry, entry_with};

#[rstest]
#[case::nothing("", "it printed nothing")]
#[case::no_json("hello", "something other than one JSON object")]
#[case::two_documents("{\"v\":1}{\"v\":1}", "something other than one JSON object")]
#[case::a_list("[]", "not an object")]
#[case::a_key_twice(r#"{"v":1,"v":1,"name":"a","commands":[]}"#, "given twice")]
#[case::other_version(r#"{"v":2,"name":"a","commands":[]}"#, "version 2")]
#[case::a_version_of_text(r#"{"v":"1","name":"a","commands":[]}"#, "invalid type")]
#[case::no_commands(r#"{"v":1,"name":"a"}"#, "missing field `commands`")]
#[case::more_than_there_is(
    r#"{"v":1,"name":"a","commands":[],"tools":[]}"#,
    "unknown field `tools`"
)]
#[case::skills_somewhere(
    r#"{"v":1,"name":"a","skills_dir":"skills","commands":[]}"#,
    "not absolute"
)]
#[case::a_strange_name(r#"{"v":1,"name":"A B","commands":[]}"#, "is no name")]
#[tokio::test]
async fn a_description_that_is_none_is_refused_whole(#[case] text: &str, #[case] why: &str) {
    let world = World::new();
    let source = world.source([world.program("probe", text, "")]);
    source.describe().await.unwrap();
    let snapshot = source.snapshot();
    assert!(snapshot.tools.is_empty());
    assert!(
        snapshot.faults[0].why.contains(why),
        "{:?}",
        snapshot.faults
    );
}

#[rstest]
#[case(json!({"command": "Calendar"}), "is not of a-z")]
#[case(json!({"subcommand": "--json"}), "is not of a-z")]
#[case(json!({"effects": ["fly"]}), "unknown effect")]
#[tokio::test]
async fn a_wrong_entry_refuses_its_program(#[case] changes: Value, #[case] why: &str) {
    let world = World::new();
    let text = description(json!([entry(), entry_with(changes)]));
    let source = world.source([world.program("probe", &text, "")]);
    source.describe().await.unwrap();
    let snapshot = source.snapshot();
    assert!(snapshot.tools.is_empty());
    assert!(
        snapshot.faults[0].why.contains(why),
        "{:?}",
        snapshot.faults
    );
}

#[rstest]
#[case(json!({"args": {"properties": {"token": {"type": "string"}}}}), "has no credentials")]
#[case(json!({"args": {"properties": {"owner": {"type": "string"}}}}), "would say who acts")]
#[case(json!({"args": {"properties": {"deep": {"properties": {"session_id": {}}}}}}), "would say who acts")]
#[case(json!({"args": {"properties": {"Name": {}}}}), "cannot be a flag")]
#[case(json!({"args": {"properties": {"json": {}}}}), "a flag of the protocol")]
#[case(json!({"args": {"type": "array"}}), "no object")]
#[case(json!({"args": {"properties": {"a": {"type": "strnig"}}}}), "cannot be used")]
#[case(json!({"args": {"properties": {"a": {"$ref": "file:///etc/passwd"}}}}), "cannot be used")]
#[case(json!({"result": true}), "is not an object")]
#[case(json!({"ui": "table"}), "no template")]
#[case(json!({"effects": []}), "no effect")]
#[tokio::test]
async fn a_subcommand_that_cannot_be_offered_is_left_out(
    #[case] changes: Value,
    #[case] why: &str,
) {
    let world = World::new();
    let mut wrong = entry_with(changes);
    wrong["subcommand"] = json!("wrong");
    let text = description(json!([entry(), wrong]));
    let session = world.session([world.program("probe", &text, "")]).await;
    let faults = &session.source.snapshot().faults;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].what, "probe: probe wrong");
    assert!(faults[0].why.contains(why), "{faults:?}");
    let description = session.view(Role::Admin).listing()[0].description.clone();
    assert!(!description.contains("probe wrong"));
}
