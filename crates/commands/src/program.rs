//! One program: asked what it can do, and called.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{
    Cancel, Credential, CredentialRequest, Outcome, Progress, ToolContext, ToolError, chain,
};
use outfitter_process::remains::Passing;
use serde_json::{Map, Value};

use crate::describe::{self, Described};
use crate::environment::{self, Proof};
use crate::host::Host;
use crate::invocation::Invocation;
use crate::jwks_file::JwksFile;
use crate::kept;
use crate::outcome;
use crate::run::{Ended, Job, RunError, run};
use crate::scratch;
use crate::scrub::Scrub;
use crate::settings::{Credentials, ProgramSettings};
use crate::stderr_log::StderrLog;
use crate::subcommand::Subcommand;

pub(crate) struct Program {
    pub(crate) settings: ProgramSettings,
    said: Mutex<Option<Said>>,
}

/// What is known of what a program can do.
pub(crate) struct Said {
    /// What it said, or why it said nothing.
    pub(crate) described: Result<Described, String>,
    pub(crate) known: Known,
    /// How that differs from what was kept of it.
    pub(crate) changed: Option<String>,
    /// Why it is only what was kept of it, where that is not because nobody has called it.
    pub(crate) unasked: Option<String>,
}

/// Where that is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nobody has asked it.
    NotYet,
    /// From another time.
    Kept,
    /// It was asked.
    Asked,
}

impl Program {
    /// One that was not asked yet.
    pub(crate) fn new(settings: ProgramSettings) -> Self {
        Self {
            settings,
            said: Mutex::default(),
        }
    }

    pub(crate) fn says(&self, said: Said) {
        *locked(&self.said) = Some(said);
    }

    pub(crate) fn known(&self) -> Known {
        let said = locked(&self.said);
        said.as_ref().map_or(Known::NotYet, |said| said.known)
    }

    /// What it said, or why it said nothing; none where nobody has asked.
    pub(crate) fn said(&self) -> Option<Result<Described, String>> {
        let said = locked(&self.said);
        said.as_ref().map(|said| said.described.clone())
    }

    /// What it said.
    pub(crate) fn described(&self) -> Option<Described> {
        self.said()?.ok()
    }

    /// How what it offers differs from what was kept of it.
    pub(crate) fn changed(&self) -> Option<String> {
        locked(&self.said).as_ref()?.changed.clone()
    }

    /// Why it could not be asked, where what was kept of it is offered all the same.
    pub(crate) fn unasked(&self) -> Option<String> {
        locked(&self.said).as_ref()?.unasked.clone()
    }

    /// Whether it says now what it said of this subcommand.
    pub(crate) fn offers(&self, subcommand: &Subcommand) -> bool {
        let described = self.described();
        let mut now = described.iter().flat_map(|now| &now.subcommands);
        now.any(|now| now.said == subcommand.said)
    }

    /// Asks it what it can do; the error is one fragment, without what the program was given.
    pub(crate) async fn describe(&self, host: &Host) -> Result<Described, String> {
        let asked = self.ask(host).await;
        asked.map_err(|why| self.settings.secrets().taken_out(&why).into_owned())
    }

    /// Why it cannot be started, as far as that shows.
    pub(crate) fn lacking(&self, host: &Host) -> Option<String> {
        let why = kept::on_disk(host, &self.settings).lacking()?;
        Some(self.settings.secrets().taken_out(&why).into_owned())
    }

    async fn ask(&self, host: &Host) -> Result<Described, String> {
        if let Some(lacking) = self.lacking(host) {
            return Err(lacking);
        }
        let scratch = scratch(host).map_err(|error| explain(&error))?;
        let job = Job {
            argv: self.argv(["describe".to_owned(), "--json".to_owned()]),
            env: environment::base(host, &self.settings, scratch.path()),
            cwd: scratch.path().to_owned(),
            stdin: None,
            max_output_bytes: self.settings.max_output_bytes,
            time: self.settings.timeout,
        };
        let (progress, scrub) = (Progress::nowhere(), Scrub::of(None));
        let given = self.settings.secrets();
        let mut log = StderrLog::new(&self.settings.name, &progress, &scrub, &given);
        let printed = run(&host.supervisor, job, &Cancel::new(), &mut log)
            .await
            .map_err(|error| explain(&error))?;
        let tail = log.finish();
        let why = match printed.ended {
            Ended::Exited(outfitter_process::Ending::Code(0)) => {
                return describe::parse(&printed.stdout);
            }
            Ended::Exited(outfitter_process::Ending::Code(code)) => {
                format!("describe ended with exit {code}")
            }
            Ended::Exited(outfitter_process::Ending::Signal(signal)) => {
                format!("describe was ended by signal {signal}")
            }
            Ended::TimedOut | Ended::Cancelled => format!(
                "describe did not end within {} s",
                self.settings.timeout.as_secs_f64()
            ),
            Ended::TooMuch => format!(
                "describe printed more than {} bytes",
                self.settings.max_output_bytes
            ),
        };
        Err(match tail.lines().last() {
            Some(line) => format!("{why}: {line}"),
            None => why,
        })
    }

    /// Calls one of its subcommands.
    pub(crate) async fn call(
        &self,
        host: &Host,
        jwks: &JwksFile,
        cx: &ToolContext,
        subcommand: &Subcommand,
        args: &Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        let name = &self.settings.name;
        let scratch = scratch(host).map_err(|error| failed(name, error))?;
        let credential = self.credential(host, cx, subcommand).await?;
        let jwks_file = match (&credential, &host.issuer) {
            (Some(_), Some(issuer)) => Some(
                jwks.holding(&issuer.jwks())
                    .map_err(|error| failed(name, RunError::Scratch(error)))?,
            ),
            (Some(_) | None, _) => None,
        };
        let proof = credential
            .as_ref()
            .zip(jwks_file)
            .map(|(credential, jwks_file)| Proof {
                token: &credential.token,
                jwks_file,
                audience: name,
            });
        let time = self.time(cx);
        let mut env = environment::base(host, &self.settings, scratch.path());
        let deadline = cx.clock.now().plus(time);
        env.extend(environment::of_call(cx, deadline, proof.as_ref()));
        let Invocation { flags, stdin } = Invocation::of(args);
        let words = [subcommand.command.clone(), subcommand.subcommand.clone()];
        let job = Job {
            argv: self.argv(words.into_iter().chain(flags)),
            env,
            cwd: scratch.path().to_owned(),
            stdin,
            max_output_bytes: self.settings.max_output_bytes,
            time,
        };
        let scrub = Scrub::of(credential.map(|credential| credential.token));
        let given = self.settings.secrets();
        let mut log = StderrLog::new(name, &cx.progress, &scrub, &given);
        let printed = run(&host.supervisor, job, &cx.cancel, &mut log)
            .await
            .map_err(|error| failed(name, error))?;
        let tail = log.finish();
        tracing::info!(
            target: "outfitter::audit",
            program = name,
            subcommand = subcommand.subject(),
            tenant = cx.who.tenant.as_str(),
            sub = cx.who.subject.as_str(),
            session = cx.session.as_str(),
            call = cx.call.as_str(),
            ended = ?printed.ended,
            "a program was called"
        );
        Ok(outcome::of(cx, &self.settings, subcommand, printed, tail, &scrub).await)
    }

    async fn credential(
        &self,
        host: &Host,
        cx: &ToolContext,
        subcommand: &Subcommand,
    ) -> Result<Option<Credential>, ToolError> {
        match self.settings.credentials {
            Credentials::None => return Ok(None),
            Credentials::Call => {}
        }
        let Some(issuer) = &host.issuer else {
            return Err(ToolError::unavailable(format!(
                "{} wants a credential for each call, and nobody here issues any",
                self.settings.name
            )));
        };
        let request = CredentialRequest {
            who: cx.who.clone(),
            actor: None,
            audience: self.settings.name.as_str().into(),
            scope: vec![subcommand.scope().into()],
        };
        issuer.issue(&request).await.map(Some).map_err(|error| {
            ToolError::new(error.code(), format!("failed to {error}")).with_source(error)
        })
    }

    fn time(&self, cx: &ToolContext) -> Duration {
        let left = cx.deadline.remaining().unwrap_or(Duration::MAX);
        self.settings.timeout.min(left)
    }

    fn argv(&self, words: impl IntoIterator<Item = String>) -> Vec<std::ffi::OsString> {
        let mut argv = vec![self.settings.program.clone().into_os_string()];
        argv.extend(self.settings.args.iter().cloned());
        argv.extend(words.into_iter().map(Into::into));
        argv
    }
}

/// A folder for one call, gone with the value.
fn scratch(host: &Host) -> Result<Passing, RunError> {
    scratch::folder(&host.scratch).map_err(RunError::Scratch)
}

fn failed(name: &str, error: RunError) -> ToolError {
    ToolError::unavailable(format!("failed to {error} {name}")).with_source(error)
}

/// An error and its causes in one fragment.
fn explain(error: &dyn std::error::Error) -> String {
    format!("failed to {}", chain(error))
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
