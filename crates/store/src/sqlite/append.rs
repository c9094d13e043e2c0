//! What changes the file. Each is one transaction.

use futures_util::TryStreamExt as _;
use outfitter_core::{
    Append, AppendError, EntryBody, EventSeq, Fence, NewEntry, RunId, Scope, Seq, SessionId,
    StoreError, UnixMs,
};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _, Sqlite};

use super::error::failed;
use super::open::Database;
use crate::{body, check};

/// How many rows one statement inserts. Each number of rows is a text of its own, and a connection
/// keeps a hundred texts prepared; appends have a few rows.
const ROWS_AT_ONCE: usize = 32;

/// Takes the write lock at once. A transaction that begins by reading could find at its first
/// write that it read too early, and no waiting helps then.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// An entry as its row.
struct NewRow {
    run: RunId,
    event_seq: Option<i64>,
    kind: &'static str,
    body: String,
    at: i64,
}

pub(super) async fn append(
    database: &Database,
    scope: &Scope,
    append: Append<'_>,
) -> Result<Seq, AppendError> {
    let Append {
        session,
        expected,
        fence,
        entries,
    } = append;
    let head = expected.plus(entries.len());
    // All that can fail without the file fails before it is locked.
    let place = Place {
        scope,
        session,
        expected: number(expected.0)?,
        head: number(head.0)?,
        fence: number(fence.0)?,
    };
    let rows: Vec<NewRow> = entries.into_iter().map(row).collect::<Result<_, _>>()?;

    let mut writing = database.write().await.map_err(failed)?;
    let advanced = write(&mut writing.connection, &place, rows)
        .await
        .map_err(failed)?;
    let end = match advanced {
        Advanced::Yes => Ok(head),
        Advanced::No => Err(refusal(&mut writing.connection, &place, fence).await),
    };
    writing.done();
    end
}

/// Whether the session was where the writer thought.
enum Advanced {
    Yes,
    No,
}

/// Writes all of it as one text of several statements: the connection works on a thread of its own,
/// and the way there and back costs about as much as what SQLite does for one of them.
async fn write(
    connection: &mut SqliteConnection,
    place: &Place<'_>,
    rows: Vec<NewRow>,
) -> Result<Advanced, sqlx::Error> {
    let sql = [BEGIN, advance_sql(place), &insert_sql(rows.len()), "COMMIT"].join(";\n");
    let mut query = advance(sqlx::query(AssertSqlSafe(sql)), place, &rows);
    for (seq, row) in (place.expected + 1..).zip(rows) {
        query = insert(query, place, seq, row);
    }
    // The results come in the order of the statements; all of them have to be waited for.
    let mut results = connection.fetch_many(query);
    let mut changed = Vec::with_capacity(4);
    while let Some(result) = results.try_next().await? {
        if let Some(done) = result.left() {
            changed.push(done.rows_affected());
        }
    }
    Ok(match changed.get(1) {
        Some(1) => Advanced::Yes,
        Some(_) | None => Advanced::No,
    })
}

/// Where an append goes.
struct Place<'a> {
    scope: &'a Scope,
    session: &'a SessionId,
    expected: i64,
    head: i64,
    fence: i64,
}

fn row(new: NewEntry) -> Result<NewRow, StoreError> {
    let NewEntry {
        run,
        at: UnixMs(at),
        event,
        body,
    } = new;
    Ok(NewRow {
        run,
        event_seq: event.map(|EventSeq(seq)| number(seq)).transpose()?,
        kind: EntryBody::kind(&body),
        body: body::write(body).map_err(|error| StoreError::Backend {
            message: "an entry cannot be written".to_owned(),
            source: Some(Box::new(error)),
        })?,
        at: number(at)?,
    })
}

/// SQLite's integers are signed.
fn number(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| check::refuse(format!("the number {number} is too large")))
}

/// Moves the session on if it is where the writer thinks it is.
fn advance_sql(place: &Place<'_>) -> &'static str {
    if place.expected == 0 {
        "INSERT INTO sessions (head, fence, updated, created, tenant, subject, id)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    } else {
        "UPDATE sessions SET head = ?, fence = ?, updated = ?
         WHERE head = ? AND fence <= ? AND tenant = ? AND subject = ? AND id = ?"
    }
}

fn advance<'q>(query: Values<'q>, place: &Place<'q>, rows: &[NewRow]) -> Values<'q> {
    let query = query
        .bind(place.head)
        .bind(place.fence)
        .bind(rows.last().map(|row| row.at));
    let query = if place.expected == 0 {
        query.bind(rows.first().map(|row| row.at))
    } else {
        query.bind(place.expected).bind(place.fence)
    };
    owned(query, place.scope, place.session)
}

/// Why the session was not where the writer thought.
async fn refusal(
    connection: &mut SqliteConnection,
    place: &Place<'_>,
    fence: Fence,
) -> AppendError {
    let query =
        sqlx::query("SELECT head, fence FROM sessions WHERE tenant = ? AND subject = ? AND id = ?");
    let found = owned(query, place.scope, place.session)
        .fetch_optional(connection)
        .await
        .and_then(|row| {
            row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
                .transpose()
        });
    match found.map_err(failed) {
        Err(error) => error.into(),
        Ok(None) => StoreError::NotFound(place.session.clone()).into(),
        Ok(Some((head, written))) => {
            let written = Fence(i64::cast_unsigned(written));
            if fence < written {
                AppendError::Fenced { fence: written }
            } else {
                AppendError::Conflict {
                    head: Seq(i64::cast_unsigned(head)),
                }
            }
        }
    }
}

/// Adds the rows, unless the statement before changed nothing: then the session was not moved on,
/// and there is nothing to add.
fn insert_sql(rows: usize) -> String {
    let statement = |rows: usize| {
        format!(
            "INSERT INTO entries (seq, run, event_seq, kind, body, at, tenant, subject, session)
             SELECT * FROM (VALUES {}) WHERE changes() > 0",
            vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?)"; rows].join(", ")
        )
    };
    let whole = rows / ROWS_AT_ONCE;
    let rest = rows % ROWS_AT_ONCE;
    let mut statements = vec![statement(ROWS_AT_ONCE); whole];
    if rest > 0 {
        statements.push(statement(rest));
    }
    statements.join(";\n")
}

/// The body may be long: it is handed on and not copied.
fn insert<'q>(query: Values<'q>, place: &Place<'q>, seq: i64, row: NewRow) -> Values<'q> {
    let query = query
        .bind(seq)
        .bind(row.run.as_str().to_owned())
        .bind(row.event_seq)
        .bind(row.kind)
        .bind(row.body)
        .bind(row.at);
    owned(query, place.scope, place.session)
}

/// A text with the values that were bound so far, in the order of its question marks.
type Values<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Binds whose row it is: the tenant, the subject and the id of the session.
fn owned<'q>(query: Values<'q>, scope: &'q Scope, session: &'q SessionId) -> Values<'q> {
    query
        .bind(scope.tenant.as_str())
        .bind(scope.subject.as_str())
        .bind(session.as_str())
}

pub(super) async fn delete(
    database: &Database,
    scope: &Scope,
    session: &SessionId,
) -> Result<(), StoreError> {
    {
        let mut writing = database.write().await.map_err(failed)?;
        let mut transaction = writing.connection.begin_with(BEGIN).await.map_err(failed)?;
        let sessions =
            sqlx::query("DELETE FROM sessions WHERE tenant = ? AND subject = ? AND id = ?");
        let gone = owned(sessions, scope, session)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        if gone.rows_affected() == 0 {
            transaction.rollback().await.map_err(failed)?;
            writing.done();
            return Err(StoreError::NotFound(session.clone()));
        }
        let entries =
            sqlx::query("DELETE FROM entries WHERE tenant = ? AND subject = ? AND session = ?");
        owned(entries, scope, session)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writing.done();
    }
    // The session is gone; that its bytes leave the write-ahead log too may wait for a reader.
    if let Err(error) = database.empty_wal().await {
        tracing::debug!(%error, "the write-ahead log keeps what was deleted until it is reused");
    }
    Ok(())
}
