//! Approvals that hold beyond their session.

mod home;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use outfitter_agent::{Answered, Input, RunError};
use outfitter_core::*;
use outfitter_tools::{Approval, Rule, Rules};

use crate::harness::*;
use home::*;

#[tokio::test]
async fn always_holds_for_one_person_in_one_place_until_it_ends() {
    let home = Home::new();
    home.approves(&wish("a")).await;
    assert_eq!(home.ran(), 1);
    let [kept] = &home.kept("s").await[..] else {
        panic!()
    };
    assert_eq!(
        (kept.place.as_str(), kept.tool.as_str()),
        ("none /srv/project", "fetch")
    );
    assert_eq!(kept.what, ["https://a.example"]);
    assert_eq!(kept.expires, UnixMs(1_000_000 + 30 * DAY));

    // In another session, and where nobody is there.
    let unattended = Wish {
        attended: Attended::No,
        ..wish("b")
    };
    for wish in [wish("b"), unattended.clone()] {
        assert_eq!(home.goes(&wish).await.outcome, RunOutcome::Success);
    }
    assert_eq!(home.ran(), 3);
    // Nowhere else, and for nobody else.
    for wish in [
        Wish {
            place: "/srv/other",
            ..wish("c")
        },
        Wish {
            place: "/srv/project/below",
            ..wish("d")
        },
        Wish {
            subject: "bob",
            ..wish("e")
        },
    ] {
        assert_eq!(home.goes(&wish).await.outcome, RunOutcome::Waiting);
    }
    home.passes(29);
    assert_eq!(home.goes(&wish("f")).await.outcome, RunOutcome::Success);
    home.passes(1);
    assert_eq!(home.ran(), 4);
    assert_eq!(home.goes(&wish("g")).await.outcome, RunOutcome::Waiting);
    // Expired to denied where nobody can be asked.
    home.goes(&unattended).await;
    assert_eq!(home.ran(), 4);
}

/// Workspaces that are made for a session are alike; a yes in one holds in all of them.
#[tokio::test]
async fn always_holds_in_every_workspace_that_is_a_sessions_own() {
    let home = Home::new();
    let served = |session, place| Wish {
        place,
        ..wish(session)
    };
    home.approves(&served("a", "/data/files/t/s/a")).await;
    let end = home.goes(&served("b", "/data/files/t/s/b")).await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let end = home.goes(&served("c", "/data/other")).await;
    assert_eq!(end.outcome, RunOutcome::Waiting);
}

fn on(session: &'static str, account: &str, workspace: WorkspaceOf) -> Wish {
    Wish {
        backend: "ssh",
        account: Some(Account {
            name: account.to_owned(),
            workspace,
        }),
        ..wish(session)
    }
}

/// A path is not the same place with another backend, on another machine, or of another account.
#[tokio::test]
async fn always_holds_on_no_other_machine_and_with_no_other_backend() {
    let home = Home::new();
    home.approves(&wish("a")).await;
    let far = |session, account| on(session, account, WorkspaceOf::Account);
    let passthrough = Wish {
        backend: "passthrough",
        ..wish("b")
    };
    for elsewhere in [passthrough, far("c", "me@one:22")] {
        assert_eq!(home.goes(&elsewhere).await.outcome, RunOutcome::Waiting);
    }
    home.approves(&far("d", "me@one:22")).await;
    let end = home.goes(&far("e", "me@one:22")).await;
    assert_eq!(end.outcome, RunOutcome::Success);
    for (session, account) in [("f", "me@two:22"), ("g", "you@one:22"), ("h", "me@one:23")] {
        let end = home.goes(&far(session, account)).await;
        assert_eq!(end.outcome, RunOutcome::Waiting, "{account}");
    }
}

/// Where they lie says nothing of it: a path there may be one of ours here.
#[tokio::test]
async fn always_outlives_its_session_in_own_workspaces_on_another_machine() {
    let home = Home::new();
    let at = |session, place, owner| Wish {
        place,
        ..on(session, "me@one:22", owner)
    };
    home.approves(&at("a", "/srv/t/s/a", WorkspaceOf::Session))
        .await;
    let end = home
        .goes(&at("b", "/srv/t/s/b", WorkspaceOf::Session))
        .await;
    assert_eq!(end.outcome, RunOutcome::Success);
    for (session, place) in [("c", "/srv/t/s/a"), ("d", "/data/files/t/s/a")] {
        let end = home.goes(&at(session, place, WorkspaceOf::Account)).await;
        assert_eq!(end.outcome, RunOutcome::Waiting, "{place}");
    }
}

/// Where nobody is there, only what was said to hold without them counts; where nobody shall ever
/// be asked, nothing does.
#[tokio::test]
async fn c10_what_was_approved_for_the_session_counts_only_while_somebody_is_there() {
    let home = Home::new();
    let end = home.goes(&wish("a")).await;
    home.answered(&wish("a"), &end, for_session())
        .await
        .unwrap();
    assert_eq!(home.goes(&wish("a")).await.outcome, RunOutcome::Success);
    assert_eq!(home.ran(), 2);
    let unattended = Wish {
        attended: Attended::No,
        ..wish("a")
    };
    // The run goes on, with a refusal at once.
    assert_eq!(home.goes(&unattended).await.outcome, RunOutcome::Success);
    assert_eq!(home.ran(), 2);

    home.approves(&wish("b")).await;
    assert_eq!(home.goes(&unattended).await.outcome, RunOutcome::Success);
    assert_eq!(home.ran(), 4);
    for attended in [Attended::No, Attended::Yes] {
        let never = Wish {
            attended,
            approval: Approval::Never,
            ..wish("a")
        };
        assert_eq!(home.goes(&never).await.outcome, RunOutcome::Success);
        assert_eq!(home.ran(), 4);
    }
}

#[tokio::test]
async fn what_is_taken_back_or_denied_holds_at_once() {
    let home = Home::new();
    home.approves(&wish("a")).await;
    let deny = Rule {
        tool: "fetch".to_owned(),
        args: None,
        tenant: None,
        role: None,
        channel: None,
        agent: None,
        decision: Verdict::Deny,
    };
    assert!(Rules::new(vec![deny.clone()], Arc::new(outfitter_tools::DefaultPolicy)).is_ok());
    let url = Rule {
        args: Some("url=https://a.*".into()),
        ..deny
    };
    home.goes(&Wish {
        rules: vec![url],
        ..wish("a")
    })
    .await;
    assert_eq!(home.ran(), 1);
    // Fewer days end those of before sooner, and more do not bring them back.
    home.passes(2);
    let end = home
        .goes(&Wish {
            days: 1,
            ..wish("b")
        })
        .await;
    assert_eq!(end.outcome, RunOutcome::Waiting);
    assert_eq!(
        home.goes(&Wish {
            days: 365,
            ..wish("c")
        })
        .await
        .outcome,
        RunOutcome::Success
    );

    let [kept] = &home.kept("s").await[..] else {
        panic!()
    };
    let scope = Scope {
        tenant: "t".into(),
        subject: "s".into(),
    };
    assert!(home.log.revoke(&scope, &kept.id).await.unwrap());
    // Also in the session that it was given in.
    for session in ["a", "d"] {
        assert_eq!(home.goes(&wish(session)).await.outcome, RunOutcome::Waiting);
    }
    assert_eq!(home.ran(), 2);
}

/// E06: a decision is for its call, once; nothing is remembered twice or for another.
#[tokio::test]
async fn e06_a_decision_is_neither_replayed_nor_lands_on_another_call() {
    let home = Home::new();
    let asked = home.goes(&wish("a")).await;
    let other = home.goes(&wish("b")).await;
    // In another session it does not exist.
    let wrong = home.answered(&wish("b"), &asked, always()).await;
    assert!(matches!(wrong, Err(RunError::Answer(_))), "{wrong:?}");
    let bob = Wish {
        subject: "bob",
        ..wish("a")
    };
    assert!(home.answered(&bob, &asked, always()).await.is_err());
    assert_eq!(home.kept("s").await.len() + home.kept("bob").await.len(), 0);

    home.answered(&wish("a"), &asked, always()).await.unwrap();
    let again = home.answered(&wish("a"), &asked, always()).await;
    assert!(again.is_err(), "{again:?}");
    assert_eq!((home.ran(), home.kept("s").await.len()), (1, 1));
    // What waits is decided by its own answer, whatever was approved meanwhile.
    let no = home
        .answered(&wish("b"), &other, serde_json::json!(false))
        .await;
    assert_eq!(no.unwrap().outcome, RunOutcome::Success);
    assert_eq!(home.ran(), 1);
    // Reading the log again gives nothing back that was taken back.
    let scope = Scope {
        tenant: "t".into(),
        subject: "s".into(),
    };
    let id = home.kept("s").await[0].id.clone();
    home.log.revoke(&scope, &id).await.unwrap();
    assert_eq!(home.goes(&wish("a")).await.outcome, RunOutcome::Waiting);
    assert!(home.kept("s").await.is_empty());
}

#[tokio::test]
async fn only_administrators_and_the_person_at_the_terminal_approve_for_good() {
    let user = |session, channel| Wish {
        role: Role::User,
        channel,
        ..wish(session)
    };
    let home = Home::new();
    let end = home.goes(&user("a", "http")).await;
    let refused = home.answered(&user("a", "http"), &end, always()).await;
    assert!(matches!(refused, Err(RunError::Answer(_))), "{refused:?}");
    // The question stands, and can be answered for less.
    let end = home.answered(&user("a", "http"), &end, for_session()).await;
    assert_eq!(end.unwrap().outcome, RunOutcome::Success);
    assert!(home.kept("s").await.is_empty());
    // Who was an administrator when it was asked, and is none any more.
    let end = home.goes(&wish("b")).await;
    let error = home
        .answered(&user("b", "http"), &end, always())
        .await
        .unwrap_err();
    assert_eq!(error.to_info().code, Code::NotPermitted);
    home.approves(&user("c", "cli")).await;
    assert_eq!(home.kept("s").await.len(), 1);
}

#[tokio::test]
async fn a_yes_of_an_administrator_is_none_for_a_lower_role() {
    let home = Home::new();
    home.approves(&wish("a")).await;
    let user = Wish {
        role: Role::User,
        ..wish("b")
    };
    assert_eq!(home.goes(&user).await.outcome, RunOutcome::Waiting);
    assert_eq!(home.goes(&wish("c")).await.outcome, RunOutcome::Success);
}

#[tokio::test]
async fn what_cannot_be_kept_holds_for_its_call_and_is_said() {
    let home = Home::new();
    let asked = home.goes(&wish("a")).await;
    home.approves(&wish("b")).await;
    let scope = Scope {
        tenant: "t".into(),
        subject: "s".into(),
    };
    let [one] = &home.kept("s").await[..] else {
        panic!()
    };
    for number in 1..MAX_STANDING_APPROVALS {
        let more = StandingApproval {
            id: ApprovalId::new(format!("apr_{number}")).unwrap(),
            interrupt: InterruptId::new(format!("int_{number}")).unwrap(),
            ..one.clone()
        };
        home.log.remember(&scope, more).await.unwrap();
    }
    let input = Input::Answer(Answered {
        interrupt: asked.waiting[0].id.clone(),
        value: always(),
        by: AnswerKind::Subject {
            subject: "s".into(),
        },
    });
    let (end, events) = home.process(&wish("a")).run(input).await;
    assert_eq!(end.unwrap().outcome, RunOutcome::Success);
    let warned = events.iter().any(|event| {
        matches!(&event.body, EventBody::Warning { code: WarningCode::NotKept, message } if message.contains("take some back"))
    });
    assert!(warned, "{events:#?}");
    assert_eq!(home.ran(), 2);
}

/// E06: what has ended is not made again by an approval after a restart, and an approval that
/// nobody gave in time is a no.
#[tokio::test]
async fn e06_after_a_restart_what_ran_stays_and_what_waits_runs_once() {
    for in_time in [true, false] {
        let fetch = Arc::new(Counting::echo("fetch", Effects::of(&[Effect::Network])));
        let count = Arc::new(Counting::echo("count", Effects::of(&[Effect::Write])));
        let clock = Arc::new(Hands(AtomicU64::new(1_000_000)));
        let mut world = World::new(vec![fetch.clone(), count.clone()]);
        world.attended = Attended::Yes;
        let script: Script = Arc::new(|replies, _| match replies {
            0 => calls(&[("f", "fetch", "{}"), ("c", "count", "{}")]),
            _ => say("done"),
        });
        let process = |_: &str| {
            let process = world.alive(script.clone());
            process
                .agent
                .switch()
                .set(|parts| outfitter_agent::AgentParts {
                    clock: clock.clone(),
                    ..parts.clone()
                });
            process
        };
        let (end, _) = process("first").prompt("go").await;
        assert_eq!(end.outcome, RunOutcome::Waiting);
        let ran = |tool: &Counting| tool.ran.lock().unwrap().values().sum::<u32>();
        assert_eq!((ran(&count), ran(&fetch)), (1, 0));
        let input = if in_time {
            Input::Answer(Answered {
                interrupt: end.waiting[0].id.clone(),
                value: true.into(),
                by: AnswerKind::Subject {
                    subject: "s".into(),
                },
            })
        } else {
            clock.0.fetch_add(DAY + 1, Ordering::SeqCst);
            Input::Continue
        };
        let (end, _) = process("second").run(input).await;
        assert_eq!(end.unwrap().outcome, RunOutcome::Success);
        assert_eq!((ran(&count), ran(&fetch)), (1, u32::from(in_time)));
        let outputs = world.outputs().await;
        assert_eq!((outputs["c"].len(), outputs["f"].len()), (1, 1));
        let status = if in_time {
            Status::Success
        } else {
            Status::Denied
        };
        assert_eq!(outputs["f"][0].status, status);
    }
}
