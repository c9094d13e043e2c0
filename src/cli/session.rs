//! What the commands around a session share: the whole put together, a session opened and held, a
//! run shown while it is made.

use std::future::Future;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_agent::{EventQueue, Session};
use outfitter_core::{Attended, Cancel, Code, Event, SessionId};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Invocation;
use super::args;
use super::failure::{Failure, Stop};
use super::output::Output;
use crate::config::{FlagValue, Loaded};
use crate::outfit::{
    BuildError, DeleteError, Needed, NotHeld, Outfitter, Pending, SessionLock, SessionOptions,
};
use crate::render::{Answer, Detail, Renderer, To, View};

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let info = error.to_info();
        let mut failure = Self::of(info.code, &error);
        failure.hint = info.hint;
        failure
    }
}

impl From<outfitter_agent::RunError> for Failure {
    fn from(error: outfitter_agent::RunError) -> Self {
        let info = error.to_info();
        let mut failure = Self::of(info.code, &error);
        failure.hint = info.hint;
        failure
    }
}

impl From<outfitter_core::StoreError> for Failure {
    fn from(error: outfitter_core::StoreError) -> Self {
        let code = match error {
            outfitter_core::StoreError::NotFound(_) => Code::NotFound,
            _ => Code::Unavailable,
        };
        let failure = Self::of(code, &error);
        match outfitter_store::LogOpenError::of(&error) {
            Some(open) => failure.with_hint(open.hint()),
            None if code == Code::NotFound => {
                failure.with_hint("`outfitter sessions list` lists them")
            }
            None => failure,
        }
    }
}

impl From<DeleteError> for Failure {
    fn from(error: DeleteError) -> Self {
        match error {
            DeleteError::Store(error) => error.into(),
            DeleteError::Stays(stays) => {
                let info = stays.to_info();
                let failure = Self::of(info.code, &stays);
                match info.hint {
                    Some(hint) => failure.with_hint(hint),
                    None => failure,
                }
            }
        }
    }
}

impl Invocation<'_> {
    /// The whole, put together from the configuration and the command's own flags.
    pub(crate) fn outfit(&self, flags: Vec<FlagValue>) -> Result<(Loaded, Outfitter), Stop> {
        let loaded = self.load(flags)?;
        let whole = self.build(&loaded)?;
        Ok((loaded, whole))
    }

    /// The whole, put together from this configuration.
    pub(crate) fn build(&self, loaded: &Loaded) -> Result<Outfitter, Stop> {
        self.builder(loaded.config.clone())
            .build()
            .map_err(|error| not_built(error, loaded))
    }

    /// The same for what is done in no session: that leaves none behind.
    pub(crate) fn build_without_sessions(&self, loaded: &Loaded) -> Result<Outfitter, Stop> {
        self.builder(loaded.config.clone())
            .without_sessions()
            .build()
            .map_err(|error| not_built(error, loaded))
    }

    pub(super) fn builder(&self, config: crate::config::Config) -> crate::Builder {
        let builder = crate::Builder::new(config, self.env.clone())
            .supervisor(outfitter_process::SupervisorProgram::this_binary());
        (self.customise)(builder)
    }

    /// Opens a session.
    pub(crate) async fn open(
        &self,
        whole: &Outfitter,
        options: &args::SessionOptions,
        which: Which,
    ) -> Result<Session, Stop> {
        self.open_for(whole, options, which, Needed::Everything)
            .await
    }

    /// Opens a session for something that needs no more than this.
    pub(crate) async fn open_for(
        &self,
        whole: &Outfitter,
        options: &args::SessionOptions,
        which: Which,
        needed: Needed<'_>,
    ) -> Result<Session, Stop> {
        let workspace = self.workspace(whole, options, &which.id)?;
        let options = SessionOptions {
            id: which.id,
            prompt: which.prompt,
            role: whole.config().permissions.local_role,
            workspace,
            attended: self.attended(),
        };
        Ok(whole.open_for(options, needed).await?)
    }

    /// Where the session works. One that was served goes on where it was: what was approved there
    /// was meant for its files.
    fn workspace(
        &self,
        whole: &Outfitter,
        options: &args::SessionOptions,
        session: &SessionId,
    ) -> Result<PathBuf, Stop> {
        let here = self.env.current_dir();
        let asked_for = options.workspace.as_ref().map(|dir| here.join(dir));
        let Some(served) = whole.workspace_where_served(session) else {
            return Ok(asked_for.unwrap_or_else(|| here.to_owned()));
        };
        let real = |dir: &Path| dir.canonicalize().ok();
        if let Some(other) = asked_for.filter(|dir| real(dir) != real(&served)) {
            let failure = Failure::new(
                Code::Usage,
                format!(
                    "continue the session {session} in {}: it was made by `outfitter serve` and works in {}",
                    other.display(),
                    served.display()
                ),
            );
            return Err(failure.with_hint("leave out --workspace").into());
        }
        Ok(served)
    }

    /// Whether somebody can answer: a person sees stderr and types on stdin.
    pub(crate) fn attended(&self) -> Attended {
        let person = std::io::stdin().is_terminal() && self.out.stderr.terminal;
        if person && !self.global.json {
            Attended::Yes
        } else {
            Attended::No
        }
    }

    /// How much is shown.
    pub(crate) fn detail(&self) -> Detail {
        if self.global.verbose {
            Detail::Full
        } else {
            Detail::Calm
        }
    }

    /// A viewer of a run that happens now: lines for programs, or text for people.
    pub(crate) fn viewer(&self) -> Viewer {
        let answer = View::live(self.out.stdout, self.out.stderr, self.detail()).answer;
        self.viewer_of(answer)
    }

    /// A viewer that writes what the model says at this time.
    pub(crate) fn viewer_of(&self, answer: Answer) -> Viewer {
        let view = View {
            answer,
            ..View::live(self.out.stdout, self.out.stderr, self.detail())
        };
        Viewer {
            out: self.out,
            shape: if self.global.json {
                Shape::Lines(Vec::new())
            } else {
                Shape::People(Box::new(Renderer::new(view)))
            },
        }
    }
}

/// Names that mean nothing are told as all that is wrong with a configuration is.
fn not_built(error: BuildError, loaded: &Loaded) -> Stop {
    match error {
        BuildError::Names(faults) => {
            let mut problems = super::at_their_places(&faults, loaded);
            problems.sort_by_key(|problem| problem.at.order());
            crate::config::ConfigError::Problems(problems).into()
        }
        error => error.into(),
    }
}

/// Which session, and what its next words are, where they are known.
pub(crate) struct Which {
    pub(crate) id: SessionId,
    pub(crate) prompt: Option<String>,
}

impl From<SessionId> for Which {
    fn from(id: SessionId) -> Self {
        Self { id, prompt: None }
    }
}

/// Holds a session for this process.
pub(crate) fn hold(whole: &Outfitter, session: &SessionId) -> Result<SessionLock, Stop> {
    whole.hold(session)?.map_err(|why| {
        let failure = Failure::of(why.code(), &why);
        let hint = match why {
            NotHeld::InUse(_) => "wait for it, or use another --session".to_owned(),
            NotHeld::HalfDeleted(id) => format!("`outfitter sessions delete {id}` ends that"),
            NotHeld::Strange(_) => "`outfitter doctor` says where it is".to_owned(),
        };
        failure.with_hint(hint).into()
    })
}

/// Looks at what there is while what is needed for it is connected, if anything is: most programs
/// need no connection for it.
pub(crate) fn connected<T>(
    whole: &Outfitter,
    needed: Needed<'_>,
    look: impl FnOnce() -> Result<T, Stop>,
) -> Result<T, Stop> {
    if !whole.has_connections() {
        return look();
    }
    runtime()?.block_on(async {
        whole.settle(needed).await?;
        let seen = look();
        whole.disconnect().await;
        seen
    })
}

/// Tells people what has not answered.
pub(crate) fn tell_pending(at: &Invocation<'_>, pending: &[Pending]) {
    for one in pending {
        at.out.tell(&format!("warning: {one}\n"));
    }
}

/// Does the work of a command, and ends in good order what was connected for it. A person who asks
/// twice to stop does not wait for that.
pub(crate) async fn then_disconnect<T>(
    whole: &Outfitter,
    work: impl Future<Output = Result<T, Stop>>,
) -> Result<T, Stop> {
    let done = work.await;
    if !matches!(done, Err(Stop::Abandoned(_))) {
        whole.disconnect().await;
    }
    done
}

/// A runtime for one command.
pub(crate) fn runtime() -> Result<Runtime, Stop> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map(Runtime)
        .map_err(|error| Failure::of(Code::Unavailable, &error).into())
}

/// Does the work of one command.
pub(crate) struct Runtime(tokio::runtime::Runtime);

impl Runtime {
    /// Does the work to its end. A thread that waits for a line on stdin, or for a reader of stdout
    /// who reads nothing, would keep the process for ever after it: it is left behind.
    pub(crate) fn block_on<T>(self, work: impl Future<Output = T>) -> T {
        const WAIT: std::time::Duration = std::time::Duration::from_millis(100);
        let end = self.0.block_on(work);
        self.0.shutdown_timeout(WAIT);
        end
    }
}

/// Shows events as they come.
pub(crate) struct Viewer {
    out: Output,
    shape: Shape,
}

enum Shape {
    Lines(Vec<u8>),
    People(Box<Renderer>),
}

impl Viewer {
    /// Shows one event.
    pub(crate) fn show(&mut self, event: &Event) -> Result<(), Stop> {
        match &mut self.shape {
            Shape::Lines(line) => {
                line.clear();
                outfitter_codec::encode_event(event, line)
                    .map_err(|error| Failure::of(Code::Internal, &error))?;
                self.out.bytes(line)
            }
            Shape::People(renderer) => {
                for piece in renderer.event(event) {
                    match piece.to {
                        To::Data => self.out.data(&piece.text)?,
                        To::People => self.out.tell(&piece.text),
                    }
                }
                Ok(())
            }
        }
    }
}

/// Makes a run and shows its events from a thread of its own, so that a reader who does not read
/// stops only what is shown. When nobody reads any more the run is cancelled.
pub(crate) async fn watch<T>(
    viewer: Viewer,
    cancel: &Cancel,
    run: impl AsyncFnOnce(Arc<EventQueue>) -> T,
) -> (T, Viewer, Result<(), Stop>) {
    let queue = EventQueue::new();
    let (events, stop) = (queue.clone(), cancel.clone());
    let runtime = tokio::runtime::Handle::current();
    let shown = tokio::task::spawn_blocking(move || {
        let mut viewer = viewer;
        let mut result = Ok(());
        while let Some(event) = runtime.block_on(events.next()) {
            if result.is_ok() {
                result = viewer.show(&event);
                if result.is_err() {
                    stop.cancel();
                }
            }
        }
        (viewer, result)
    });
    let end = run(queue.clone()).await;
    queue.close();
    match shown.await {
        Ok((viewer, result)) => (end, viewer, result),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// The next line of the person; none at an empty one or the end.
pub(crate) async fn line() -> Option<String> {
    let line = read_line().await?;
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The next line of the person, also an empty one; none at the end.
pub(super) async fn read_line() -> Option<String> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin()
            .read_line(&mut line)
            .map(|bytes| (bytes > 0).then_some(line))
    });
    read.await.ok()?.ok()?
}

/// Runs `work`, and stops it when a person or the system asks. The second time it is left where it
/// is: its processes end with ours.
pub(crate) async fn until_stopped<T>(
    cancel: &Cancel,
    work: impl Future<Output = T>,
) -> Result<T, Stop> {
    until_stopped_by(Signals::listen()?, cancel, work).await
}

/// The same, where these signals stop it.
pub(crate) async fn until_stopped_by<T>(
    mut signals: Signals,
    cancel: &Cancel,
    work: impl Future<Output = T>,
) -> Result<T, Stop> {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            end = &mut work => return Ok(end),
            () = signals.next() => {}
        }
        if cancel.is_cancelled() {
            let failure = Failure::new(Code::Cancelled, "stop in good order: it was told to twice");
            return Err(Stop::Abandoned(Box::new(failure)));
        }
        cancel.cancel();
    }
}

/// What a person or the system stops a program with.
pub(crate) struct Signals(Vec<Signal>);

impl Signals {
    /// Takes them from now on, so that they do not end the process by themselves.
    pub(crate) fn listen() -> Result<Self, Stop> {
        Self::of(&[
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ])
    }

    /// The same for who takes the configuration anew with SIGHUP.
    pub(crate) fn but_hangup() -> Result<Self, Stop> {
        Self::of(&[SignalKind::interrupt(), SignalKind::terminate()])
    }

    fn of(kinds: &[SignalKind]) -> Result<Self, Stop> {
        let taken = kinds.iter().map(|kind| signal(*kind));
        let taken: std::io::Result<Vec<Signal>> = taken.collect();
        taken
            .map(Self)
            .map_err(|error| Failure::of(Code::Unavailable, &error).into())
    }

    /// Ends with the next one.
    pub(crate) async fn next(&mut self) {
        let heard = self.0.iter_mut().map(|one| Box::pin(one.recv()));
        futures_util::future::select_all(heard).await;
    }
}
