//! A person's sessions over one store of approvals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use outfitter_agent::{Answered, Input, RunEnd, RunError, Standing};
use outfitter_core::*;
use outfitter_store::MemoryLog;
use outfitter_tools::{Approval, Pipeline, PipelineOptions, Rule};

use crate::harness::*;

pub(super) const DAY: u64 = 24 * 60 * 60 * 1_000;

#[derive(Default)]
pub(super) struct Hands(pub(super) AtomicU64);

impl Clock for Hands {
    fn now(&self) -> UnixMs {
        UnixMs(self.0.load(Ordering::SeqCst))
    }
}

/// A person's sessions, each of its own process, over one store.
pub(super) struct Home {
    pub(super) log: Arc<MemoryLog>,
    pub(super) clock: Arc<Hands>,
    pub(super) tool: Arc<Counting>,
}

/// Who runs where.
#[derive(Clone)]
pub(super) struct Wish {
    pub(super) session: &'static str,
    pub(super) subject: &'static str,
    pub(super) place: &'static str,
    pub(super) role: Role,
    pub(super) channel: &'static str,
    pub(super) attended: Attended,
    pub(super) approval: Approval,
    pub(super) days: u64,
    pub(super) rules: Vec<Rule>,
    pub(super) backend: &'static str,
    pub(super) account: Option<Account>,
}

pub(super) fn wish(session: &'static str) -> Wish {
    Wish {
        session,
        subject: "s",
        place: "/srv/project",
        role: Role::Admin,
        channel: "http",
        attended: Attended::Yes,
        approval: Approval::Ask,
        days: 30,
        rules: Vec::new(),
        backend: "none",
        account: None,
    }
}

impl Home {
    pub(super) fn new() -> Self {
        Self {
            log: Arc::default(),
            clock: Arc::new(Hands(AtomicU64::new(1_000_000))),
            tool: Arc::new(Counting::echo("fetch", Effects::of(&[Effect::Network]))),
        }
    }

    /// A process whose model makes one call in each turn.
    pub(super) fn process(&self, wish: &Wish) -> Process {
        let mut world = World::new(vec![self.tool.clone()]);
        world.attended = wish.attended;
        world.who = Arc::new(Principal {
            tenant: "t".into(),
            subject: wish.subject.into(),
            role: wish.role,
            channel: wish.channel.into(),
            stream: None,
        });
        world.rules.clone_from(&wish.rules);
        let script: Script = Arc::new(|replies, _| match replies % 2 {
            0 => calls(&[(
                &format!("f{replies}"),
                "fetch",
                "{\"url\":\"https://a.example\"}",
            )]),
            _ => say("done"),
        });
        let mut process = world.process(Model::new(script), self.log.clone());
        process.session.id = SessionId::new(wish.session).unwrap();
        process.session.sandbox = Arc::new(RefusingSandbox::of(SandboxInfo {
            backend: wish.backend.to_owned(),
            account: wish.account.clone(),
            ..RefusingSandbox::at(wish.place.into()).info().clone()
        }));
        let standing = Arc::new(Standing {
            store: self.log.clone(),
            lasts: Duration::from_millis(wish.days * DAY),
            own_workspaces: "/data/files".into(),
        });
        let pipeline = Pipeline::new(PipelineOptions {
            approval: wish.approval,
            ..PipelineOptions::default()
        });
        let changed = process
            .agent
            .switch()
            .set(|parts| outfitter_agent::AgentParts {
                clock: self.clock.clone(),
                pipeline: Arc::new(pipeline),
                services: parts.services.clone().with(standing),
                ..parts.clone()
            });
        assert!(changed);
        process
    }

    /// How a new turn ends.
    pub(super) async fn goes(&self, wish: &Wish) -> RunEnd {
        self.process(wish).prompt("go").await.0
    }

    /// Answers what waits.
    pub(super) async fn answered(
        &self,
        wish: &Wish,
        end: &RunEnd,
        said: serde_json::Value,
    ) -> Result<RunEnd, RunError> {
        let input = Input::Answer(Answered {
            interrupt: end.waiting[0].id.clone(),
            value: said,
            by: AnswerKind::Subject {
                subject: wish.subject.into(),
            },
        });
        self.process(wish).run(input).await.0
    }

    /// Approves the call of a new turn for good.
    pub(super) async fn approves(&self, wish: &Wish) {
        let end = self.goes(wish).await;
        assert_eq!(end.outcome, RunOutcome::Waiting);
        let end = self.answered(wish, &end, always()).await.unwrap();
        assert_eq!(end.outcome, RunOutcome::Success);
    }

    pub(super) fn passes(&self, days: u64) {
        self.clock.0.fetch_add(days * DAY, Ordering::SeqCst);
    }

    pub(super) fn ran(&self) -> u32 {
        self.tool.ran.lock().unwrap().values().sum()
    }

    pub(super) async fn kept(&self, subject: &str) -> Vec<StandingApproval> {
        let scope = Scope {
            tenant: "t".into(),
            subject: subject.into(),
        };
        self.log.standing(&scope).await.unwrap()
    }
}

pub(super) fn always() -> serde_json::Value {
    serde_json::json!({"approved": true, "scope": "always"})
}

pub(super) fn for_session() -> serde_json::Value {
    serde_json::json!({"approved": true, "scope": "session"})
}
