//! What a caller asks. All of it blocks: callers are on threads that may.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use outfitter_core::{Deadline, SandboxError};
use tokio::time::timeout;

use super::ask::{Ask, OpenFlags, PIECE_BYTES};
use super::attrs::Attrs;
use super::line::{Can, Line, MAX_ASKED};
use super::reply::{Fault, Reply};
use crate::ssh::connection::Connection;

/// How long the other machine may take for what is asked together.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// How long it may take to say that a channel is not needed any more.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How many questions for names are on their way together.
const NAMES_ASKED: usize = 8;

/// The files of the other machine.
pub(crate) struct Sftp {
    connection: Arc<Connection>,
    runtime: tokio::runtime::Handle,
    line: tokio::sync::Mutex<Option<Line>>,
}

/// An open file or directory there. Closed when it is dropped.
pub(crate) struct Handle<'a> {
    sftp: &'a Sftp,
    name: Bytes,
    /// Of the line it was opened on; on another it means something else.
    line: u64,
}

impl Sftp {
    /// Nothing is asked yet. To be made within the runtime that drives the connection.
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self {
            connection,
            runtime: tokio::runtime::Handle::current(),
            line: tokio::sync::Mutex::default(),
        }
    }

    /// What the server can do beside the protocol.
    pub(crate) fn can(&self) -> Result<Can, Fault> {
        self.runtime.block_on(async {
            let mut line = self.line.lock().await;
            Ok(self.live(&mut line).await?.can)
        })
    }

    pub(crate) fn lstat(&self, path: &str) -> Result<Attrs, Fault> {
        attrs(self.one(&Ask::Lstat(path))?)
    }

    /// The facts of several, each for itself.
    pub(crate) fn lstat_all(&self, paths: &[String]) -> Result<Vec<Result<Attrs, Fault>>, Fault> {
        let asks: Vec<Ask<'_>> = paths.iter().map(|path| Ask::Lstat(path)).collect();
        Ok(self.all(&asks)?.into_iter().map(attrs).collect())
    }

    /// The same, if they are told by then.
    pub(crate) fn lstat_all_by(
        &self,
        by: Deadline,
        paths: &[String],
    ) -> Result<Vec<Result<Attrs, Fault>>, Fault> {
        let asks: Vec<Ask<'_>> = paths.iter().map(|path| Ask::Lstat(path)).collect();
        let mut all = Vec::with_capacity(asks.len());
        for part in asks.chunks(MAX_ASKED) {
            all.extend(self.asked_by(by, part)?.into_iter().map(attrs));
        }
        Ok(all)
    }

    /// What a link leads to, if it is told by then.
    pub(crate) fn readlink_by(&self, by: Deadline, path: &str) -> Result<String, Fault> {
        let mut replies = self.asked_by(by, &[Ask::Readlink(path)])?;
        name(replies.pop().ok_or_else(unanswered)?)
    }

    pub(crate) fn readlink(&self, path: &str) -> Result<String, Fault> {
        name(self.one(&Ask::Readlink(path))?)
    }

    /// Opens a file; `mode` is for one that is new, less the umask there.
    pub(crate) fn open(
        &self,
        path: &str,
        flags: OpenFlags,
        mode: u32,
    ) -> Result<Handle<'_>, Fault> {
        self.opened(&Ask::Open { path, flags, mode })
    }

    /// The names in a directory with their facts, without `.` and `..`; more than `most` are cut.
    pub(crate) fn names(&self, path: &str, most: u64) -> Result<Vec<(Bytes, Attrs)>, Fault> {
        let directory = self.opened(&Ask::Opendir(path))?;
        let mut names = Vec::new();
        loop {
            let asks = vec![Ask::Readdir(&directory.name); NAMES_ASKED];
            for reply in self.on(directory.line, &asks)? {
                match reply {
                    Reply::Names(some) => names.extend(
                        some.into_iter()
                            .filter(|(name, _)| !matches!(&name[..], b"." | b"..")),
                    ),
                    Reply::End => return Ok(names),
                    other => return Err(fault(other)),
                }
            }
            if names.len() as u64 > most {
                return Ok(names);
            }
        }
    }

    pub(crate) fn remove(&self, path: &str) -> Result<(), Fault> {
        done(self.one(&Ask::Remove(path))?)
    }

    pub(crate) fn make_directory(&self, path: &str, mode: u32) -> Result<(), Fault> {
        done(self.one(&Ask::Mkdir { path, mode })?)
    }

    pub(crate) fn remove_directory(&self, path: &str) -> Result<(), Fault> {
        done(self.one(&Ask::Rmdir(path))?)
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) -> Result<(), Fault> {
        done(self.one(&Ask::SetModeOf { path, mode })?)
    }

    pub(crate) fn symlink(&self, target: &str, path: &str) -> Result<(), Fault> {
        done(self.one(&Ask::Symlink { target, path })?)
    }

    /// Gives a file another name that nothing has yet.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Fault> {
        done(self.one(&Ask::Rename { from, to })?)
    }

    /// Gives a file a name that another may have, which is then gone, in one step.
    pub(crate) fn replace(&self, from: &str, to: &str) -> Result<(), Fault> {
        done(self.one(&Ask::Replace { from, to })?)
    }

    /// Gives a file a second name.
    pub(crate) fn hardlink(&self, from: &str, to: &str) -> Result<(), Fault> {
        done(self.one(&Ask::Hardlink { from, to })?)
    }

    fn opened(&self, ask: &Ask<'_>) -> Result<Handle<'_>, Fault> {
        let (line, mut replies) = self.asked(None, std::slice::from_ref(ask))?;
        match replies.pop() {
            Some(Reply::Handle(name)) => Ok(Handle {
                sftp: self,
                name,
                line,
            }),
            Some(other) => Err(fault(other)),
            None => Err(unanswered()),
        }
    }

    fn one(&self, ask: &Ask<'_>) -> Result<Reply, Fault> {
        let (_, mut replies) = self.asked(None, std::slice::from_ref(ask))?;
        replies.pop().ok_or_else(unanswered)
    }

    /// Any number, a part of them at a time.
    fn all(&self, asks: &[Ask<'_>]) -> Result<Vec<Reply>, Fault> {
        let mut replies = Vec::with_capacity(asks.len());
        for part in asks.chunks(MAX_ASKED) {
            replies.extend(self.asked(None, part)?.1);
        }
        Ok(replies)
    }

    /// The same, of what is open on one line.
    fn on(&self, line: u64, asks: &[Ask<'_>]) -> Result<Vec<Reply>, Fault> {
        Ok(self.asked(Some(line), asks)?.1)
    }

    fn asked(&self, on: Option<u64>, asks: &[Ask<'_>]) -> Result<(u64, Vec<Reply>), Fault> {
        self.runtime.block_on(self.answers(on, asks))
    }

    /// With everything that may have to be waited for before: another question, and a connection.
    fn asked_by(&self, by: Deadline, asks: &[Ask<'_>]) -> Result<Vec<Reply>, Fault> {
        let left = by.remaining().unwrap_or(ANSWER_TIMEOUT);
        if left.is_zero() {
            return Err(unanswered());
        }
        self.runtime.block_on(async {
            let answers = timeout(left, self.answers(None, asks)).await;
            Ok(answers.map_err(|_| unanswered())??.1)
        })
    }

    async fn answers(&self, on: Option<u64>, asks: &[Ask<'_>]) -> Result<(u64, Vec<Reply>), Fault> {
        let repeat = on.is_none() && asks.iter().all(Ask::may_be_repeated);
        let mut line = self.line.lock().await;
        match self.ask_on(&mut line, on, asks).await {
            // A connection that dropped while nothing was asked is noticed only now.
            Err(Fault::Lost(_)) if repeat => self.ask_on(&mut line, on, asks).await,
            answered => answered,
        }
    }

    async fn ask_on(
        &self,
        line: &mut Option<Line>,
        on: Option<u64>,
        asks: &[Ask<'_>],
    ) -> Result<(u64, Vec<Reply>), Fault> {
        let line = self.live(line).await?;
        if on.is_some_and(|number| number != line.number) {
            return Err(Fault::Lost(
                "the connection was made anew, and what was open is not".to_owned(),
            ));
        }
        match timeout(ANSWER_TIMEOUT, line.ask(asks)).await {
            Ok(replies) => Ok((line.number, replies?)),
            Err(_) => Err(unanswered()),
        }
    }

    /// The line, made anew where there is none that works.
    async fn live<'l>(&self, line: &'l mut Option<Line>) -> Result<&'l mut Line, Fault> {
        let number = line.as_ref().map_or(0, |line| line.number + 1);
        let works = line.as_ref().is_some_and(|line| !line.is_broken) && self.connection.is_live();
        if !works {
            if let Some(old) = line.take() {
                // A connection has few channels, and nobody else would end this one.
                let _ = timeout(CLOSE_TIMEOUT, old.close()).await;
            }
            let channel = self.connection.subsystem("sftp").await;
            let channel = channel.map_err(|error| Fault::Lost(reason(&error)))?;
            let opened = timeout(ANSWER_TIMEOUT, Line::open(channel, number)).await;
            *line = Some(opened.map_err(|_| unanswered())??);
        }
        line.as_mut().ok_or_else(unanswered)
    }
}

impl Handle<'_> {
    pub(crate) fn stat(&self) -> Result<Attrs, Fault> {
        let mut replies = self.on(&[Ask::Fstat(&self.name)])?;
        attrs(replies.pop().ok_or_else(unanswered)?)
    }

    /// At most so many bytes from there on; fewer only where the file ends.
    pub(crate) fn read(&self, from: u64, most: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        while bytes.len() < most {
            let left = most - bytes.len();
            // Beyond what a system can express lies behind every end.
            let start = from.saturating_add(bytes.len() as u64);
            if i64::try_from(start).is_err() {
                return Ok(bytes);
            }
            let parts = left.div_ceil(PIECE_BYTES).min(MAX_ASKED);
            let asks: Vec<Ask<'_>> = (0..parts)
                .map(|part| Ask::Read {
                    handle: &self.name,
                    at: start.saturating_add((part * PIECE_BYTES) as u64),
                    most: u32::try_from((left - part * PIECE_BYTES).min(PIECE_BYTES))
                        .unwrap_or(u32::MAX),
                })
                .collect();
            for (ask, reply) in asks.iter().zip(self.on(&asks)?) {
                let wanted = match ask {
                    Ask::Read { most, .. } => *most as usize,
                    _ => 0,
                };
                match reply {
                    Reply::Data(data) if data.len() > wanted => return Err(unanswered()),
                    Reply::Data(data) => {
                        bytes.extend_from_slice(&data);
                        // A short one leaves a gap before the next: that is asked for again.
                        if data.len() < wanted {
                            break;
                        }
                    }
                    Reply::End => return Ok(bytes),
                    other => return Err(fault(other)),
                }
            }
        }
        Ok(bytes)
    }

    /// Writes all of it, from there on.
    pub(crate) fn write(&self, from: u64, bytes: &[u8]) -> Result<(), Fault> {
        let asks: Vec<Ask<'_>> = bytes
            .chunks(PIECE_BYTES)
            .enumerate()
            .map(|(part, bytes)| Ask::Write {
                handle: &self.name,
                at: from + (part * PIECE_BYTES) as u64,
                bytes,
            })
            .collect();
        for part in asks.chunks(MAX_ASKED) {
            for reply in self.on(part)? {
                done(reply)?;
            }
        }
        Ok(())
    }

    pub(crate) fn set_mode(&self, mode: u32) -> Result<(), Fault> {
        let handle = &self.name;
        self.do_one(Ask::SetMode { handle, mode })
    }

    pub(crate) fn set_owner(&self, owner: (u32, u32)) -> Result<(), Fault> {
        let handle = &self.name;
        self.do_one(Ask::SetOwner { handle, owner })
    }

    pub(crate) fn truncate(&self, size: u64) -> Result<(), Fault> {
        let handle = &self.name;
        self.do_one(Ask::Truncate { handle, size })
    }

    /// On the disk, as far as the server can.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        match self.do_one(Ask::Sync(&self.name)) {
            Err(Fault::Unsupported) => Ok(()),
            other => other,
        }
    }

    fn do_one(&self, ask: Ask<'_>) -> Result<(), Fault> {
        done(self.on(&[ask])?.pop().ok_or_else(unanswered)?)
    }

    fn on(&self, asks: &[Ask<'_>]) -> Result<Vec<Reply>, Fault> {
        self.sftp.on(self.line, asks)
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        // One that cannot be closed went with its line.
        let _ = self.on(&[Ask::Close(&self.name)]);
    }
}

/// Without the words that are put before it again.
fn reason(error: &SandboxError) -> String {
    match error {
        SandboxError::Unavailable { reason, .. } => {
            let reason = reason.strip_prefix(crate::ssh::connection::FAILED);
            reason.map_or_else(|| error.to_string(), ToOwned::to_owned)
        }
        other => other.to_string(),
    }
}

fn fault(reply: Reply) -> Fault {
    match reply {
        Reply::Fault(fault) => fault,
        Reply::End => Fault::Failed("there is no more".to_owned()),
        Reply::Done | Reply::Handle(_) | Reply::Data(_) | Reply::Names(_) | Reply::Attrs(_) => {
            unanswered()
        }
    }
}

fn unanswered() -> Fault {
    Fault::Lost("its server of files does not answer".to_owned())
}

fn done(reply: Reply) -> Result<(), Fault> {
    match reply {
        Reply::Done => Ok(()),
        other => Err(fault(other)),
    }
}

fn attrs(reply: Reply) -> Result<Attrs, Fault> {
    match reply {
        Reply::Attrs(attrs) => Ok(attrs),
        other => Err(fault(other)),
    }
}

fn name(reply: Reply) -> Result<String, Fault> {
    match reply {
        Reply::Names(names) => match names.into_iter().next() {
            Some((name, _)) => String::from_utf8(name.to_vec()).map_err(|_| Fault::BadPath),
            None => Err(unanswered()),
        },
        other => Err(fault(other)),
    }
}
