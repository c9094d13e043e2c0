//! What waits, over AG-UI: asked with the run, answered with the next one.

use serde_json::{Value, json};

use crate::agui::{error, input, of, says, send, sound, types};
use crate::client::get;
use crate::harness::World;

fn interrupts(events: &[Value]) -> Vec<Value> {
    let end = events.last().unwrap();
    assert_eq!(end["outcome"]["type"], "interrupt", "{end}");
    end["outcome"]["interrupts"].as_array().unwrap().clone()
}

fn resume(run: &str, answers: &[(&Value, &str, Value)]) -> Value {
    let mut body = input("t", run, json!([]));
    body["resume"] = answers
        .iter()
        .map(|(interrupt, status, payload)| {
            json!({ "interruptId": interrupt["id"], "status": status, "payload": payload })
        })
        .collect();
    body
}

#[tokio::test]
async fn interrupts_are_resumed_all_at_once_and_a_second_time_changes_nothing() {
    let served = World::new().serve().await;
    let words = says("call ask {\"n\":1}\ncall risky {}");
    let events = sound(&served, &input("t", "r1", words)).await;
    let kinds = types(&events);
    let count = kinds.len();
    assert_eq!(
        kinds[count - 3..],
        ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    );
    let open = interrupts(&events);
    let question = open
        .iter()
        .find(|i| i["reason"] == "input_required")
        .unwrap();
    let approval = open.iter().find(|i| i["reason"] == "tool_call").unwrap();
    let yes = json!({ "approved": true });

    // Nothing said, something left out, something unknown, something unfit: all are refused, and
    // nothing is answered by any of them.
    let silent = sound(&served, &input("t", "r2", says("more"))).await;
    assert_eq!(error(&silent), "conflict");
    let partial = sound(
        &served,
        &resume("r3", &[(approval, "resolved", yes.clone())]),
    )
    .await;
    assert_eq!(error(&partial), "conflict");
    let nothing = json!({ "id": "int_nothing" });
    let unknown = sound(
        &served,
        &resume("r4", &[(&nothing, "cancelled", Value::Null)]),
    )
    .await;
    assert_eq!(error(&unknown), "not_found");
    for (payload, answer) in [("maybe", yes.clone()), ("yes", json!(true))] {
        let unfit = resume(
            "r5",
            &[
                (question, "resolved", json!(payload)),
                (approval, "resolved", answer),
            ],
        );
        assert_eq!(error(&sound(&served, &unfit).await), "invalid_arguments");
    }

    let whole = resume(
        "r6",
        &[
            (question, "resolved", json!("yes")),
            (approval, "resolved", yes),
        ],
    );
    let resumed = send(&served, &whole).await.sse();
    // The calls were told of before: only their results are new.
    assert!(of(&resumed, "TOOL_CALL_START").is_empty());
    let results = of(&resumed, "TOOL_CALL_RESULT");
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["metadata"]["outfitter"]["status"], "success");
    }
    assert_eq!(resumed.last().unwrap()["outcome"]["type"], "success");

    let before = get("/v1/sessions/t").send(served.at).await.json();
    let again = send(&served, &whole).await.sse();
    assert_eq!(again.last().unwrap()["outcome"]["type"], "success");
    assert!(of(&again, "TOOL_CALL_RESULT").is_empty());
    assert_eq!(get("/v1/sessions/t").send(served.at).await.json(), before);
    let mut other = whole.clone();
    other["resume"][0]["payload"] = json!("no");
    assert_eq!(error(&sound(&served, &other).await), "not_found");
    served.stop().await;
}

#[tokio::test]
async fn what_is_called_off_or_denied_goes_on_as_that() {
    let served = World::new().serve().await;
    let words = says("call ask {}\ncall risky {}");
    let open = interrupts(&sound(&served, &input("t", "r1", words)).await);
    let by = |reason: &str| open.iter().find(|i| i["reason"] == reason).unwrap();
    let body = resume(
        "r2",
        &[
            (by("input_required"), "cancelled", Value::Null),
            (by("tool_call"), "resolved", json!({ "approved": false })),
        ],
    );
    let events = send(&served, &body).await.sse();
    let mut statuses: Vec<&str> = of(&events, "TOOL_CALL_RESULT")
        .iter()
        .map(|result| result["metadata"]["outfitter"]["status"].as_str().unwrap())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["denied", "success"]);
    served.stop().await;
}
