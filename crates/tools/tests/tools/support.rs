//! A run in memory, and tools that do what a test tells them.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use outfitter_core::{
    Answer, Arguments, Attended, CallEnd, CallId, Cancel, Clock, Deadline, EntryBody, EventBody,
    Facts, Grant, Journal, JournalError, Message, Principal, Progress, ProgressSink, RawCall,
    Reply, Role, RunId, Selection, Services, SessionFacts, SessionId, SourceId, Stream, Tool,
    ToolContext, ToolError, ToolName, ToolOutput, ToolSpec, Trust, UnixMs,
};
use outfitter_tools::{
    NativeSource, Pipeline, PipelineOptions, RunHandle, ToolRegistry, ToolView, ToolsConfig,
};
use serde_json::{Value, json};

pub(crate) use crate::seams::{Artifacts, sandbox};

/// A clock that stands.
pub(crate) struct Standing;

impl Clock for Standing {
    fn now(&self) -> UnixMs {
        UnixMs(1_700_000_000_000)
    }
}

/// What a journal saw, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    Recorded(EntryBody),
    Progress(String),
    Closed(CallId),
}

/// Keeps everything.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
    /// Refuses to record an entry of this kind.
    pub(crate) refuses: Option<&'static str>,
}

struct Sink(Arc<Mutex<Vec<Seen>>>);

impl ProgressSink for Sink {
    fn emit(&self, _: Stream, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.0.lock().unwrap().push(Seen::Progress(text));
    }
}

#[async_trait]
impl Journal for Memory {
    async fn record(&self, entries: Vec<EntryBody>) -> Result<(), JournalError> {
        if entries
            .iter()
            .any(|entry| self.refuses == Some(entry.kind()))
        {
            return Err(outfitter_core::AppendError::Conflict {
                head: outfitter_core::Seq(1),
            }
            .into());
        }
        let mut seen = self.seen.lock().unwrap();
        seen.extend(entries.into_iter().map(Seen::Recorded));
        Ok(())
    }

    fn progress(&self, _: &CallId) -> Progress {
        Progress::into(Arc::new(Sink(self.seen.clone())))
    }

    fn close_progress(&self, call: &CallId) {
        self.seen.lock().unwrap().push(Seen::Closed(call.clone()));
    }
}

impl Memory {
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn messages(&self) -> Vec<Arc<Message>> {
        self.seen()
            .into_iter()
            .filter_map(|seen| match seen {
                Seen::Recorded(EntryBody::Event(EventBody::Message(message))) => Some(message),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn entries(&self) -> Vec<EntryBody> {
        let recorded = |seen| match seen {
            Seen::Recorded(entry) => Some(entry),
            Seen::Progress(_) | Seen::Closed(_) => None,
        };
        self.seen().into_iter().filter_map(recorded).collect()
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        self.seen()
            .into_iter()
            .map(|seen| match seen {
                Seen::Recorded(entry) => entry.kind().to_owned(),
                Seen::Progress(text) => format!("progress {text:?}"),
                Seen::Closed(_) => "closed".to_owned(),
            })
            .collect()
    }
}

type Replying<'a> = Pin<Box<dyn Future<Output = Result<Reply, ToolError>> + Send + 'a>>;
type Call = Box<dyn for<'a> Fn(&'a ToolContext, Value) -> Replying<'a> + Send + Sync>;
type Judge = Box<dyn Fn(&ToolSpec, &Value) -> Result<Facts, ToolError> + Send + Sync>;
type Tailor = Box<dyn Fn(&ToolSpec, &SessionFacts) -> Option<ToolSpec> + Send + Sync>;

/// A tool that does what it is told.
pub(crate) struct Probe {
    pub(crate) spec: ToolSpec,
    call: Call,
    resume: Option<Call>,
    facts: Option<Judge>,
    tailor: Option<Tailor>,
}

impl Probe {
    /// Takes anything and gives its arguments back.
    pub(crate) fn new(name: &str) -> Self {
        let schema = json!({"type": "object"});
        Self {
            spec: ToolSpec::new(
                ToolName::new(name).unwrap(),
                format!("Probes {name}."),
                schema,
            ),
            call: Box::new(|_, args| {
                Box::pin(async move { Ok(outfitter_core::Outcome::json(args).into()) })
            }),
            resume: None,
            facts: None,
            tailor: None,
        }
    }

    pub(crate) fn spec(mut self, change: impl FnOnce(&mut ToolSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    pub(crate) fn schema(self, schema: Value) -> Self {
        self.spec(|spec| spec.input_schema = Arc::new(schema))
    }

    pub(crate) fn call(
        mut self,
        call: impl for<'a> Fn(&'a ToolContext, Value) -> Replying<'a> + Send + Sync + 'static,
    ) -> Self {
        self.call = Box::new(call);
        self
    }

    pub(crate) fn gives(
        self,
        reply: impl Fn() -> Result<Reply, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let reply = Arc::new(reply);
        self.call(move |_, _| {
            let reply = reply.clone();
            Box::pin(async move { reply() })
        })
    }

    pub(crate) fn resume(
        mut self,
        resume: impl for<'a> Fn(&'a ToolContext, Value) -> Replying<'a> + Send + Sync + 'static,
    ) -> Self {
        self.resume = Some(Box::new(resume));
        self
    }

    pub(crate) fn facts(
        mut self,
        facts: impl Fn(&ToolSpec, &Value) -> Result<Facts, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.facts = Some(Box::new(facts));
        self
    }

    pub(crate) fn tailor(
        mut self,
        tailor: impl Fn(&ToolSpec, &SessionFacts) -> Option<ToolSpec> + Send + Sync + 'static,
    ) -> Self {
        self.tailor = Some(Box::new(tailor));
        self
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }
    fn tailor(&self, session: &SessionFacts) -> Option<ToolSpec> {
        self.tailor.as_ref()?(&self.spec, session)
    }
    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        match &self.facts {
            Some(facts) => facts(&self.spec, args),
            None => Ok(Facts::of(&self.spec)),
        }
    }
    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        (self.call)(cx, args).await
    }
    async fn resume(
        &self,
        cx: &ToolContext,
        args: Value,
        state: Value,
        answer: Answer,
    ) -> Result<Reply, ToolError> {
        match &self.resume {
            Some(resume) => {
                let given = json!({"args": args, "state": state, "answer": answer.value});
                resume(cx, given).await
            }
            None => Err(ToolError::internal("this tool does not wait")),
        }
    }
}

pub(crate) fn principal(role: Role) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: "acme".into(),
        subject: "ann".into(),
        role,
        channel: "test".into(),
        stream: None,
    })
}

pub(crate) fn source(id: &str, trust: Trust, tools: Vec<Arc<dyn Tool>>) -> Arc<NativeSource> {
    Arc::new(NativeSource::new(SourceId::new(id).unwrap(), trust, tools))
}

/// A run of one person in one session, with some tools.
pub(crate) struct World {
    pub(crate) registry: ToolRegistry,
    pub(crate) journal: Arc<Memory>,
    pub(crate) artifacts: Arc<Artifacts>,
    pub(crate) pipeline: Pipeline,
    pub(crate) run: RunHandle,
    pub(crate) grant: Grant,
}

impl World {
    pub(crate) fn new(tools: impl IntoIterator<Item = Probe>) -> Self {
        let tools = tools
            .into_iter()
            .map(|tool| Arc::new(tool) as Arc<dyn Tool>)
            .collect();
        Self::of(tools)
    }

    pub(crate) fn of(tools: Vec<Arc<dyn Tool>>) -> Self {
        let registry = ToolRegistry::new(ToolsConfig::default());
        registry.add(source("test", Trust::Builtin, tools)).unwrap();
        assert_eq!(registry.faults(), Vec::new());
        let journal = Arc::new(Memory::default());
        let artifacts = Arc::new(Artifacts::default());
        Self {
            registry,
            run: RunHandle {
                who: principal(Role::User),
                session: SessionId::new("ses").unwrap(),
                run: RunId::new("run").unwrap(),
                attended: Attended::No,
                cancel: Cancel::new(),
                deadline: Deadline::NEVER,
                journal: journal.clone(),
                sandbox: sandbox(true),
                artifacts: artifacts.clone(),
                clock: Arc::new(Standing),
                services: Services::default(),
            },
            journal,
            artifacts,
            pipeline: Pipeline::default(),
            grant: Grant::full(Role::Admin),
        }
    }

    pub(crate) fn role(mut self, role: Role) -> Self {
        self.run.who = principal(role);
        self
    }

    pub(crate) fn options(mut self, options: PipelineOptions) -> Self {
        self.pipeline = Pipeline::new(options);
        self
    }

    pub(crate) fn facts(&self) -> SessionFacts {
        SessionFacts {
            who: self.run.who.clone(),
            session: self.run.session.clone(),
            attended: self.run.attended,
            expanded: Default::default(),
            suggested: None,
            skills: Default::default(),
        }
    }

    pub(crate) fn view(&self) -> Arc<ToolView> {
        self.registry
            .seal(self.grant.clone(), Selection::default())
            .view(&self.facts())
    }

    pub(crate) async fn end(&self, name: &str, raw: &str) -> Result<CallEnd, JournalError> {
        let view = self.view();
        self.pipeline.run(&view, call(name, raw), &self.run).await
    }

    pub(crate) async fn output(&self, name: &str, raw: &str) -> Arc<ToolOutput> {
        match self.end(name, raw).await.unwrap() {
            CallEnd::Output(output) => output,
            CallEnd::Waiting(interrupt) => panic!("waits: {interrupt:?}"),
        }
    }

    /// The text that a model reads of the last call.
    pub(crate) fn read_by_model(&self) -> String {
        self.journal.messages().last().unwrap().content()
    }
}

pub(crate) fn call(name: &str, raw: &str) -> RawCall {
    RawCall {
        id: CallId::new("call_1").unwrap(),
        name: name.to_owned(),
        arguments: Arguments::parse(raw),
    }
}
