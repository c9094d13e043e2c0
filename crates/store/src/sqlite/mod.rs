//! Sessions in one SQLite file.
//!
//! Many processes may use the file at once: it is in WAL mode, every write begins with
//! `BEGIN IMMEDIATE`, and who finds it locked waits. A process writes over one connection, because
//! SQLite has one writer anyway, and reads over a few others, which never wait for the writer.
//!
//! `synchronous = NORMAL`: an append that was acknowledged survives any end of the process
//! (`kill -9`, a panic, an abort). After a power cut or a crash of the kernel the last appends may
//! be missing, whole: the file is never torn and an append never half there. `FULL` would keep
//! those too, at the price of a wait for the disk (0.1 to 2 ms) in every append.

mod append;
mod approvals;
mod error;
mod open;
mod read;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use outfitter_core::{
    Append, AppendError, ApprovalId, ApprovalStore, Log, Mention, Page, PageRequest, Scope, Seq,
    SessionId, Sessions, StandingApproval, StoreError,
};
use tokio::sync::OnceCell;

use crate::check;

pub use error::LogOpenError;
pub use open::SCHEMA_VERSION;

/// A log in a SQLite file. The file is made, checked and migrated at the first use; a failure to
/// do so is told to that use and tried again at the next.
pub struct SqliteLog {
    path: PathBuf,
    database: OnceCell<open::Database>,
}

impl std::fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteLog")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl SqliteLog {
    /// A log in the file at `path`, which need not be there yet. Touches nothing.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            database: OnceCell::new(),
        }
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file now rather than at the first use, so that a fault is known early.
    ///
    /// # Errors
    /// [`LogOpenError`]; the file is untouched then.
    pub async fn ready(&self) -> Result<(), LogOpenError> {
        self.database().await.map(|_| ())
    }

    async fn database(&self) -> Result<&open::Database, LogOpenError> {
        self.database
            .get_or_try_init(|| open::Database::open(&self.path))
            .await
    }

    async fn used(&self) -> Result<&open::Database, StoreError> {
        self.database().await.map_err(LogOpenError::into_store)
    }
}

#[async_trait]
impl Log for SqliteLog {
    async fn append(&self, scope: &Scope, append: Append<'_>) -> Result<Seq, AppendError> {
        check::entries(&append.entries)?;
        append::append(self.used().await?, scope, append).await
    }

    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        from: Seq,
        limit: u32,
    ) -> Result<Page, StoreError> {
        read::entries(self.used().await?, scope, session, from, limit).await
    }

    async fn list(&self, scope: &Scope, page: PageRequest) -> Result<Sessions, StoreError> {
        read::sessions(self.used().await?, scope, page).await
    }

    async fn find(
        &self,
        scope: &Scope,
        what: Mention<'_>,
    ) -> Result<Option<SessionId>, StoreError> {
        read::find(self.used().await?, scope, what).await
    }

    async fn delete(&self, scope: &Scope, session: &SessionId) -> Result<(), StoreError> {
        append::delete(self.used().await?, scope, session).await
    }
}

#[async_trait]
impl ApprovalStore for SqliteLog {
    async fn remember(&self, scope: &Scope, approval: StandingApproval) -> Result<(), StoreError> {
        approvals::remember(self.used().await?, scope, &approval).await
    }

    async fn standing(&self, scope: &Scope) -> Result<Vec<StandingApproval>, StoreError> {
        approvals::standing(self.used().await?, scope).await
    }

    async fn revoke(&self, scope: &Scope, id: &ApprovalId) -> Result<bool, StoreError> {
        approvals::revoke(self.used().await?, scope, id).await
    }
}
