//! What the commands around a session share: the whole put together, a session opened and held.

use std::future::Future;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use outfitter_agent::Session;
use outfitter_core::{Attended, Code, SessionId};

use super::Invocation;
use super::args;
use super::failure::{Failure, Stop};
use super::stopping::runtime;
use crate::config::{FlagValue, Loaded};
use crate::outfit::{BuildError, Needed, NotHeld, Outfitter, Pending, SessionLock, SessionOptions};

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
        not_held(&why, |_| "wait for it, or use another --session".to_owned()).into()
    })
}

/// A session that cannot be held, with what to do where another process has it.
pub(crate) fn not_held(why: &NotHeld, in_use: impl FnOnce(&SessionId) -> String) -> Failure {
    let hint = match why {
        NotHeld::InUse(id) => in_use(id),
        NotHeld::HalfDeleted(id) => format!("`outfitter sessions delete {id}` ends that"),
        NotHeld::Strange(_) => "`outfitter doctor` says where it is".to_owned(),
    };
    Failure::of(why.code(), why).with_hint(hint)
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
        at.out.tell_line(&format!("warning: {one}"));
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
