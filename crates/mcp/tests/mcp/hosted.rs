//! A host of calls over the real registry and the real pipeline, without sessions or a log.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Attended, CallEnd, CallHost, CallHostError, CallId, Deadline, EntryBody, Event, EventBody,
    EventSeq, EventSink, Exposure, Grant, Journal, JournalError, Listing, NameSet, Outcome, Part,
    PartSource, Principal, Progress, ProgressSink, RawCall, RefusingArtifacts, RefusingSandbox,
    Reply, Role, RunId, Selection, Services, SessionFacts, SessionId, SourceId, Stream,
    SystemClock, Tool, ToolContext, ToolError, ToolName, ToolSource, ToolSpec, Trust, UnixMs,
};
use outfitter_tools::{NativeSource, Pipeline, RunHandle, ToolRegistry, ToolView};
use serde_json::{Value, json};
use tokio::sync::Notify;

pub(crate) struct Hosted {
    registry: ToolRegistry,
    pipeline: Pipeline,
    /// In which sessions it was called, by whom.
    pub(crate) seen: Mutex<Vec<(String, String)>>,
    /// Calls that were begun, and those that were given up.
    pub(crate) begun: Arc<AtomicU64>,
    pub(crate) given_up: Arc<AtomicU64>,
    /// What `late_steps` waits for.
    pub(crate) go_on: Arc<Notify>,
    running: AtomicU64,
    most: AtomicU64,
}

impl Hosted {
    /// The most calls that ran at once.
    pub(crate) fn most_at_once(&self) -> u64 {
        self.most.load(Ordering::SeqCst)
    }

    pub(crate) fn new() -> Arc<Self> {
        let begun = Arc::new(AtomicU64::new(0));
        let given_up = Arc::new(AtomicU64::new(0));
        let go_on = Arc::new(Notify::new());
        let probe = |name: &str, change: fn(&mut ToolSpec)| {
            let schema = json!({"type": "object"});
            let mut spec = ToolSpec::new(
                ToolName::new(name).unwrap(),
                format!("Does {name}."),
                schema,
            );
            change(&mut spec);
            let (begun, given_up, go_on) = (begun.clone(), given_up.clone(), go_on.clone());
            Arc::new(Probe {
                spec,
                begun,
                given_up,
                go_on,
            }) as Arc<dyn Tool>
        };
        let tools = vec![
            probe("echo", |spec| {
                spec.input_schema = Arc::new(
                    json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}),
                );
            }),
            probe("words", |_| {}),
            probe("picture", |_| {}),
            probe("fails", |_| {}),
            probe("steps", |_| {}),
            probe("late_steps", |_| {}),
            probe("hangs", |_| {}),
            probe("secret", |spec| spec.min_role = Role::Admin),
            probe("later", |spec| spec.exposure = Exposure::Deferred),
            probe("unseen", |spec| spec.exposure = Exposure::Hidden),
            probe("abroad", |spec| spec.effects = outfitter_core::Effects::ALL),
        ];
        let source = NativeSource::new(SourceId::new("test").unwrap(), Trust::Builtin, tools);
        let mut hosted = Self::of(Arc::new(source));
        (hosted.begun, hosted.given_up, hosted.go_on) = (begun, given_up, go_on);
        Arc::new(hosted)
    }

    /// A host of the tools of a source.
    pub(crate) fn of(source: Arc<dyn ToolSource>) -> Self {
        let registry = ToolRegistry::default();
        registry.add(source).unwrap();
        Self {
            registry,
            pipeline: Pipeline::default(),
            seen: Mutex::default(),
            begun: Arc::default(),
            given_up: Arc::default(),
            go_on: Arc::default(),
            running: AtomicU64::new(0),
            most: AtomicU64::new(0),
        }
    }

    fn view(&self, who: &Arc<Principal>, session: &SessionId) -> Arc<ToolView> {
        self.registry
            .seal(Grant::full(Role::Admin), Selection::default())
            .view(&SessionFacts {
                who: who.clone(),
                session: session.clone(),
                attended: Attended::No,
                expanded: Arc::default(),
                suggested: None,
                skills: NameSet::all(),
            })
    }
}

pub(crate) fn principal(subject: &str, role: Role) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: "acme".into(),
        subject: subject.into(),
        role,
        channel: "mcp".into(),
        stream: None,
    })
}

#[async_trait]
impl CallHost for Hosted {
    async fn list(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Vec<Listing>, CallHostError> {
        Ok(self.view(&Arc::new(who.clone()), session).listing())
    }

    async fn callable(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Vec<Listing>, CallHostError> {
        Ok(self.view(&Arc::new(who.clone()), session).callable())
    }

    async fn call(
        &self,
        who: Arc<Principal>,
        session: &SessionId,
        call: RawCall,
        events: Arc<dyn EventSink>,
    ) -> Result<CallEnd, CallHostError> {
        let seen = (session.to_string(), who.subject.as_str().to_owned());
        self.seen.lock().unwrap().push(seen);
        let run = RunId::mint(&SystemClock);
        let cancel = events.cancel();
        let journal = Arc::new(Told {
            events,
            session: session.clone(),
            run: run.clone(),
            next: AtomicU64::new(0),
        });
        let view = self.view(&who, session);
        let handle = RunHandle {
            who,
            session: session.clone(),
            run,
            attended: Attended::No,
            cancel,
            deadline: Deadline::NEVER,
            journal,
            sandbox: Arc::new(RefusingSandbox::new()),
            artifacts: Arc::new(RefusingArtifacts),
            clock: Arc::new(SystemClock),
            services: Services::default(),
        };
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let end = self.pipeline.run_direct(&view, call, &handle).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(end?)
    }
}

/// Sends everything on and keeps nothing.
struct Told {
    events: Arc<dyn EventSink>,
    session: SessionId,
    run: RunId,
    next: AtomicU64,
}

impl Told {
    fn tell(&self, body: EventBody) {
        self.events.send(Arc::new(Event {
            seq: EventSeq(self.next.fetch_add(1, Ordering::SeqCst)),
            at: UnixMs(0),
            session: self.session.clone(),
            run: self.run.clone(),
            via: None,
            body,
        }));
    }
}

struct Sink {
    events: Arc<dyn EventSink>,
    session: SessionId,
    run: RunId,
    call: CallId,
}

impl ProgressSink for Sink {
    fn emit(&self, stream: Stream, bytes: &[u8]) {
        let body = EventBody::ToolProgress {
            tool_call_id: self.call.clone(),
            text: String::from_utf8_lossy(bytes).into_owned(),
            stream,
            closed: false,
            dropped_bytes: 0,
        };
        self.events.send(Arc::new(Event {
            seq: EventSeq(0),
            at: UnixMs(0),
            session: self.session.clone(),
            run: self.run.clone(),
            via: None,
            body,
        }));
    }
}

#[async_trait]
impl Journal for Told {
    async fn record(&self, entries: Vec<EntryBody>) -> Result<(), JournalError> {
        for entry in entries {
            if let EntryBody::Event(body) = entry {
                self.tell(body);
            }
        }
        Ok(())
    }

    fn progress(&self, call: &CallId) -> Progress {
        Progress::into(Arc::new(Sink {
            events: self.events.clone(),
            session: self.session.clone(),
            run: self.run.clone(),
            call: call.clone(),
        }))
    }

    fn close_progress(&self, _: &CallId) {}
}

/// Does what its name says.
struct Probe {
    spec: ToolSpec,
    begun: Arc<AtomicU64>,
    given_up: Arc<AtomicU64>,
    go_on: Arc<Notify>,
}

/// Counts when it is dropped.
struct Dropped(Arc<AtomicU64>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Ok(match self.spec.name.as_str() {
            "words" => Outcome::text("only words").into(),
            "picture" => {
                let mut outcome = Outcome::text("[image image/png, 2 bytes]");
                let source = PartSource::Base64 {
                    data: "aGk=".to_owned(),
                };
                outcome.parts = vec![Part::Image {
                    mime: "image/png".to_owned(),
                    source,
                }];
                outcome.into()
            }
            "fails" => return Err(ToolError::failed("the disk is full")),
            "steps" => {
                for step in 0..3 {
                    cx.progress.info(&format!("step {step}"));
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Outcome::json(json!({"steps": 3})).into()
            }
            "late_steps" => {
                self.go_on.notified().await;
                for step in 0..3 {
                    cx.progress.info(&format!("step {step}"));
                }
                Outcome::json(json!({"steps": 3})).into()
            }
            "hangs" => {
                let _dropped = Dropped(self.given_up.clone());
                std::future::pending().await
            }
            _ => Outcome::json(args).into(),
        })
    }
}

/// A host that panics, whatever is asked of it.
pub(crate) struct Broken;

#[async_trait]
impl CallHost for Broken {
    async fn list(&self, _: &Principal, _: &SessionId) -> Result<Vec<Listing>, CallHostError> {
        panic!("the list is broken");
    }

    async fn call(
        &self,
        _: Arc<Principal>,
        _: &SessionId,
        _: RawCall,
        _: Arc<dyn EventSink>,
    ) -> Result<CallEnd, CallHostError> {
        tokio::task::yield_now().await;
        panic!("the call is broken");
    }
}
