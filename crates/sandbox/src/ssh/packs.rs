//! Trees of ours that are laid in for a session: copied to a folder of the account, for reading, and
//! removed there when the session ends, however it does.

use std::path::PathBuf;
use std::sync::Arc;

use outfitter_core::{Clock, JobId, SandboxError};
use russh::Channel;
use russh::client::Msg;

use super::connection::{Connection, lost};
use super::launch::first_words;
use super::script::{KEEP, line};
use super::sftp::Sftp;
use crate::files::remote::lay;

/// The variable that tells commands where the folder is.
pub const PACKS_VARIABLE: &str = "OUTFITTER_SKILLS";

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
/// with us, is its end.
pub(super) struct Folder {
    pub(super) path: String,
    keeper: Channel<Msg>,
}

impl Folder {
    pub(super) async fn make(
        connection: &Arc<Connection>,
        clock: &dyn Clock,
    ) -> Result<Self, SandboxError> {
        let name = JobId::mint(clock).to_string();
        let mark = format!("outfitter-{name}");
        let mut keeper = connection.start(line(KEEP, [mark.as_str(), &name])).await?;
        let (words, _) = first_words(&mut keeper, &mark).await?;
        let path = words
            .strip_prefix("kept ")
            .filter(|path| path.starts_with('/'));
        let path = path.ok_or_else(|| lost("its home has no room for a folder of skills"))?;
        Ok(Self {
            path: path.to_owned(),
            keeper,
        })
    }

    /// Copies each pack into it, and gives what could not be, a pack or a part of one, one sentence
    /// each.
    pub(super) fn fill(&self, sftp: &Sftp, packs: &[LaidPack]) -> Vec<String> {
        let mut left_out = Vec::new();
        for pack in packs {
            let to = format!("{}/{}", self.path, pack.name);
            let fits = !pack.name.is_empty() && !pack.name.contains(['/', '\0', '\n']);
            let laid = fits.then(|| lay(sftp, &pack.from, &to));
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

    /// What has to be held as long as it shall be there.
    pub(super) fn keeper(self) -> Channel<Msg> {
        self.keeper
    }
}
