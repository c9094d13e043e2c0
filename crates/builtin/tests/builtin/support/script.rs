//! A sandbox whose job prints what a test says.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    CommandSpec, Exit, Files, JobId, JobInfo, Killed, Offset, OutputChunk, RefusingSandbox,
    Sandbox, SandboxError, SandboxInfo, Stream, UnixMs,
};

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
    /// Whether it says with the end how much there is in all.
    counts: bool,
    print: Box<dyn Print>,
    state: tokio::sync::watch::Sender<State>,
    pub(crate) spawned: Mutex<Vec<CommandSpec>>,
    pub(crate) asked: Mutex<Vec<u64>>,
    /// How often its end was looked at.
    looks: tokio::sync::watch::Sender<u64>,
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
            counts: true,
            print: Box::new(print),
            state: tokio::sync::watch::Sender::new(State::default()),
            spawned: Mutex::default(),
            asked: Mutex::default(),
            looks: tokio::sync::watch::Sender::new(0),
            files: RefusingSandbox::new(),
        }
    }

    pub(crate) fn without_ranges(mut self) -> Self {
        self.ranges = false;
        self
    }

    /// Gives only the end, and does not say of how much.
    pub(crate) fn without_counts(mut self) -> Self {
        (self.ranges, self.counts) = (false, false);
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
            let pieces = self.print.range(0, printed.min(1 << 24));
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

    /// Waits until the end was looked at once more, after all that was printed before.
    pub(crate) async fn looked_at(&self) {
        let mut looks = self.looks.subscribe();
        let before = *looks.borrow_and_update();
        // The first may have begun before what was printed.
        let twice = looks.wait_for(|looks| *looks >= before + 2);
        twice.await.unwrap();
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
        self.looks.send_modify(|looks| *looks += 1);
        Ok(OutputChunk {
            pieces: self.print.range(from, state.printed),
            next: Offset(if self.counts { state.printed } else { 0 }),
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
            lost: None,
        }]
    }
    fn files(&self) -> &dyn Files {
        self.files.files()
    }
}
