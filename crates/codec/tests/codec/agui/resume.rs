//! Answers to what waits.

use std::sync::Arc;

use outfitter_codec::agui::{
    ApprovalAnswer, ResumeEntry, ResumeFault, ResumeStatus, RunAgentInput, approval, check_resume,
};
use outfitter_core::{ApprovalScope, EventBody, Interrupt, InterruptId, UnixMs};
use rstest::rstest;
use serde_json::{Value, json};

use crate::samples::waiting_run;

fn waits(id: &str, expires: u64) -> Arc<Interrupt> {
    let EventBody::Interrupt(interrupt) = waiting_run().remove(4).body else {
        panic!("an interrupt is expected there");
    };
    Arc::new(Interrupt {
        id: InterruptId::new(id).unwrap(),
        expires: UnixMs(expires),
        ..*interrupt
    })
}

fn entry(word: &str) -> ResumeEntry {
    let (id, status) = word.split_once(':').unwrap();
    ResumeEntry {
        interrupt: InterruptId::new(id).unwrap(),
        status: match status {
            "yes" => ResumeStatus::Resolved,
            _ => ResumeStatus::Cancelled,
        },
        payload: json!(id),
        path: "/resume/0/payload".to_owned(),
    }
}

#[rstest]
#[case("a:yes b:yes", Ok("a b"))]
#[case("b:yes a:no", Ok("a b"))]
#[case("a:yes", Err("waits for b, and the input does not answer it"))]
#[case("", Err("waits for a, b, and the input does not answer them"))]
#[case("a:yes b:yes c:yes", Err("nothing waits that is called c"))]
#[case("a:yes a:no b:yes", Err("a is answered twice"))]
fn an_answer_covers_all_that_waits(#[case] answers: &str, #[case] expected: Result<&str, &str>) {
    let waiting = [waits("a", 100), waits("b", 100)];
    let entries: Vec<ResumeEntry> = answers.split_whitespace().map(entry).collect();
    match (check_resume(&entries, &waiting, UnixMs(50)), expected) {
        (Ok(found), Ok(ids)) => {
            let found: Vec<&str> = found
                .iter()
                .map(|found| found.interrupt.id.as_str())
                .collect();
            assert_eq!(found.join(" "), ids);
        }
        (Err(fault), Err(words)) => assert!(fault.to_string().contains(words), "{fault}"),
        (found, _) => panic!("{found:?}"),
    }
}

#[test]
fn what_expired_may_only_be_called_off() {
    let waiting = [waits("a", 100)];
    let late = check_resume(&[entry("a:yes")], &waiting, UnixMs(100));
    assert_eq!(late, Err(ResumeFault::Expired(waiting[0].id.clone())));
    assert!(check_resume(&[entry("a:no")], &waiting, UnixMs(100)).is_ok());
}

#[rstest]
#[case(json!({"approved": true}), Some((true, ApprovalScope::Once)))]
#[case(json!({"approved": true, "scope": "session"}), Some((true, ApprovalScope::Session)))]
#[case(json!({"approved": false, "scope": "once"}), Some((false, ApprovalScope::Once)))]
#[case(json!({"approved": "true"}), None)]
#[case(json!({"approved": 1}), None)]
#[case(json!({}), None)]
#[case(json!(true), None)]
#[case(json!(null), None)]
#[case(json!({"approved": true, "scope": "forever"}), None)]
#[case(json!({"approved": true, "editedArgs": {}}), None)]
fn an_answer_that_is_not_clear_is_no_yes(
    #[case] payload: Value,
    #[case] expected: Option<(bool, ApprovalScope)>,
) {
    let expected = expected.map(|(approved, scope)| ApprovalAnswer { approved, scope });
    assert_eq!(approval(&payload, "").ok(), expected);
}

#[rstest]
#[case(json!({"approved": 1}), "/resume/1/payload/approved")]
#[case(json!({"approved": true, "scope": "forever"}), "/resume/1/payload/scope")]
#[case(json!(true), "/resume/1/payload")]
fn a_fault_of_an_answer_was_placed_as_if_the_answer_were_all_of_the_body(
    #[case] payload: Value,
    #[case] path: &str,
) {
    let body = json!({
        "threadId": "t", "runId": "r", "messages": [],
        "resume": [
            {"interruptId": "a", "status": "cancelled"},
            {"interruptId": "b", "status": "resolved", "payload": payload},
        ],
    });
    let input = RunAgentInput::parse(body.to_string().as_bytes()).unwrap();
    let entry = &input.resume[1];
    let error = approval(&entry.payload, &entry.path).unwrap_err();
    assert_eq!(error.info().path.as_deref(), Some(path));
}
