//! A run in memory, and tools that do what a test tells them.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    Answer, Arguments, ArtifactChunk, ArtifactError, ArtifactId, ArtifactInfo, ArtifactStore,
    Attended, CallEnd, CallId, Cancel, Clock, Deadline, EntryBody, EventBody, Facts, Grant,
    Journal, JournalError, Message, NewArtifact, Principal, Progress, ProgressSink, RawCall,
    RefusingSandbox, Reply, Role, RunId, Sandbox, SandboxInfo, Scope, Selection, Services,
    SessionFacts, SessionId, SourceId, Stream, Tool, ToolContext, ToolError, ToolName, ToolOutput,
    ToolSpec, Trust, UnixMs,
};
use outfitter_tools::{
    NativeSource, Pipeline, PipelineOptions, RunHandle, ToolRegistry, ToolView, ToolsConfig,
};
use serde_json::{Value, json};

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

type Kept = (NewArtifact, Vec<u8>);

/// Artifacts of any session, in memory.
#[derive(Default)]
pub(crate) struct Artifacts {
    kept: Mutex<BTreeMap<(SessionId, ArtifactId), Kept>>,
    next: AtomicU64,
}

#[async_trait]
impl ArtifactStore for Artifacts {
    async fn create(
        &self,
        _: &Scope,
        session: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        let id = ArtifactId::new(format!("art_{}", self.next.fetch_add(1, Ordering::SeqCst)));
        let key = (session.clone(), id.unwrap());
        self.kept
            .lock()
            .unwrap()
            .insert(key.clone(), (new, Vec::new()));
        Ok(key.1)
    }

    async fn append(
        &self,
        _: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        match self
            .kept
            .lock()
            .unwrap()
            .get_mut(&(session.clone(), id.clone()))
        {
            Some((_, kept)) => kept.extend_from_slice(&bytes),
            None => return Err(ArtifactError::NotFound(id.clone())),
        }
        Ok(())
    }

    async fn read(
        &self,
        _: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        let kept = self.kept.lock().unwrap();
        let (new, bytes) = kept
            .get(&(session.clone(), id.clone()))
            .ok_or_else(|| ArtifactError::NotFound(id.clone()))?;
        let from = usize::try_from(offset).unwrap().min(bytes.len());
        let to = from
            .saturating_add(usize::try_from(max).unwrap())
            .min(bytes.len());
        Ok(ArtifactChunk {
            bytes: Bytes::copy_from_slice(&bytes[from..to]),
            info: ArtifactInfo {
                id: id.clone(),
                mime: new.mime.clone(),
                name: new.name.clone(),
                size: bytes.len() as u64,
                created: Standing.now(),
            },
        })
    }

    async fn delete_session(&self, _: &Scope, _: &SessionId) -> Result<(), ArtifactError> {
        Ok(())
    }
}

impl Artifacts {
    pub(crate) fn put(&self, session: &SessionId, id: &str, mime: &str, bytes: &[u8]) {
        let new = NewArtifact {
            mime: mime.to_owned(),
            name: id.to_owned(),
        };
        let key = (session.clone(), ArtifactId::new(id).unwrap());
        self.kept.lock().unwrap().insert(key, (new, bytes.to_vec()));
    }

    pub(crate) fn text(&self, id: &ArtifactId) -> String {
        let kept = self.kept.lock().unwrap();
        let (_, (_, bytes)) = kept.iter().find(|((_, key), _)| key == id).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    }
}

/// A sandbox that only says what it is.
struct Named(RefusingSandbox, SandboxInfo);

#[async_trait]
impl Sandbox for Named {
    fn info(&self) -> &SandboxInfo {
        &self.1
    }
    async fn spawn(
        &self,
        c: outfitter_core::CommandSpec,
    ) -> Result<outfitter_core::JobId, outfitter_core::SandboxError> {
        self.0.spawn(c).await
    }
    async fn output(
        &self,
        j: &outfitter_core::JobId,
        from: outfitter_core::Offset,
        max: usize,
        wait: Duration,
    ) -> Result<outfitter_core::OutputChunk, outfitter_core::SandboxError> {
        self.0.output(j, from, max, wait).await
    }
    async fn tail(
        &self,
        j: &outfitter_core::JobId,
        max: usize,
    ) -> Result<outfitter_core::OutputChunk, outfitter_core::SandboxError> {
        self.0.tail(j, max).await
    }
    async fn wait(
        &self,
        j: &outfitter_core::JobId,
    ) -> Result<outfitter_core::Exit, outfitter_core::SandboxError> {
        self.0.wait(j).await
    }
    async fn kill(
        &self,
        j: &outfitter_core::JobId,
        grace: Duration,
    ) -> Result<outfitter_core::Killed, outfitter_core::SandboxError> {
        self.0.kill(j, grace).await
    }
    fn jobs(&self) -> Vec<outfitter_core::JobInfo> {
        self.0.jobs()
    }
    fn files(&self) -> &dyn outfitter_core::Files {
        self.0.files()
    }
}

pub(crate) fn sandbox(isolating: bool) -> Arc<dyn Sandbox> {
    let refusing = RefusingSandbox::new();
    let info = SandboxInfo {
        isolating,
        ..refusing.info().clone()
    };
    Arc::new(Named(refusing, info))
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
