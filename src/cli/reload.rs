//! Taking the configuration anew with each SIGHUP, while something else is at work.

use outfitter_core::{Code, chain};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Invocation;
use super::failure::{Failure, Stop};
use crate::config::{Config, ConfigError, FlagValue, Loaded};
use crate::outfit::{BuildError, Outfitter};

/// Hears SIGHUP from now on. By default the signal ends a process.
pub(super) fn hangup() -> Result<Signal, Stop> {
    signal(SignalKind::hangup()).map_err(|error| Failure::of(Code::Unavailable, &error).into())
}

/// What is reloaded, as it was started.
pub(super) struct Reload<'a> {
    pub(super) at: &'a Invocation<'a>,
    /// What the command line says about the configuration.
    pub(super) flags: Vec<FlagValue>,
    pub(super) whole: &'a Outfitter,
    /// What the command demands of a configuration besides.
    pub(super) check: fn(&Config) -> Result<(), Stop>,
}

impl Reload<'_> {
    /// Does the work, and takes the configuration anew with each SIGHUP.
    pub(super) async fn with_each<T>(
        &self,
        mut hangup: Signal,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                end = &mut work => return end,
                heard = hangup.recv() => match heard {
                    Some(()) => self.at.out.tell(&self.once()),
                    None => return work.await,
                },
            }
        }
    }

    /// Reloads, and says what came of it: what changed, or everything that is wrong.
    fn once(&self) -> String {
        let loaded = match self.at.load(self.flags.clone()) {
            Ok(loaded) => loaded,
            Err(ConfigError::Problems(problems)) => {
                return refused(problems.iter().map(ToString::to_string));
            }
            Err(error) => return refused([chain(&error)]),
        };
        if let Err(Stop::Failed(failure) | Stop::Abandoned(failure)) = (self.check)(&loaded.config)
        {
            return refused([failure.message]);
        }
        let plan = match self.whole.reload(&loaded.config) {
            Ok(plan) => plan,
            Err(error) => return refused(error.problems.iter().flat_map(|one| told(one, &loaded))),
        };
        if plan.is_empty() {
            return "reloaded the configuration: nothing has changed\n".to_owned();
        }
        let idle = self.whole.idle_keys().idle.into_iter();
        let idle: String = idle.map(|idle| format!("  warning: {idle}\n")).collect();
        let list = |what: &str, keys: &[String]| match keys {
            [] => String::new(),
            keys => format!("  {what}: {}\n", keys.join(", ")),
        };
        format!(
            "reloaded the configuration\n{}{}{idle}",
            list("at once", &plan.hot),
            list("after a restart", &plan.restart)
        )
    }
}

/// What is wrong, each by itself and at its place.
fn told(problem: &BuildError, loaded: &Loaded) -> Vec<String> {
    match problem {
        BuildError::Names(faults) => {
            let problems = super::at_their_places(faults, loaded);
            problems.iter().map(ToString::to_string).collect()
        }
        other => vec![chain(other)],
    }
}

fn refused(problems: impl IntoIterator<Item = String>) -> String {
    let problems = problems.into_iter();
    let lines: String = problems.map(|one| format!("  {one}\n")).collect();
    format!("error: failed to reload the configuration; everything stays as it was\n{lines}")
}
