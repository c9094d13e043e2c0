//! Messages to other sessions of this installation, kept as files until one of them runs.
//!
//! `DATA_DIR/inbox/TENANT/SUBJECT/` has a folder for each session that was written to, and the
//! folder `@` for what is for whichever session of that person runs next. A session that begins a
//! run makes those its own by renaming them, which only one can. A session that is busy has its
//! letters wait for its next run.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_agent::{Inbox, LetterFrom, Received};
use outfitter_builtin::{Addressee, Letter, Taken};
use outfitter_core::{Code, Log, Principal, Scope, Seq, SessionId, StoreError, ToolError};
use outfitter_store::{create_private_dir, path_segment};
use serde::{Deserialize, Serialize};

use crate::temporary;

/// The most letters that wait in one place.
const MOST_WAITING: usize = 100;

/// The folder of what is for no session in particular. No session's folder is called so.
const ANY: &str = "@";

/// The letters of an installation.
#[derive(Clone)]
pub(in crate::outfit) struct Inboxes {
    root: PathBuf,
    log: Arc<dyn Log>,
}

/// A letter as it waits.
#[derive(Serialize, Deserialize)]
struct Kept {
    v: u8,
    from: String,
    text: String,
}

impl Inboxes {
    pub(in crate::outfit) fn new(data_dir: &Path, log: Arc<dyn Log>) -> Self {
        Self {
            root: data_dir.join("inbox"),
            log,
        }
    }

    /// Keeps a letter for a session of the sender's own, or for a person of the same tenant.
    pub(super) async fn keep(
        &self,
        who: &Principal,
        letter: &Letter,
        at: u64,
    ) -> Result<Taken, ToolError> {
        let mut scope = Scope::from(who);
        let place = match &letter.to {
            Addressee::Stream(id) => {
                let unknown =
                    || ToolError::new(Code::NotFound, format!("there is no session {id}"));
                let session = SessionId::new(id.as_str()).map_err(|_| unknown())?;
                match self.log.read(&scope, &session, Seq(1), 1).await {
                    Ok(_) => {}
                    Err(StoreError::NotFound(_)) => return Err(unknown()),
                    Err(error) => return Err(unusable(&error)),
                }
                path_segment(session.as_str())
            }
            Addressee::User(id) => {
                scope.subject = id.as_str().into();
                ANY.to_owned()
            }
            Addressee::Group(_) => {
                return Err(ToolError::invalid("/group_id", "an inbox has no groups"));
            }
        };
        let dir = self.of(&scope).join(place);
        let name = format!("{at:015}-{}.json", path_segment(&letter.key));
        let kept = Kept {
            v: 1,
            from: who.subject.as_str().to_owned(),
            text: letter.text.clone(),
        };
        match blocking(move || put(&dir, &name, &kept)).await {
            Ok(Some(created)) => Ok(Taken {
                stream_id: None,
                created,
            }),
            Ok(None) => {
                let why = format!("{MOST_WAITING} messages wait there already");
                Err(ToolError::new(Code::TooLarge, why)
                    .with_hint("they are taken when a session of theirs runs"))
            }
            Err(error) => Err(unusable(&error)),
        }
    }

    /// Where what is for a session waits.
    pub(in crate::outfit) fn folder_of(&self, scope: &Scope, session: &SessionId) -> PathBuf {
        self.of(scope).join(path_segment(session.as_str()))
    }

    fn of(&self, scope: &Scope) -> PathBuf {
        self.root
            .join(path_segment(scope.tenant.as_str()))
            .join(path_segment(scope.subject.as_str()))
    }
}

#[async_trait]
impl Inbox for Inboxes {
    async fn waiting(&self, scope: &Scope, session: &SessionId) -> Vec<Received> {
        let any = self.of(scope).join(ANY);
        let own = self.folder_of(scope, session);
        let me = scope.subject.as_str().to_owned();
        let read = blocking(move || {
            claim(&any, &own)?;
            read(&own, &me)
        });
        match read.await {
            Ok(letters) => letters,
            Err(error) => {
                tracing::warn!(%error, %session, "messages to a session cannot be read; they wait");
                Vec::new()
            }
        }
    }

    async fn done(&self, scope: &Scope, session: &SessionId, letters: &[Received]) {
        let own = self.folder_of(scope, session);
        let paths: Vec<PathBuf> = letters.iter().map(|one| own.join(&one.id)).collect();
        let removed = blocking(move || {
            paths.iter().try_for_each(std::fs::remove_file)?;
            // Gone unless somebody wrote meanwhile.
            let _ = std::fs::remove_dir(own);
            Ok(())
        });
        if let Err(error) = removed.await {
            // It is in the log, where it is known by its id.
            tracing::warn!(%error, %session, "a message to a session stays behind");
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn unusable(error: &dyn std::error::Error) -> ToolError {
    ToolError::unavailable(format!("the inbox cannot be written: {error}"))
}

/// Puts it there in one step, and says whether it is the first; nothing where it is full.
fn put(dir: &Path, name: &str, kept: &Kept) -> io::Result<Option<bool>> {
    create_private_dir(dir)?;
    let waiting = names(dir)?.len();
    if waiting >= MOST_WAITING {
        return Ok(None);
    }
    temporary::replace(&dir.join(name), &serde_json::to_vec(kept)?)?;
    Ok(Some(waiting == 0))
}

/// Makes what is for any session this one's.
fn claim(any: &Path, own: &Path) -> io::Result<()> {
    for name in names(any)? {
        create_private_dir(own)?;
        match std::fs::rename(any.join(&name), own.join(&name)) {
            // Another session was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            moved => moved?,
        }
    }
    Ok(())
}

fn read(own: &Path, me: &str) -> io::Result<Vec<Received>> {
    let mut letters = Vec::new();
    for name in names(own)? {
        let bytes = std::fs::read(own.join(&name))?;
        let Ok(kept) = serde_json::from_slice::<Kept>(&bytes) else {
            tracing::warn!(%name, "a message to a session is none that can be read; it stays there");
            continue;
        };
        letters.push(Received {
            id: name,
            from: if kept.from == me {
                LetterFrom::OwnSession
            } else {
                LetterFrom::Subject(kept.from)
            },
            text: kept.text,
        });
    }
    Ok(letters)
}

/// The letters of a folder, the oldest first.
fn names(dir: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        if let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}
