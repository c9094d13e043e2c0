//! A session in memory, tools that count, and a model that answers by a function.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use outfitter_agent::{
    Agent, AgentParts, AgentSettings, EventQueue, Input, Limits, ProgressSettings, RunEnd,
    RunError, RunRequest, Session, Told,
};
use outfitter_core::*;
use outfitter_store::{MemoryArtifacts, MemoryLog};
use outfitter_tools::{
    DefaultPolicy, NativeSource, Pipeline, PipelineOptions, Presentation, Rule, Rules,
    ToolRegistry, ToolsConfig,
};
use serde_json::{Value, json};

/// What a model answers, by the number of replies already in the request.
pub(crate) type Script =
    Arc<dyn Fn(usize, &ModelRequest) -> Vec<Result<ModelDelta, ModelError>> + Send + Sync>;

/// A model that answers by a function and remembers what it was asked.
pub(crate) struct Model {
    info: ModelInfo,
    script: Script,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Model {
    pub(crate) fn new(script: Script) -> Arc<Self> {
        Arc::new(Self {
            info: ModelInfo {
                provider: "test".to_owned(),
                name: "function".to_owned(),
                vision: false,
                context_tokens: None,
            },
            script,
            asked: Mutex::default(),
        })
    }
}

#[async_trait]
impl ModelProvider for Model {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(&self, request: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        self.asked.lock().unwrap().push(seen(&request));
        let replies = request
            .messages
            .iter()
            .filter(|m| m.role == MessageRole::Assistant)
            .count();
        let mut deltas = (self.script)(replies, &request);
        if let Some(Err(_)) = deltas.first() {
            return Err(deltas.remove(0).unwrap_err());
        }
        Ok(futures_util::stream::iter(deltas).boxed())
    }
}

/// Everything of a request that reaches a provider.
pub(crate) fn seen(request: &ModelRequest) -> String {
    let messages: Vec<Value> = request
        .messages
        .iter()
        .map(|message| {
            let of = message
                .output
                .as_ref()
                .map(|output| output.tool_call_id.to_string());
            json!([message.role, message.parts, of])
        })
        .collect();
    let tools: Vec<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    canonical(&json!({"system": &*request.system, "messages": messages, "tools": tools}))
}

pub(crate) fn text(text: &str) -> Result<ModelDelta, ModelError> {
    Ok(ModelDelta::Text(text.to_owned()))
}

pub(crate) fn stop(reason: StopReason) -> Result<ModelDelta, ModelError> {
    Ok(ModelDelta::Stopped(reason))
}

pub(crate) fn say(words: &str) -> Vec<Result<ModelDelta, ModelError>> {
    vec![text(words), stop(StopReason::End)]
}

pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Vec<Result<ModelDelta, ModelError>> {
    let mut deltas: Vec<Result<ModelDelta, ModelError>> = calls
        .iter()
        .enumerate()
        .map(|(index, (id, name, arguments))| {
            Ok(ModelDelta::ToolCall(ToolCallDelta {
                index: Some(index as u64),
                id: Some((*id).to_owned()),
                name: Some((*name).to_owned()),
                arguments: (*arguments).to_owned(),
            }))
        })
        .collect();
    deltas.push(stop(StopReason::ToolCalls));
    deltas
}

pub(crate) type Act = Arc<
    dyn Fn(ToolContext, Value) -> futures_util::future::BoxFuture<'static, Result<Reply, ToolError>>
        + Send
        + Sync,
>;

/// A tool that does what a function says, and counts how often each call ran.
pub(crate) struct Counting {
    spec: ToolSpec,
    act: Act,
    pub(crate) ran: Arc<Mutex<HashMap<CallId, u32>>>,
}

impl Counting {
    pub(crate) fn new(name: &str, effects: Effects, act: Act) -> Self {
        let schema = json!({"type": "object"});
        let mut spec = ToolSpec::new(ToolName::new(name).unwrap(), "a tool of the tests", schema);
        spec.effects = effects;
        Self {
            spec,
            act,
            ran: Arc::default(),
        }
    }

    pub(crate) fn idempotent(mut self) -> Self {
        self.spec.idempotent = true;
        self
    }

    /// Gives its arguments back.
    pub(crate) fn echo(name: &str, effects: Effects) -> Self {
        Self::new(
            name,
            effects,
            Arc::new(|_, args| Box::pin(async move { Ok(Outcome::json(args).into()) })),
        )
    }
}

#[async_trait]
impl Tool for Counting {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        *self.ran.lock().unwrap().entry(cx.call.clone()).or_default() += 1;
        (self.act)(cx.clone(), args).await
    }

    async fn resume(
        &self,
        _: &ToolContext,
        _: Value,
        state: Value,
        answer: Answer,
    ) -> Result<Reply, ToolError> {
        Ok(Outcome::json(json!({"state": state, "answer": answer.value})).into())
    }
}

/// A log that takes a number of appends and then is gone, as when its process dies.
pub(crate) struct Mortal {
    pub(crate) inner: Arc<MemoryLog>,
    pub(crate) left: AtomicU64,
}

#[async_trait]
impl Log for Mortal {
    async fn append(&self, scope: &Scope, append: Append<'_>) -> Result<Seq, AppendError> {
        let alive = |left: u64| left.checked_sub(1);
        if self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, alive)
            .is_err()
        {
            return Err(AppendError::Store(StoreError::Backend {
                message: "the process is dead".to_owned(),
                source: None,
            }));
        }
        self.inner.append(scope, append).await
    }

    async fn read(
        &self,
        sc: &Scope,
        s: &SessionId,
        from: Seq,
        limit: u32,
    ) -> Result<Page, StoreError> {
        self.inner.read(sc, s, from, limit).await
    }

    async fn list(&self, scope: &Scope, page: PageRequest) -> Result<Sessions, StoreError> {
        self.inner.list(scope, page).await
    }

    async fn delete(&self, scope: &Scope, session: &SessionId) -> Result<(), StoreError> {
        self.inner.delete(scope, session).await
    }
}

/// A world: what outlives a process, and what a process is made of.
pub(crate) struct World {
    pub(crate) log: Arc<MemoryLog>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) settings: AgentSettings,
    pub(crate) who: Arc<Principal>,
    pub(crate) attended: Attended,
    pub(crate) told: Told,
    pub(crate) presentation: Presentation,
    pub(crate) rules: Vec<Rule>,
}

impl World {
    pub(crate) fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self {
            log: Arc::new(MemoryLog::default()),
            tools,
            settings: AgentSettings {
                system_prompt: "be brief".into(),
                limits: Limits {
                    max_turns: 40,
                    max_total_tokens: None,
                    identical_failures: 3,
                },
                max_tool_concurrency: 10,
                workflows: Arc::default(),
                suggested_actions: false,
                progress: ProgressSettings::default(),
            },
            who: Arc::new(Principal {
                tenant: "t".into(),
                subject: "s".into(),
                role: Role::Admin,
                channel: "test".into(),
                stream: None,
            }),
            attended: Attended::No,
            told: Told::default(),
            presentation: Presentation::default(),
            rules: Vec::new(),
        }
    }

    /// A process: an agent and the session, over this log or a mortal one around it.
    pub(crate) fn process(&self, model: Arc<Model>, log: Arc<dyn Log>) -> Process {
        let registry = ToolRegistry::new(ToolsConfig {
            presentation: self.presentation.clone(),
            policy: Arc::new(Rules::new(self.rules.clone(), Arc::new(DefaultPolicy)).unwrap()),
            ..ToolsConfig::default()
        });
        let id = SourceId::new("builtin").unwrap();
        registry
            .add(Arc::new(NativeSource::new(
                id,
                Trust::Builtin,
                self.tools.clone(),
            )))
            .unwrap();
        let agent = Agent::new(AgentParts {
            model: model.clone(),
            pipeline: Arc::new(Pipeline::new(PipelineOptions::default())),
            log,
            artifacts: Arc::new(MemoryArtifacts::new(Arc::new(SystemClock))),
            clock: Arc::new(SystemClock),
            services: Services::default().with::<dyn ModelProvider>(model.clone()),
            settings: self.settings.clone(),
        });
        let session = Session {
            id: SessionId::new("s").unwrap(),
            who: self.who.clone(),
            proxy: registry.seal(Grant::full(self.who.role), Selection::default()),
            sandbox: Arc::new(RefusingSandbox::new()),
            attended: self.attended,
            told: self.told.clone(),
        };
        Process {
            agent,
            session,
            model,
        }
    }

    pub(crate) fn alive(&self, script: Script) -> Process {
        self.process(Model::new(script), self.log.clone())
    }

    pub(crate) async fn entries(&self) -> Vec<Arc<Entry>> {
        let scope = Scope::from(&*self.who);
        let session = SessionId::new("s").unwrap();
        self.log
            .read(&scope, &session, Seq(1), 10_000)
            .await
            .unwrap()
            .entries
    }

    /// The outputs in the log, by call.
    pub(crate) async fn outputs(&self) -> HashMap<String, Vec<Arc<ToolOutput>>> {
        let mut outputs: HashMap<String, Vec<Arc<ToolOutput>>> = HashMap::new();
        for entry in self.entries().await {
            if let EntryBody::Event(EventBody::Message(message)) = &entry.body
                && let Some(output) = &message.output
            {
                outputs
                    .entry(output.tool_call_id.to_string())
                    .or_default()
                    .push(output.clone());
            }
        }
        outputs
    }
}

pub(crate) struct Process {
    pub(crate) agent: Agent,
    pub(crate) session: Session,
    pub(crate) model: Arc<Model>,
}

impl Process {
    pub(crate) async fn run(&self, input: Input) -> (Result<RunEnd, RunError>, Vec<Arc<Event>>) {
        self.run_until(input, Cancel::new()).await
    }

    pub(crate) async fn run_until(
        &self,
        input: Input,
        cancel: Cancel,
    ) -> (Result<RunEnd, RunError>, Vec<Arc<Event>>) {
        self.run_request(input.into(), cancel).await
    }

    pub(crate) async fn run_request(
        &self,
        request: RunRequest,
        cancel: Cancel,
    ) -> (Result<RunEnd, RunError>, Vec<Arc<Event>>) {
        let queue = EventQueue::new();
        let end = self
            .agent
            .run(&self.session, request, cancel, queue.clone())
            .await;
        queue.close();
        let mut events = Vec::new();
        while let Some(event) = queue.next().await {
            events.push(event);
        }
        check_order(&events);
        (end, events)
    }

    pub(crate) async fn prompt(&self, words: &str) -> (RunEnd, Vec<Arc<Event>>) {
        let (end, events) = self.run(Input::Prompt(words.to_owned())).await;
        (end.unwrap(), events)
    }
}

/// What holds for the events of every run, however it ends.
pub(crate) fn check_order(events: &[Arc<Event>]) {
    let mut closed = std::collections::HashSet::new();
    let mut done = std::collections::HashSet::new();
    for (place, event) in (1..).zip(events) {
        assert_eq!(event.seq.0, place, "numbers rise by one: {event:?}");
        match &event.body {
            EventBody::RunStarted(_) => assert_eq!(place, 1),
            EventBody::ToolProgress {
                tool_call_id,
                closed: now,
                ..
            } => {
                assert!(!closed.contains(tool_call_id), "nothing follows closed");
                assert!(!done.contains(tool_call_id), "nothing follows the result");
                if *now {
                    closed.insert(tool_call_id.clone());
                }
            }
            EventBody::Message(message) => {
                if let Some(output) = &message.output {
                    assert!(
                        done.insert(output.tool_call_id.clone()),
                        "one result a call"
                    );
                }
            }
            EventBody::RunFinished { .. } => assert_eq!(place as usize, events.len()),
            _ => {}
        }
    }
}

pub(crate) fn bodies(events: &[Arc<Event>]) -> Vec<&EventBody> {
    events.iter().map(|event| &event.body).collect()
}
