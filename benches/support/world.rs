//! A session in memory or in SQLite, with tools that do next to nothing.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter::{
    Agent, Append, ArtifactStore, Attended, CallId, Cancel, Clock, Deadline, EntryBody, EventSeq,
    Fence, Grant, Journal, JournalError, Log, ModelProvider, NewEntry, Principal, Progress,
    RefusingSandbox, Role, RunId, Scope, Selection, Seq, Services, Session, SessionId, SourceId,
    Stream, SystemClock, Tool, ToolContext, Trust,
};
use outfitter_agent::{AgentParts, AgentSettings, Limits, ProgressSettings, Told};
use outfitter_store::MemoryArtifacts;
use outfitter_tools::{NativeSource, Pipeline, RunHandle, ToolProxy, ToolRegistry, ToolView};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::Fallible;

/// What `echo` takes and gives.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    /// A text.
    pub(crate) text: String,
    /// A number.
    pub(crate) n: i64,
}

/// Arguments of `echo`, as a model writes them.
pub(crate) const ECHO_ARGUMENTS: &str = r#"{"text":"hello there","n":7}"#;

/// Gives its arguments back.
#[outfitter::tool(register = false)]
fn echo(args: Said) -> Said {
    args
}

/// The tool that does nothing.
pub(crate) fn echo_tool() -> Arc<dyn Tool> {
    echo::tool()
}

/// As `echo`, but as if it changed something, so that its intent is recorded first.
#[outfitter::tool(register = false, effects(write))]
fn change(args: Said) -> Said {
    args
}

/// Prints lines.
#[outfitter::tool(register = false)]
fn chatter(
    cx: &ToolContext,
    /// How many.
    lines: u32,
) -> u32 {
    for _ in 0..lines {
        cx.progress.emit(
            Stream::Stdout,
            b"   Compiling something v1.2.3 (registry)\n",
        );
    }
    lines
}

/// Gives a long text.
#[outfitter::tool(register = false)]
fn flood(
    /// How long, in lines of 64 bytes.
    lines: u32,
) -> String {
    "a line of a log that goes on and on, as such logs do: all well\n\n".repeat(lines as usize)
}

/// A process and what it keeps.
pub(crate) struct World {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) artifacts: Arc<dyn ArtifactStore>,
    pub(crate) pipeline: Arc<Pipeline>,
    clock: Arc<dyn Clock>,
    registry: ToolRegistry,
    who: Arc<Principal>,
}

impl World {
    /// A world whose sessions are in this log.
    pub(crate) fn new(log: Arc<dyn Log>) -> Fallible<Self> {
        let tools = vec![echo::tool(), change::tool(), chatter::tool(), flood::tool()];
        Self::with_tools(log, tools)
    }

    /// A world with other tools.
    pub(crate) fn with_tools(log: Arc<dyn Log>, tools: Vec<Arc<dyn Tool>>) -> Fallible<Self> {
        let registry = ToolRegistry::default();
        let source = NativeSource::new(SourceId::new("bench")?, Trust::Builtin, tools);
        registry.add(Arc::new(source))?;
        if let Some(fault) = registry.faults().first() {
            return Err(format!("a tool is not offered: {}", fault.fault.why).into());
        }
        let clock = Arc::new(SystemClock);
        Ok(Self {
            log,
            artifacts: Arc::new(MemoryArtifacts::new(clock.clone())),
            pipeline: Arc::new(Pipeline::default()),
            clock,
            registry,
            who: Arc::new(Principal {
                tenant: "local".into(),
                subject: "bench".into(),
                role: Role::User,
                channel: "bench".into(),
                stream: None,
            }),
        })
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope::from(&*self.who)
    }

    /// The loop around this model.
    pub(crate) fn agent(&self, model: Arc<dyn ModelProvider>) -> Agent {
        self.agent_with(model, ProgressSettings::default())
    }

    /// The same, that shows progress so.
    pub(crate) fn agent_with(
        &self,
        model: Arc<dyn ModelProvider>,
        progress: ProgressSettings,
    ) -> Agent {
        Agent::new(AgentParts {
            model,
            pipeline: self.pipeline.clone(),
            log: self.log.clone(),
            artifacts: self.artifacts.clone(),
            clock: self.clock.clone(),
            services: Services::default(),
            settings: AgentSettings {
                system_prompt: "You are a helpful assistant.".into(),
                limits: Limits {
                    max_turns: 40,
                    max_total_tokens: None,
                    identical_failures: 3,
                },
                max_tool_concurrency: 10,
                workflows: Arc::default(),
                suggested_actions: false,
                progress,
            },
        })
    }

    fn proxy(&self) -> ToolProxy {
        self.registry
            .seal(Grant::full(Role::User), Selection::default())
    }

    /// A new session.
    pub(crate) fn session(&self) -> Session {
        self.session_of(SessionId::mint(&*self.clock))
    }

    pub(crate) fn session_of(&self, id: SessionId) -> Session {
        Session {
            id,
            who: self.who.clone(),
            proxy: self.proxy(),
            sandbox: Arc::new(RefusingSandbox::new()),
            attended: Attended::No,
            told: Told::default(),
        }
    }

    /// A run of a new session that appends straight to the log.
    pub(crate) fn straight(&self) -> (Arc<ToolView>, RunHandle) {
        let run = RunId::mint(&*self.clock);
        let session = self.session();
        let view = session.proxy.view(&session.facts(Arc::default()));
        let session = session.id;
        let journal = Straight {
            log: self.log.clone(),
            scope: self.scope(),
            session: session.clone(),
            run: run.clone(),
            clock: self.clock.clone(),
            head: Mutex::new(Seq(0)),
        };
        let handle = RunHandle {
            who: self.who.clone(),
            session,
            run,
            attended: Attended::No,
            cancel: Cancel::new(),
            deadline: Deadline::NEVER,
            journal: Arc::new(journal),
            sandbox: Arc::new(RefusingSandbox::new()),
            artifacts: self.artifacts.clone(),
            clock: self.clock.clone(),
            services: Services::default(),
        };
        (view, handle)
    }
}

/// Appends to a log and does nothing else.
struct Straight {
    log: Arc<dyn Log>,
    scope: Scope,
    session: SessionId,
    run: RunId,
    clock: Arc<dyn Clock>,
    head: Mutex<Seq>,
}

#[async_trait]
impl Journal for Straight {
    async fn record(&self, bodies: Vec<EntryBody>) -> Result<(), JournalError> {
        let mut head = self.head.lock().await;
        let at = self.clock.now();
        let entries = (head.0 + 1..)
            .zip(bodies)
            .map(|(seq, body)| NewEntry {
                run: self.run.clone(),
                at,
                event: Some(EventSeq(seq)),
                body,
            })
            .collect();
        let append = Append {
            session: &self.session,
            expected: *head,
            fence: Fence(1),
            entries,
        };
        *head = self.log.append(&self.scope, append).await?;
        Ok(())
    }

    fn progress(&self, _: &CallId) -> Progress {
        Progress::nowhere()
    }

    fn close_progress(&self, _: &CallId) {}
}
