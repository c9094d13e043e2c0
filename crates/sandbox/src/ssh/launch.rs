//! How commands are started on the other machine.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{CommandLine, CommandSpec, JobId, SandboxError};
use russh::client::Msg;
use russh::{Channel, ChannelMsg};
use tokio::time::timeout;

use super::connection::{Connection, lost};
use super::job::{ANSWER, RemoteCommand};
use super::packs::Folder;
use super::script::{MAX_LINE_BYTES, environment, run};
use crate::environment::is_variable;
use crate::job::DEADLINE_GRACE;
use crate::launch::{Launch, SHELL};
use crate::running::Running;

/// Jobs of one session that may run at once. OpenSSH lets a connection have ten channels
/// (`MaxSessions`): files have one of them, packs that are laid in one, and two are for ending jobs.
pub const MAX_REMOTE_JOBS: usize = 6;

/// By this the processes of a job are found there.
const JOB_VARIABLE: &str = "OUTFITTER_JOB";

/// How long the other machine may take to start a command.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The most that a login may say before the command starts.
const MAX_NOISE_BYTES: usize = 64 * 1024;

/// How every command of the session is started.
pub(super) struct There {
    pub(super) connection: Arc<Connection>,
    pub(super) workspace: String,
    pub(super) passed: Vec<(String, String)>,
    /// The folder of packs there, as long as this lasts.
    pub(super) folder: Option<Arc<Folder>>,
}

#[async_trait]
impl Launch for There {
    fn most(&self) -> usize {
        MAX_REMOTE_JOBS
    }

    async fn start(&self, id: &JobId, command: &CommandSpec) -> Result<Running, SandboxError> {
        let variables = self.environment(id, command)?;
        let program = program(command)?;
        let dir = match command.workdir.as_str() {
            "" => ".",
            dir => dir,
        };
        let mark = format!("outfitter-{id}");
        let line = run(&mark, id.as_str(), &self.workspace, dir, &program);
        if line.len() + variables.len() > MAX_LINE_BYTES {
            return Err(SandboxError::Invalid(format!(
                "the command and its environment are longer than {MAX_LINE_BYTES} bytes"
            )));
        }
        // First, so that the folder is one of the connection that the command has.
        let channel = self.connection.channel().await?;
        let notices = match &self.folder {
            Some(folder) => folder.renew().await?,
            None => Vec::new(),
        };
        let mut channel = channel.start(line).await?;
        let patience = START_TIMEOUT.min(command.timeout.saturating_add(DEADLINE_GRACE + ANSWER));
        let first = timeout(patience, async {
            // Who does not take it says why, or is gone: both are seen by the answer.
            let _ = channel.data(variables.as_bytes()).await;
            first_words(&mut channel, &mark).await
        });
        let (words, printed) = match first.await.unwrap_or(Err(NoWord::Unknown(SILENT))) {
            Ok(first) => first,
            Err(NoWord::Refused(error)) => return Err(error),
            // It has all that it needs to run.
            Err(NoWord::Unknown(_)) => {
                let connection = Arc::clone(&self.connection);
                let command = RemoteCommand::unheard(channel, connection, id.clone());
                return Ok(Running::There(Box::new(command)));
            }
        };
        let leader = match words.split_once(' ') {
            Some(("started", leader)) => leader.trim().parse::<u32>().ok(),
            _ if words == "program" => {
                return Err(SandboxError::Invalid(
                    "there is no such program there, or it cannot be executed".to_owned(),
                ));
            }
            _ if words == "workdir" => {
                return Err(SandboxError::Workdir(format!(
                    "its working directory {dir} cannot be entered, and nothing was run"
                )));
            }
            _ => None,
        };
        let leader = leader.ok_or_else(|| lost("it does not say what it started"))?;
        Ok(Running::There(Box::new(RemoteCommand::new(
            channel,
            Arc::clone(&self.connection),
            id.clone(),
            leader,
            (printed, notices),
        ))))
    }
}

impl There {
    /// The environment, as it is sent: never in a line, which others there may see.
    fn environment(&self, id: &JobId, command: &CommandSpec) -> Result<String, SandboxError> {
        // Last, so that nothing takes its place.
        let mark = [(JOB_VARIABLE.to_owned(), id.to_string())];
        let named = self.passed.iter().chain(&command.env).chain(&mark);
        for (name, value) in named.clone() {
            if !is_variable(name) {
                return Err(SandboxError::Invalid(format!(
                    "the shell there cannot set a variable of the name {name:?}"
                )));
            }
            without_zero(value)?;
        }
        let named = named.map(|(name, value)| (name.as_str(), value.as_str()));
        Ok(environment(named))
    }
}

fn program(command: &CommandSpec) -> Result<Vec<String>, SandboxError> {
    let program = match &command.command {
        CommandLine::Shell(line) => vec![SHELL.to_owned(), "-c".to_owned(), line.clone()],
        CommandLine::Program(words) => words.clone(),
    };
    match program.first().map(String::as_str) {
        None | Some("") => return Err(SandboxError::Invalid("there is no program".to_owned())),
        // The shell would take it for one of its own options.
        Some(name) if name.starts_with('-') => {
            return Err(SandboxError::Invalid(
                "the name of the program begins with a `-`".to_owned(),
            ));
        }
        Some(_) => {}
    }
    for word in program.iter().chain([&command.workdir]) {
        without_zero(word)?;
    }
    Ok(program)
}

fn without_zero(text: &str) -> Result<(), SandboxError> {
    if text.contains('\0') {
        return Err(SandboxError::Invalid("it contains a zero byte".to_owned()));
    }
    Ok(())
}

/// Why there was no first line of ours on a channel.
pub(super) enum NoWord {
    /// Nothing was run.
    Refused(SandboxError),
    /// Nothing was said of it.
    Unknown(&'static str),
}

impl From<NoWord> for SandboxError {
    fn from(missing: NoWord) -> Self {
        match missing {
            NoWord::Refused(error) => error,
            NoWord::Unknown(why) => lost(why),
        }
    }
}

const SILENT: &str = "it does not answer";

/// What our own first line on a channel says, and what came behind it.
pub(super) async fn first_words(
    channel: &mut Channel<Msg>,
    mark: &str,
) -> Result<(String, Bytes), NoWord> {
    let (mut said, mut has_ended) = (Vec::new(), false);
    let refused = |why: &str| Err(NoWord::Refused(lost(why)));
    let reading = timeout(START_TIMEOUT, async {
        loop {
            match channel.wait().await {
                Some(ChannelMsg::Data { data }) => {
                    said.extend_from_slice(&data);
                    if let Some(first) = first_line(&said, mark) {
                        return Ok(first);
                    }
                    if said.len() > MAX_NOISE_BYTES {
                        return refused("its login says too much");
                    }
                }
                Some(ChannelMsg::Failure) => return refused("it runs no commands"),
                Some(ChannelMsg::ExitStatus { .. } | ChannelMsg::ExitSignal { .. }) => {
                    has_ended = true;
                }
                Some(_) => {}
                None if has_ended => return refused("it ended before the command started"),
                None => return Err(NoWord::Unknown("it was lost before the command started")),
            }
        }
    });
    let (words, rest) = reading.await.map_err(|_| NoWord::Unknown(SILENT))??;
    Ok((words, Bytes::from(said.split_off(rest))))
}

/// Our own first line, behind whatever a login says: what it says, and where the command's begins.
fn first_line(said: &[u8], mark: &str) -> Option<(String, usize)> {
    let mark = mark.as_bytes();
    let at = said.windows(mark.len()).position(|part| part == mark)?;
    let end = at + said[at..].iter().position(|byte| *byte == b'\n')?;
    let words = String::from_utf8_lossy(&said[at + mark.len()..end]);
    Some((words.trim().to_owned(), end + 1))
}
