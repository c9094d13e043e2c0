//! Trees of ours that are laid in for a session: copied to a folder of the account, for reading, and
//! removed there when the session ends, however it does.

use std::path::PathBuf;
use std::sync::Arc;

use outfitter_core::{Clock, JobId, SandboxError};
use russh::Channel;
use russh::client::Msg;
use tokio::sync::Mutex;

use super::connection::{Connection, lost};
use super::launch::first_words;
use super::script::{KEEP, line};
use super::sftp::Sftp;
use crate::files::remote::lay;

/// The variable that tells commands where the folder is.
pub(super) const PACKS_VARIABLE: &str = "OUTFITTER_SKILLS";

/// How many parts of a pack that are not laid in are named.
const TOLD_OF_A_PACK: usize = 20;

/// A tree of ours, and the name it has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaidPack {
    /// One name, without a slash.
    pub name: String,
    /// The directory here.
    pub from: PathBuf,
}

/// A folder there that lasts as long as this. The end of its channel, also with the connection or
/// with us, is its end; with the next connection it is made again, under the same path.
pub(super) struct Folder {
    pub(super) path: String,
    name: String,
    packs: Vec<LaidPack>,
    connection: Arc<Connection>,
    clock: Arc<dyn Clock>,
    keeper: Mutex<Keeper>,
}

/// What keeps a folder there.
struct Keeper {
    /// Held: its end is the end of the folder.
    _channel: Channel<Msg>,
    /// Of which connection it is.
    connection: u64,
}

impl Folder {
    /// An empty one, to be [filled](Self::fill) with these.
    pub(super) async fn make(
        connection: &Arc<Connection>,
        clock: Arc<dyn Clock>,
        packs: Vec<LaidPack>,
    ) -> Result<Self, SandboxError> {
        let name = JobId::mint(&*clock).to_string();
        let (path, keeper) = keep(connection, &name, &*clock).await?;
        Ok(Self {
            path,
            name,
            packs,
            connection: Arc::clone(connection),
            clock,
            keeper: Mutex::new(keeper),
        })
    }

    /// Makes and fills it again where the connection is another than the one it was made by. Gives
    /// what could not be laid in then.
    pub(super) async fn renew(self: &Arc<Self>) -> Result<Vec<String>, SandboxError> {
        let mut keeper = self.keeper.lock().await;
        if self.connection.number().await? == keeper.connection {
            return Ok(Vec::new());
        }
        (_, *keeper) = keep(&self.connection, &self.name, &*self.clock).await?;
        let folder = Arc::clone(self);
        let filled = tokio::task::spawn_blocking(move || {
            folder.fill(&Sftp::new(Arc::clone(&folder.connection)))
        });
        filled.await.map_err(|error| lost(error.to_string()))
    }

    /// Copies each pack into it, and gives what could not be, a pack or a part of one, one sentence
    /// each.
    pub(super) fn fill(&self, sftp: &Sftp) -> Vec<String> {
        let mut left_out = Vec::new();
        for pack in &self.packs {
            let fits = !pack.name.is_empty() && !pack.name.contains(['/', '\0', '\n']);
            let laid = fits.then(|| lay(sftp, &pack.from, &self.path, &pack.name));
            match laid {
                Some(Ok(without)) => {
                    let (name, more) = (&pack.name, without.len().saturating_sub(TOLD_OF_A_PACK));
                    left_out.extend(without.into_iter().take(TOLD_OF_A_PACK).map(|error| {
                        format!("{name} is laid in there without a part of it: failed to {error}")
                    }));
                    if more > 0 {
                        left_out.push(format!("{name} is laid in there without {more} more parts"));
                    }
                }
                Some(Err(error)) => {
                    let name = &pack.name;
                    left_out.push(format!("{name} is not laid in there: failed to {error}"));
                }
                None => left_out.push(format!("{:?} is no name of a folder", pack.name)),
            }
        }
        left_out
    }
}

/// Makes a folder of this name, empty, and gives its path. One that a connection before has left is
/// taken over: who kept it then leaves it.
async fn keep(
    connection: &Connection,
    name: &str,
    clock: &dyn Clock,
) -> Result<(String, Keeper), SandboxError> {
    let number = connection.number().await?;
    let token = JobId::mint(clock).to_string();
    let mark = format!("outfitter-{token}");
    let script = line(KEEP, [mark.as_str(), name, &token]);
    let mut channel = connection.start(script).await?;
    let (words, _) = first_words(&mut channel, &mark).await?;
    let path = words
        .strip_prefix("kept ")
        .filter(|path| path.starts_with('/'));
    let path = path.ok_or_else(|| lost("its home has no room for a folder of skills"))?;
    let keeper = Keeper {
        _channel: channel,
        connection: number,
    };
    Ok((path.to_owned(), keeper))
}
