//! What a program may answer, and what becomes of it.

use outfitter_core::{Code, Status};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{World, description, entry_with};

fn prints(document: &Value, exit: u8) -> String {
    format!("cat <<'END'\n{document}\nEND\nexit {exit}")
}

#[tokio::test]
async fn a_result_is_the_result_and_the_model_reads_nothing_else() {
    let world = World::new();
    let document = json!({
        "v": 1, "status": "success", "result": { "n": 5, "a": [1, 2] },
        "ui": { "template": "key_values" },
    });
    let session = world.probe(&prints(&document, 0)).await;
    let output = session.run(json!({})).await;
    assert_eq!(output.status, Status::Success);
    assert_eq!(output.result, Some(json!({ "a": [1, 2], "n": 5 })));
    assert_eq!(
        output.ui_hints.as_ref().unwrap().0,
        json!({ "template": "key_values" })
    );
    assert_eq!(output.projection().0, r#"{"a":[1,2],"n":5}"#);
}

#[tokio::test]
async fn without_hints_of_its_own_a_result_has_those_of_the_description() {
    let world = World::new();
    let template = json!({ "template": "table", "from": "/rows" });
    let entry = entry_with(json!({ "ui": template }));
    let document = json!({ "v": 1, "status": "success", "result": {} });
    let text = description(json!([entry]));
    let program = world.program("probe", &text, &prints(&document, 0));
    let output = world.session([program]).await.run(json!({})).await;
    assert_eq!(output.ui_hints.unwrap().0, template);
}

#[tokio::test]
async fn part_of_the_work_is_partial() {
    let world = World::new();
    let document = json!({ "v": 1, "status": "partial", "result": { "n": 1 } });
    let session = world.probe(&prints(&document, 0)).await;
    let output = session.run(json!({})).await;
    assert_eq!((output.status, output.error), (Status::Partial, None));
}

#[rstest]
#[case("failed", 1, Status::Error)]
#[case("invalid_arguments", 2, Status::Error)]
#[case("usage", 2, Status::Error)]
#[case("unauthenticated", 3, Status::Error)]
#[case("not_permitted", 4, Status::Denied)]
#[case("denied", 4, Status::Denied)]
#[case("not_found", 5, Status::Error)]
#[case("conflict", 6, Status::Error)]
#[case("rate_limited", 7, Status::Error)]
#[case("unavailable", 8, Status::Error)]
#[tokio::test]
async fn an_error_with_its_exit_is_the_error_of_the_call(
    #[case] code: &str,
    #[case] exit: u8,
    #[case] status: Status,
) {
    let world = World::new();
    let document = json!({
        "v": 1, "status": "error",
        "error": { "code": code, "message": "no such day", "retryable": code == "conflict" },
    });
    let session = world.probe(&prints(&document, exit)).await;
    let output = session.run(json!({})).await;
    let error = output.error.unwrap();
    assert_eq!(
        (error.code.as_str(), &*error.message),
        (code, "no such day")
    );
    assert_eq!(error.retryable, code == "conflict");
    assert_eq!((output.status, output.result), (status, None));
    assert!(output.artifacts.is_empty());
}

#[tokio::test]
async fn details_of_an_error_have_their_places_and_the_rest_is_kept() {
    let world = World::new();
    let document = json!({
        "v": 1, "status": "error",
        "error": {
            "code": "conflict", "message": "changed meanwhile", "retryable": true,
            "details": { "path": "/id", "hint": "read it again", "got": 3, "by": "bob" },
        },
    });
    let session = world.probe(&prints(&document, 6)).await;
    let output = session.run(json!({})).await;
    let error = output.error.unwrap();
    assert_eq!(error.path.as_deref(), Some("/args/id"));
    assert_eq!(error.hint.as_deref(), Some("read it again"));
    assert_eq!(error.got, Some(json!(3)));
    assert_eq!(output.result, Some(json!({ "details": { "by": "bob" } })));
}

const OK: &str = r#"{"v":1,"status":"success","result":{}}"#;

#[rstest]
#[case::exit_1_with_success(OK, 1, "exit 1 does not go with a result, which is exit 0")]
#[case::exit_101_of_a_panic("", 101, "it printed nothing (exit 101)")]
#[case::exit_0_with_an_error(
    r#"{"v":1,"status":"error","error":{"code":"failed","message":"m","retryable":false}}"#,
    0,
    "exit 0 does not go with failed, which is exit 1"
)]
#[case::exit_of_another_error(
    r#"{"v":1,"status":"error","error":{"code":"not_found","message":"m","retryable":false}}"#,
    3,
    "exit 3 does not go with not_found, which is exit 5"
)]
#[case::a_code_that_is_not_its_to_say(
    r#"{"v":1,"status":"error","error":{"code":"timeout","message":"m","retryable":true}}"#,
    1,
    "timeout, which is not for a program to say"
)]
#[case::a_code_that_is_none(
    r#"{"v":1,"status":"error","error":{"code":"oops","message":"m","retryable":true}}"#,
    1,
    "unknown variant `oops`"
)]
#[case::an_error_without_one(r#"{"v":1,"status":"error"}"#, 1, "does not say which")]
#[case::a_result_and_an_error(
    r#"{"v":1,"status":"partial","result":{},"error":{"code":"failed","message":"m","retryable":false}}"#,
    0,
    "an error beside a result"
)]
#[case::no_result(r#"{"v":1,"status":"success"}"#, 0, "without a result")]
#[case::a_result_that_does_not_fit(
    r#"{"v":1,"status":"success","result":{"n":"five"}}"#,
    0,
    "does not fit its own schema: /n: expected {\"type\":\"integer\"}, got \"five\""
)]
#[case::other_version(r#"{"v":2,"status":"success","result":{}}"#, 0, "version 2")]
#[case::no_version(r#"{"status":"success","result":{}}"#, 0, "missing field `v`")]
#[case::more_than_there_is(
    r#"{"v":1,"status":"success","result":{},"data":1}"#,
    0,
    "unknown field `data`"
)]
#[case::no_json("done.", 0, "something other than one JSON object")]
#[case::two_documents(
    "{\"v\":1,\"status\":\"success\",\"result\":{}}\n{}",
    0,
    "something other than one JSON object"
)]
#[case::words_before(
    "loading\n{\"v\":1,\"status\":\"success\",\"result\":{}}",
    0,
    "something other than one JSON object"
)]
#[case::cut_off(r#"{"v":1,"status":"success","result":{"#, 0, "cut off")]
#[case::a_key_twice(
    r#"{"v":1,"status":"success","status":"error","result":{}}"#,
    0,
    "given twice"
)]
#[case::ui_that_is_none(
    r#"{"v":1,"status":"success","result":{},"ui":"<b>"}"#,
    0,
    "ui is no template"
)]
#[tokio::test]
async fn what_is_not_as_the_protocol_has_it_is_a_protocol_error(
    #[case] stdout: &str,
    #[case] exit: u8,
    #[case] why: &str,
) {
    let world = World::new();
    let script = format!("echo it went wrong >&2\ncat <<'END'\n{stdout}\nEND\nexit {exit}");
    let session = world.probe(&script).await;
    let output = session.run(json!({})).await;
    let error = output.error.unwrap();
    assert_eq!(error.code, Code::ProtocolError);
    assert!(error.message.contains(why), "{}", error.message);
    assert_eq!(output.status, Status::Error);
    let result = output.result.unwrap();
    assert_eq!(result["exit"], exit);
    assert_eq!(result["stderr_tail"], "it went wrong");
    // What it really said is kept, whole.
    assert_eq!(output.artifacts.len(), 1);
    assert_eq!(session.artifacts.only(), format!("{stdout}\n").as_bytes());
}

#[tokio::test]
async fn the_log_of_a_good_call_is_for_people_only() {
    let world = World::new();
    let session = world
        .probe("echo looking >&2; echo found >&2; echo '{\"v\":1,\"status\":\"success\",\"result\":{}}'")
        .await;
    let output = session.run(json!({})).await;
    assert_eq!(session.recorder.shown(), "looking\nfound\n");
    assert_eq!(output.projection().0, "{}");
    assert!(output.artifacts.is_empty());
}
