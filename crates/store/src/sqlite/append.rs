//! What changes the file. Each is one transaction.

use outfitter_core::{
    Append, AppendError, EntryBody, EventSeq, Fence, NewEntry, RunId, Scope, Seq, SessionId,
    StoreError, UnixMs,
};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Row as _, Sqlite};

use super::error::failed;
use super::open::Database;
use crate::{body, check};

/// How many rows one statement inserts. Each number of rows up to it is its own prepared
/// statement, and a connection keeps a hundred.
const ROWS_AT_ONCE: usize = 32;

/// Takes the write lock at once. A transaction that begins by reading could find at its first
/// write that it read too early, and no waiting helps then.
const BEGIN: &str = "BEGIN IMMEDIATE";

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

    let mut writer = database.writer.lock().await;
    let mut transaction = writer.begin_with(BEGIN).await.map_err(failed)?;
    if !advance(&mut transaction, &place, &rows)
        .await
        .map_err(failed)?
    {
        return Err(refusal(&mut transaction, &place, fence).await);
    }
    let mut seq = place.expected;
    for rows in rows.chunks(ROWS_AT_ONCE) {
        insert(&mut transaction, &place, seq, rows)
            .await
            .map_err(failed)?;
        seq += rows.len() as i64;
    }
    transaction.commit().await.map_err(failed)?;
    Ok(head)
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

/// Moves the session on if it is where the writer thinks it is; says whether it was.
async fn advance(
    connection: &mut SqliteConnection,
    place: &Place<'_>,
    rows: &[NewRow],
) -> Result<bool, sqlx::Error> {
    let updated = rows.last().map(|row| row.at);
    let query = if place.expected == 0 {
        sqlx::query(
            "INSERT INTO sessions (head, fence, updated, created, tenant, subject, id)
             VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(place.head)
        .bind(place.fence)
        .bind(updated)
        .bind(rows.first().map(|row| row.at))
    } else {
        sqlx::query(
            "UPDATE sessions SET head = ?1, fence = ?2, updated = ?3
             WHERE head = ?4 AND fence <= ?2 AND tenant = ?5 AND subject = ?6 AND id = ?7",
        )
        .bind(place.head)
        .bind(place.fence)
        .bind(updated)
        .bind(place.expected)
    };
    let done = owned(query, place.scope, place.session)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() == 1)
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

async fn insert(
    connection: &mut SqliteConnection,
    place: &Place<'_>,
    after: i64,
    rows: &[NewRow],
) -> Result<(), sqlx::Error> {
    let mut sql = String::from(
        "INSERT INTO entries (seq, run, event_seq, kind, body, at, tenant, subject, session) VALUES ",
    );
    for at in 0..rows.len() {
        sql.push_str(if at == 0 { "" } else { ", " });
        sql.push_str("(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    }
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for (seq, row) in (after + 1..).zip(rows) {
        query = query
            .bind(seq)
            .bind(row.run.as_str())
            .bind(row.event_seq)
            .bind(row.kind)
            .bind(&row.body)
            .bind(row.at);
        query = owned(query, place.scope, place.session);
    }
    query.execute(connection).await.map(|_| ())
}

/// Binds whose row it is: the tenant, the subject and the id of the session.
fn owned<'q>(
    query: Query<'q, Sqlite, SqliteArguments>,
    scope: &'q Scope,
    session: &'q SessionId,
) -> Query<'q, Sqlite, SqliteArguments> {
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
        let mut writer = database.writer.lock().await;
        let mut transaction = writer.begin_with(BEGIN).await.map_err(failed)?;
        let sessions =
            sqlx::query("DELETE FROM sessions WHERE tenant = ? AND subject = ? AND id = ?");
        let gone = owned(sessions, scope, session)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        if gone.rows_affected() == 0 {
            return Err(StoreError::NotFound(session.clone()));
        }
        let entries =
            sqlx::query("DELETE FROM entries WHERE tenant = ? AND subject = ? AND session = ?");
        owned(entries, scope, session)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
    }
    // The session is gone; that its bytes leave the write-ahead log too may wait for a reader.
    if let Err(error) = database.empty_wal().await {
        tracing::debug!(%error, "the write-ahead log keeps what was deleted until it is reused");
    }
    Ok(())
}
