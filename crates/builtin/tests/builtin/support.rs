//! What the tests of tools share.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_builtin::{BuiltinOptions, builtin_tools};
use outfitter_core::{
    ArtifactChunk, ArtifactError, ArtifactId, ArtifactInfo, ArtifactStore, CommandSpec, Exit,
    Files, JobId, JobInfo, Killed, NewArtifact, Offset, Outcome, OutputChunk, Principal, Progress,
    ProgressSink, RefusingSandbox, Reply, Role, Sandbox, SandboxError, SandboxInfo, Scope,
    SessionId, Stream, SystemClock, Tool, ToolContext, ToolError, UnixMs,
};
use outfitter_sandbox::{LocalFiles, Protected};
use serde_json::Value;
use tempfile::TempDir;

/// Nothing here takes this long; a test that hangs ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The tools, by name, called as the pipeline calls them: arguments and results are held to the
/// schemas.
pub(crate) struct Tools(Vec<Arc<dyn Tool>>);

impl Tools {
    pub(crate) fn new(options: &BuiltinOptions) -> Self {
        Self(builtin_tools(options))
    }

    fn named(&self, name: &str) -> &dyn Tool {
        let tool = self.0.iter().find(|tool| tool.spec().name.as_str() == name);
        &**tool.expect("a tool of that name")
    }

    /// Whether the arguments fit the schema.
    pub(crate) fn fits(&self, name: &str, args: &Value) -> bool {
        jsonschema::validator_for(&self.named(name).spec().input_schema)
            .unwrap()
            .is_valid(args)
    }

    pub(crate) async fn call(
        &self,
        name: &str,
        cx: &ToolContext,
        args: Value,
    ) -> Result<Outcome, ToolError> {
        assert!(self.fits(name, &args), "{args} does not fit {name}");
        self.call_unchecked(name, cx, args).await
    }

    /// Also with arguments that the pipeline would have refused.
    pub(crate) async fn call_unchecked(
        &self,
        name: &str,
        cx: &ToolContext,
        args: Value,
    ) -> Result<Outcome, ToolError> {
        let tool = self.named(name);
        let reply = tokio::time::timeout(PATIENCE, tool.call(cx, args))
            .await
            .expect("the call ends")?;
        let Reply::Done(outcome) = reply else {
            panic!("no built-in waits");
        };
        let schema = tool.spec().output_schema.clone().expect("an output schema");
        let validator = jsonschema::validator_for(&schema).unwrap();
        if let Err(error) = validator.validate(&outcome.result) {
            panic!("{name}: {error}\n{:#}", outcome.result);
        }
        Ok(*outcome)
    }
}

/// A workspace with real files.
pub(crate) struct Workspace {
    pub(crate) dir: TempDir,
    pub(crate) tools: Tools,
    pub(crate) cx: ToolContext,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        Self::with(&BuiltinOptions::default(), Role::User)
    }

    pub(crate) fn with(options: &BuiltinOptions, role: Role) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let files = LocalFiles::open(dir.path(), Protected::of_system()).unwrap();
        let cx = context(Arc::new(FilesOnly(RefusingSandbox::new(), files)), role);
        Self {
            dir,
            tools: Tools::new(options),
            cx,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path().join(path)).unwrap()
    }

    pub(crate) async fn call(&self, name: &str, args: Value) -> Result<Value, ToolError> {
        Ok(self.tools.call(name, &self.cx, args).await?.result)
    }

    pub(crate) async fn ok(&self, name: &str, args: Value) -> Value {
        match self.call(name, args).await {
            Ok(result) => result,
            Err(error) => panic!("{name}: {:?}", error.info()),
        }
    }

    pub(crate) async fn refused(&self, name: &str, args: Value) -> ToolError {
        self.call(name, args).await.expect_err("a refusal")
    }
}

/// A context of somebody with this role in this sandbox.
pub(crate) fn context(sandbox: Arc<dyn Sandbox>, role: Role) -> ToolContext {
    let mut cx = ToolContext::detached();
    cx.who = Arc::new(Principal {
        role,
        ..(*cx.who).clone()
    });
    cx.sandbox = sandbox;
    cx
}

/// The real files of a session, without commands.
struct FilesOnly(RefusingSandbox, LocalFiles);

#[async_trait]
impl Sandbox for FilesOnly {
    fn info(&self) -> &SandboxInfo {
        self.0.info()
    }
    async fn spawn(&self, command: CommandSpec) -> Result<JobId, SandboxError> {
        self.0.spawn(command).await
    }
    async fn output(
        &self,
        job: &JobId,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        self.0.output(job, from, max, wait).await
    }
    async fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        self.0.tail(job, max).await
    }
    async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError> {
        self.0.wait(job).await
    }
    async fn kill(&self, job: &JobId, grace: Duration) -> Result<Killed, SandboxError> {
        self.0.kill(job, grace).await
    }
    fn jobs(&self) -> Vec<JobInfo> {
        self.0.jobs()
    }
    fn files(&self) -> &dyn Files {
        &self.1
    }
}

/// What a job of [`Script`] prints, byte by byte, without holding it all.
pub(crate) trait Print: Send + Sync {
    fn len(&self) -> u64;
    fn range(&self, from: u64, to: u64) -> Vec<(Stream, Bytes)>;
}

/// Pieces that are there.
#[derive(Default)]
pub(crate) struct Pieces(pub(crate) Vec<(Stream, &'static [u8])>);

impl Print for Pieces {
    fn len(&self) -> u64 {
        self.0.iter().map(|(_, bytes)| bytes.len() as u64).sum()
    }
    fn range(&self, from: u64, to: u64) -> Vec<(Stream, Bytes)> {
        let mut at = 0_u64;
        let mut pieces = Vec::new();
        for (stream, bytes) in &self.0 {
            let end = at + bytes.len() as u64;
            let (start, stop) = (from.clamp(at, end), to.clamp(at, end));
            if start < stop {
                let part = &bytes[(start - at) as usize..(stop - at) as usize];
                pieces.push((*stream, Bytes::from_static(part)));
            }
            at = end;
        }
        pieces
    }
}

/// A sandbox whose one job prints what the test says, when the test says it: for what a real
/// process cannot be made to do on purpose. It has no files.
pub(crate) struct Script {
    info: SandboxInfo,
    /// Whether it gives ranges; else only the end.
    ranges: bool,
    print: Box<dyn Print>,
    state: tokio::sync::watch::Sender<State>,
    pub(crate) spawned: Mutex<Vec<CommandSpec>>,
    pub(crate) asked: Mutex<Vec<u64>>,
    files: RefusingSandbox,
}

#[derive(Clone, Default)]
struct State {
    printed: u64,
    exit: Option<Exit>,
    killed: bool,
}

impl Script {
    pub(crate) fn new(print: impl Print + 'static) -> Self {
        Self {
            info: RefusingSandbox::new().info().clone(),
            ranges: true,
            print: Box::new(print),
            state: tokio::sync::watch::Sender::new(State::default()),
            spawned: Mutex::default(),
            asked: Mutex::default(),
            files: RefusingSandbox::new(),
        }
    }

    pub(crate) fn without_ranges(mut self) -> Self {
        self.ranges = false;
        self
    }

    /// The job has printed this much.
    pub(crate) fn print(&self, up_to: u64) {
        self.state.send_modify(|state| state.printed = up_to);
    }

    /// The job has printed all and ends.
    pub(crate) fn end(&self, code: i32) {
        let all = self.print.len();
        self.exit(
            all,
            Exit {
                code: Some(code),
                ..Exit::default()
            },
        );
    }

    pub(crate) fn exit(&self, printed: u64, exit: Exit) {
        let bytes = |wanted| {
            let pieces = self.print.range(0, printed.min(1 << 20));
            let of = pieces.iter().filter(|(stream, _)| *stream == wanted);
            of.map(|(_, bytes)| bytes.len() as u64).sum()
        };
        let exit = Exit {
            stdout_bytes: bytes(Stream::Stdout),
            stderr_bytes: bytes(Stream::Stderr),
            duration: Duration::from_millis(1234),
            ..exit
        };
        self.state.send_modify(|state| {
            state.printed = printed;
            state.exit = Some(exit);
        });
    }

    pub(crate) fn was_killed(&self) -> bool {
        self.state.borrow().killed
    }

    fn job() -> JobId {
        JobId::new("job_1").unwrap()
    }

    fn know(job: &JobId) -> Result<(), SandboxError> {
        if *job == Self::job() {
            Ok(())
        } else {
            Err(SandboxError::NotFound(job.clone()))
        }
    }
}

#[async_trait]
impl Sandbox for Script {
    fn info(&self) -> &SandboxInfo {
        &self.info
    }
    async fn spawn(&self, command: CommandSpec) -> Result<JobId, SandboxError> {
        self.spawned.lock().unwrap().push(command);
        Ok(Self::job())
    }
    async fn output(
        &self,
        job: &JobId,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        Self::know(job)?;
        if !self.ranges {
            return Err(SandboxError::Unsupported { what: "ranges" });
        }
        self.asked.lock().unwrap().push(from.0);
        let mut changes = self.state.subscribe();
        let ready = changes.wait_for(|state| state.printed > from.0 || state.exit.is_some());
        let state = match tokio::time::timeout(wait, ready).await {
            Ok(state) => state.unwrap().clone(),
            Err(_) => self.state.borrow().clone(),
        };
        let next = state.printed.min(from.0 + max as u64).max(from.0);
        Ok(OutputChunk {
            pieces: self.print.range(from.0, next),
            next: Offset(next),
            ended: state.exit.is_some() && next == state.printed,
        })
    }
    async fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        Self::know(job)?;
        let state = self.state.borrow().clone();
        let from = state.printed.saturating_sub(max as u64);
        Ok(OutputChunk {
            pieces: self.print.range(from, state.printed),
            next: Offset(state.printed),
            ended: state.exit.is_some(),
        })
    }
    async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError> {
        Self::know(job)?;
        let mut changes = self.state.subscribe();
        let state = changes
            .wait_for(|state| state.exit.is_some())
            .await
            .unwrap();
        Ok(state.exit.clone().unwrap())
    }
    async fn kill(&self, job: &JobId, _: Duration) -> Result<Killed, SandboxError> {
        Self::know(job)?;
        let was_running = self.state.borrow().exit.is_none();
        if was_running {
            let printed = self.state.borrow().printed;
            self.exit(
                printed,
                Exit {
                    signal: Some(15),
                    ..Exit::default()
                },
            );
            self.state.send_modify(|state| state.killed = true);
        }
        Ok(Killed {
            was_running,
            survivors: Vec::new(),
        })
    }
    fn jobs(&self) -> Vec<JobInfo> {
        vec![JobInfo {
            id: Self::job(),
            command: "a script".to_owned(),
            started: UnixMs(0),
            running: self.state.borrow().exit.is_none(),
        }]
    }
    fn files(&self) -> &dyn Files {
        self.files.files()
    }
}

/// What a watcher sees.
#[derive(Default)]
pub(crate) struct Screen(Mutex<Vec<(Stream, Vec<u8>)>>);

impl Screen {
    pub(crate) fn watch(cx: &mut ToolContext) -> Arc<Self> {
        let screen = Arc::new(Self::default());
        cx.progress = Progress::into(screen.clone());
        screen
    }

    pub(crate) fn text(&self) -> String {
        let shown = self.0.lock().unwrap();
        let bytes: Vec<u8> = shown.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn streams(&self) -> Vec<(Stream, String)> {
        let shown = self.0.lock().unwrap();
        shown
            .iter()
            .map(|(stream, bytes)| (*stream, String::from_utf8_lossy(bytes).into_owned()))
            .collect()
    }

    /// Waits until this much was shown.
    pub(crate) async fn until(&self, text: &str) {
        let shown = async {
            while !self.text().contains(text) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(PATIENCE, shown)
            .await
            .expect("it is shown");
    }
}

impl ProgressSink for Screen {
    fn emit(&self, stream: Stream, bytes: &[u8]) {
        self.0.lock().unwrap().push((stream, bytes.to_vec()));
    }
}

/// One artifact after the other; it keeps the first bytes and counts the rest.
#[derive(Default)]
pub(crate) struct Shelf {
    pub(crate) limit: Option<u64>,
    pub(crate) kept: Mutex<Vec<Kept>>,
}

pub(crate) struct Kept {
    pub(crate) new: NewArtifact,
    pub(crate) start: Vec<u8>,
    pub(crate) size: u64,
    pub(crate) largest_append: usize,
}

const KEPT_BYTES: usize = 1 << 16;

#[async_trait]
impl ArtifactStore for Shelf {
    async fn create(
        &self,
        _: &Scope,
        _: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        let mut kept = self.kept.lock().unwrap();
        kept.push(Kept {
            new,
            start: Vec::new(),
            size: 0,
            largest_append: 0,
        });
        Ok(ArtifactId::new(format!("art_{}", kept.len())).unwrap())
    }
    async fn append(
        &self,
        _: &Scope,
        _: &SessionId,
        _: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        let mut kept = self.kept.lock().unwrap();
        let last = kept.last_mut().unwrap();
        if let Some(limit) = self.limit
            && last.size + bytes.len() as u64 > limit
        {
            return Err(ArtifactError::TooLarge { limit });
        }
        let room = KEPT_BYTES - last.start.len();
        last.start
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        last.size += bytes.len() as u64;
        last.largest_append = last.largest_append.max(bytes.len());
        Ok(())
    }
    async fn read(
        &self,
        _: &Scope,
        _: &SessionId,
        id: &ArtifactId,
        _: u64,
        _: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        Ok(ArtifactChunk {
            bytes: Bytes::new(),
            info: ArtifactInfo {
                id: id.clone(),
                mime: String::new(),
                name: String::new(),
                size: 0,
                created: outfitter_core::Clock::now(&SystemClock),
            },
        })
    }
    async fn delete_session(&self, _: &Scope, _: &SessionId) -> Result<(), ArtifactError> {
        Ok(())
    }
}
