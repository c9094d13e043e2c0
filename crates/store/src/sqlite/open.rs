//! Makes, checks and migrates the file.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection, SqlitePool};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};

use super::error::{LogOpenError, is_busy};
use crate::private_fs;

/// The changes that bring a file from each version to the next, the first from nothing to 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_sessions_and_entries.sql"),
    include_str!("../../migrations/0002_approvals.sql"),
];

/// The version of the files that this program writes, in `PRAGMA user_version`.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Marks a file as ours, in `PRAGMA application_id`: "OutF".
const APPLICATION_ID: i64 = 0x4f75_7446;

/// How long a statement waits for another process before it gives up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the first use tries again what SQLite does not wait for itself: the change to WAL
/// mode needs the file alone for a moment and fails at once when it does not get it.
const OPEN_PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two tries.
const OPEN_PAUSE: Duration = Duration::from_millis(10);

/// How many connections read at once.
const READERS: u32 = 4;

/// How large the write-ahead log may stay once it was copied into the file, in bytes.
const WAL_KEPT: &str = "16777216";

pub(super) struct Database {
    /// The one connection that writes; none while it is out, and after it was left in the middle of
    /// something. The lock is asynchronous: statements are awaited under it.
    writer: Mutex<Option<SqliteConnection>>,
    /// Those that read.
    pub(super) readers: SqlitePool,
    options: SqliteConnectOptions,
}

impl Database {
    pub(super) async fn open(path: &Path) -> Result<Self, LogOpenError> {
        // Absolute, so that no name is taken for a URI or for SQLite's own `:memory:`.
        let path = &std::path::absolute(path).map_err(|source| LogOpenError::File {
            path: path.to_owned(),
            source,
        })?;
        make(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(BUSY_TIMEOUT)
            .synchronous(SqliteSynchronous::Normal)
            .pragma("journal_size_limit", WAL_KEPT)
            // What was deleted is overwritten, not only forgotten.
            .pragma("secure_delete", "ON")
            .disable_statement_logging();
        let patience = Instant::now() + OPEN_PATIENCE;
        let writer = loop {
            match connect(path, &options).await {
                Err(LogOpenError::Sqlite { source, .. })
                    if is_busy(&source) && Instant::now() < patience =>
                {
                    sleep(OPEN_PAUSE).await;
                }
                done => break done?,
            }
        };
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(BUSY_TIMEOUT)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_lazy_with(options.clone().pragma("query_only", "ON"));
        Ok(Self {
            writer: Mutex::new(Some(writer)),
            readers,
            options,
        })
    }

    /// Takes the connection that writes, in turn.
    pub(super) async fn write(&self) -> Result<Writing<'_>, sqlx::Error> {
        let mut place = self.writer.lock().await;
        let connection = match place.take() {
            Some(connection) => connection,
            None => self.options.connect().await?,
        };
        Ok(Writing { place, connection })
    }

    /// Copies the write-ahead log into the file and empties it, unless somebody is reading.
    pub(super) async fn empty_wal(&self) -> Result<(), sqlx::Error> {
        // Its own connection: this must not wait for readers, while the writer should.
        let options = self.options.clone().busy_timeout(Duration::ZERO);
        let mut connection = options.connect().await?;
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&mut connection)
            .await?;
        connection.close().await
    }
}

/// The connection that writes, taken out of its place. Dropping it before [`Writing::done`] closes
/// it, and SQLite undoes what it had begun and lets go of the file: so an append whose caller goes
/// away in the middle, or that fails half-way, holds nobody up.
pub(super) struct Writing<'d> {
    place: MutexGuard<'d, Option<SqliteConnection>>,
    pub(super) connection: SqliteConnection,
}

impl Writing<'_> {
    /// Gives the connection back: it is in the middle of nothing.
    pub(super) fn done(mut self) {
        *self.place = Some(self.connection);
    }
}

/// Makes the file with its mode before SQLite sees it: the files beside it get the mode it has.
fn make(path: &Path) -> Result<(), LogOpenError> {
    if let Some(parent) = path.parent() {
        private_fs::create_private_dir(parent).map_err(|source| LogOpenError::Directory {
            path: parent.to_owned(),
            source,
        })?;
    }
    private_fs::create_private_file(path).map_err(|source| LogOpenError::File {
        path: path.to_owned(),
        source,
    })
}

async fn connect(
    path: &Path,
    options: &SqliteConnectOptions,
) -> Result<SqliteConnection, LogOpenError> {
    let sqlite = |source| LogOpenError::sqlite(path, source);
    let mut connection = options.connect().await.map_err(sqlite)?;
    let found = inspect(&mut connection).await.map_err(sqlite)?;
    found.acceptable(path)?;
    if !found.wal {
        let mode: String = sqlx::query("PRAGMA journal_mode = WAL")
            .fetch_one(&mut connection)
            .await
            .and_then(|row| row.try_get(0))
            .map_err(sqlite)?;
        if mode != "wal" {
            let why = format!("its file system only allows the journal mode {mode}");
            return Err(sqlite(sqlx::Error::Configuration(why.into())));
        }
    }
    if found.version < SCHEMA_VERSION {
        migrate(path, &mut connection).await?;
    }
    Ok(connection)
}

/// What a file says of itself.
struct Found {
    application: i64,
    version: i64,
    tables: i64,
    wal: bool,
}

impl Found {
    fn acceptable(&self, path: &Path) -> Result<(), LogOpenError> {
        let path = path.to_owned();
        let fresh = self.application == 0 && self.version == 0 && self.tables == 0;
        if !fresh && self.application != APPLICATION_ID {
            return Err(LogOpenError::Foreign { path });
        }
        if self.version > SCHEMA_VERSION {
            return Err(LogOpenError::Newer {
                path,
                found: self.version,
            });
        }
        Ok(())
    }
}

/// One statement, so that another process that is making the file is seen before or after.
async fn inspect(connection: &mut SqliteConnection) -> Result<Found, sqlx::Error> {
    let row = sqlx::query(
        "SELECT (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema),
                (SELECT journal_mode FROM pragma_journal_mode)",
    )
    .fetch_one(connection)
    .await?;
    Ok(Found {
        application: row.try_get(0)?,
        version: row.try_get(1)?,
        tables: row.try_get(2)?,
        wal: row.try_get::<String, _>(3)? == "wal",
    })
}

async fn migrate(path: &Path, connection: &mut SqliteConnection) -> Result<(), LogOpenError> {
    let sqlite = |source| LogOpenError::sqlite(path, source);
    let mut transaction = connection
        .begin_with("BEGIN IMMEDIATE")
        .await
        .map_err(sqlite)?;
    // Another process may have done it meanwhile.
    let found = inspect(&mut transaction).await.map_err(sqlite)?;
    found.acceptable(path)?;
    let done = usize::try_from(found.version).unwrap_or_default();
    for migration in MIGRATIONS.get(done..).unwrap_or_default() {
        sqlx::raw_sql(*migration)
            .execute(&mut *transaction)
            .await
            .map_err(sqlite)?;
    }
    let marks = format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(marks))
        .execute(&mut *transaction)
        .await
        .map_err(sqlite)?;
    transaction.commit().await.map_err(sqlite)
}
