//! A source whose tools are known before they are there: it is started by the first call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use outfitter_core::{
    Answer, Code, Facts, Fault, Generation, Reply, SourceId, SourceSnapshot, Tool, ToolContext,
    ToolError, ToolSource, ToolSpec, Trust,
};
use serde_json::Value;
use tokio::sync::{OnceCell, watch};

/// Makes the tools of a [`LazySource`].
#[async_trait]
pub trait StartTools: Send + Sync {
    /// Makes them; called by the first call of one. Others wait for it. Where it fails, the call is
    /// told, and the next one tries again; where the call is stopped, so is this.
    ///
    /// # Errors
    /// [`ToolError`], which is what the call ends with.
    async fn start(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError>;
}

/// Tools that are listed by what is known of them, and made at the first call of one of them: for
/// what is dear to start and not always needed.
///
/// When those that were made say something else of themselves, the source offers them as they are
/// from then on, with a new generation and a fault that names what was wrong; a call of one whose
/// arguments were judged by another schema is refused, and so is one of a tool that is not there.
///
/// What a tool says of single calls shows only when it is there. Where that is not what its spec
/// says, the source offers the tools themselves from then on; a call that was judged before, and is
/// not covered by that, is refused, and the same call made again is judged by what it is.
pub struct LazySource {
    shared: Arc<Shared>,
    snapshot: Arc<Snapshots>,
}

type Snapshots = watch::Sender<Arc<SourceSnapshot>>;

struct Shared {
    id: SourceId,
    trust: Trust,
    known: Vec<ToolSpec>,
    start: Box<dyn StartTools>,
    made: OnceCell<Vec<Arc<dyn Tool>>>,
    /// Whether the tools that were made are what is offered.
    offers_made: AtomicBool,
    /// Where its tools are offered. They hold on to this, so this does not hold on to them.
    snapshot: Weak<Snapshots>,
}

impl LazySource {
    /// Tools of which this is known, sorted by name, and who makes them.
    #[must_use]
    pub fn new(
        id: SourceId,
        trust: Trust,
        mut known: Vec<ToolSpec>,
        start: impl StartTools + 'static,
    ) -> Self {
        known.sort_by(|a, b| a.name.cmp(&b.name));
        let snapshot = Arc::new(Snapshots::new(Arc::default()));
        let shared = Arc::new(Shared {
            id,
            trust,
            known,
            start: Box::new(start),
            made: OnceCell::new(),
            offers_made: AtomicBool::new(false),
            snapshot: Arc::downgrade(&snapshot),
        });
        let tools = (0..shared.known.len()).map(|at| {
            Arc::new(LazyTool {
                shared: shared.clone(),
                at,
            }) as Arc<dyn Tool>
        });
        let tools = tools.collect();
        shared.publish(tools, Vec::new());
        Self { shared, snapshot }
    }

    /// Whether it was started.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.shared.made.initialized()
    }
}

impl Shared {
    fn publish(&self, tools: Vec<Arc<dyn Tool>>, faults: Vec<Fault>) {
        let Some(snapshot) = self.snapshot.upgrade() else {
            return;
        };
        snapshot.send_modify(|last| {
            *last = Arc::new(SourceSnapshot {
                generation: Generation(last.generation.0 + 1),
                tools,
                faults,
            });
        });
    }

    async fn made(&self, cx: &ToolContext) -> Result<&[Arc<dyn Tool>], ToolError> {
        let started = self.made.get_or_try_init(|| async {
            let mut made = self.start.start().await?;
            made.sort_by(|a, b| a.spec().name.cmp(&b.spec().name));
            let faults = self.faults(&made);
            if !faults.is_empty() {
                for fault in &faults {
                    tracing::warn!(source = %self.id, tool = fault.what, why = fault.why, "a tool is not as it was known");
                }
                self.publish(made.clone(), faults);
                self.offers_made.store(true, Ordering::Relaxed);
            }
            Ok(made)
        });
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                Err(ToolError::new(Code::Cancelled, "the call was stopped before it was made"))
            }
            made = started => made.map(Vec::as_slice),
        }
    }

    /// Offers the tools that were made, if it does not yet.
    fn offer_made(&self) {
        let Some(made) = self.made.get() else {
            return;
        };
        if !self.offers_made.swap(true, Ordering::Relaxed) {
            self.publish(made.clone(), Vec::new());
        }
    }

    /// How what was made differs from what was known.
    fn faults(&self, made: &[Arc<dyn Tool>]) -> Vec<Fault> {
        let find = |name: &outfitter_core::ToolName| {
            let mut made = made.iter();
            made.find(|tool| tool.spec().name == *name)
        };
        let gone = self.known.iter().filter_map(|known| {
            let why = match find(&known.name) {
                None => "it is not there any more",
                Some(tool) if tool.spec() != known => "it is not as it was known",
                Some(_) => return None,
            };
            Some((known.name.to_string(), why))
        });
        let known = |name| self.known.iter().any(|known| known.name == name);
        let new = made
            .iter()
            .map(|tool| tool.spec().name.clone())
            .filter(|name| !known(name.clone()))
            .map(|name| (name.to_string(), "it was not known"));
        gone.chain(new)
            .map(|(what, why)| Fault {
                what,
                why: why.to_owned(),
            })
            .collect()
    }
}

impl ToolSource for LazySource {
    fn id(&self) -> &SourceId {
        &self.shared.id
    }

    fn trust(&self) -> Trust {
        self.shared.trust
    }

    fn snapshot(&self) -> Arc<SourceSnapshot> {
        self.snapshot.borrow().clone()
    }

    fn changes(&self) -> BoxStream<'static, Generation> {
        crate::native::generations(self.snapshot.subscribe())
    }
}

/// What is known of a tool, and the way to it.
struct LazyTool {
    shared: Arc<Shared>,
    at: usize,
}

impl LazyTool {
    /// The tool itself, where it is what it was known as.
    async fn itself(&self, cx: &ToolContext) -> Result<&Arc<dyn Tool>, ToolError> {
        let known = self.spec();
        let made = self.shared.made(cx).await?;
        let Some(tool) = made.iter().find(|tool| tool.spec().name == known.name) else {
            let source = &self.shared.id;
            return Err(ToolError::unavailable(format!(
                "{source} was started and has no tool {}",
                known.name
            )));
        };
        let now = tool.spec();
        // Whoever judged the call judged what was known.
        let same = now.input_schema == known.input_schema
            && now.effects.within(known.effects)
            && now.min_role <= known.min_role;
        if !same {
            let why = "the tool is not as it was known; nothing was called";
            return Err(ToolError::new(Code::Conflict, why)
                .with_hint("what it is now is in the next request"));
        }
        Ok(tool)
    }

    /// The tool itself, where a call of it is what it was judged as.
    async fn judged(&self, cx: &ToolContext, args: &Value) -> Result<&Arc<dyn Tool>, ToolError> {
        let tool = self.itself(cx).await?;
        let (is, was) = (tool.facts_for(&cx.who, args)?, self.facts(args)?);
        let covered = is.effects.within(was.effects)
            && is.min_role <= was.min_role
            && (is.idempotent || !was.idempotent)
            && (&is.inner, &is.subject, &is.targets) == (&was.inner, &was.subject, &was.targets);
        if is != was {
            self.shared.offer_made();
        }
        if !covered {
            let why = "what the call does was not known when it was judged; nothing was called";
            return Err(ToolError::new(Code::Conflict, why).with_hint("make the same call again"));
        }
        Ok(tool)
    }
}

#[async_trait]
impl Tool for LazyTool {
    fn spec(&self) -> &ToolSpec {
        &self.shared.known[self.at]
    }

    fn facts(&self, _: &Value) -> Result<Facts, ToolError> {
        // The same before and after it is there: a call may be judged before and made after.
        Ok(Facts::of(self.spec()))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        self.judged(cx, &args).await?.call(cx, args).await
    }

    async fn resume(
        &self,
        cx: &ToolContext,
        args: Value,
        state: Value,
        answer: Answer,
    ) -> Result<Reply, ToolError> {
        let tool = self.judged(cx, &args).await?;
        tool.resume(cx, args, state, answer).await
    }
}
