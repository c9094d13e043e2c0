//! What reads the file. Each answer is of one statement, hence of one instant.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use outfitter_core::{
    Entry, EventSeq, Fence, Mention, Page, PageRequest, RunId, Scope, Seq, SessionId,
    SessionSummary, Sessions, StoreError, UnixMs,
};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::error::failed;
use super::open::Database;
use crate::body;
use crate::check::{self, MAX_LIST_PAGE, MAX_READ_PAGE};

/// About how many bytes of bodies one read gives, whatever was asked for; the entry that reaches it
/// is the last.
const READ_BYTES: usize = 32 << 20;

type Cause = Box<dyn std::error::Error + Send + Sync>;

pub(super) async fn entries(
    database: &Database,
    scope: &Scope,
    session: &SessionId,
    from: Seq,
    limit: u32,
) -> Result<Page, StoreError> {
    let from = Seq(from.0.max(1));
    let count = check::page(limit, MAX_READ_PAGE);
    // The session stands in every row, and in one without an entry where there is none.
    let mut rows = sqlx::query(
        "SELECT s.head, s.fence, e.seq, e.run, e.event_seq, e.body, e.at
         FROM sessions s LEFT JOIN entries e
           ON e.tenant = s.tenant AND e.subject = s.subject AND e.session = s.id AND e.seq >= ?
         WHERE s.tenant = ? AND s.subject = ? AND s.id = ?
         ORDER BY e.seq LIMIT ?",
    )
    .bind(i64::try_from(from.0).unwrap_or(i64::MAX))
    .bind(scope.tenant.as_str())
    .bind(scope.subject.as_str())
    .bind(session.as_str())
    .bind(count as i64 + 1)
    .fetch(&database.readers);

    let mut page: Option<Page> = None;
    let mut bytes = 0;
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        let page = match &mut page {
            Some(page) => page,
            None => page.insert(Page {
                entries: Vec::new(),
                next: None,
                head: Seq(unsigned(&row, 0).map_err(failed)?),
                fence: Fence(unsigned(&row, 1).map_err(failed)?),
            }),
        };
        let Some(seq) = row.try_get::<Option<i64>, _>(2).map_err(failed)? else {
            break;
        };
        let seq = Seq(i64::cast_unsigned(seq));
        if page.entries.len() == count || bytes >= READ_BYTES {
            page.next = Some(seq);
            break;
        }
        let body: Result<&str, _> = row.try_get(5);
        bytes += body.as_ref().map_or(0, |body| body.len());
        match body
            .map_err(Cause::from)
            .and_then(|body| entry(seq, body, &row))
        {
            Ok(entry) => page.entries.push(Arc::new(entry)),
            Err(source) if page.entries.is_empty() => {
                return Err(StoreError::Corrupt {
                    session: session.clone(),
                    seq,
                    source,
                });
            }
            // What comes before it is given; who reads on from here is told.
            Err(_) => {
                page.next = Some(seq);
                break;
            }
        }
    }
    page.ok_or_else(|| StoreError::NotFound(session.clone()))
}

fn entry(seq: Seq, body: &str, row: &SqliteRow) -> Result<Entry, Cause> {
    let event: Option<i64> = row.try_get(4)?;
    Ok(Entry {
        seq,
        run: RunId::new(row.try_get::<&str, _>(3)?)?,
        at: UnixMs(unsigned(row, 6)?),
        event: event.map(|event| EventSeq(i64::cast_unsigned(event))),
        body: body::read(body)?,
    })
}

fn unsigned(row: &SqliteRow, column: usize) -> Result<u64, sqlx::Error> {
    row.try_get(column).map(i64::cast_unsigned)
}

pub(super) async fn sessions(
    database: &Database,
    scope: &Scope,
    page: PageRequest,
) -> Result<Sessions, StoreError> {
    let count = check::page(page.limit, MAX_LIST_PAGE);
    let (updated, id) = match page.after {
        None => (i64::MAX, String::new()),
        Some(after) => {
            let updated = sqlx::query(
                "SELECT updated FROM sessions WHERE tenant = ? AND subject = ? AND id = ?",
            )
            .bind(scope.tenant.as_str())
            .bind(scope.subject.as_str())
            .bind(after.as_str())
            .fetch_optional(&database.readers)
            .await
            .map_err(failed)?
            .ok_or_else(|| StoreError::NotFound(after.clone()))?;
            let updated = updated.try_get(0).map_err(failed)?;
            (updated, after.as_str().to_owned())
        }
    };
    let rows = sqlx::query(
        "SELECT id, created, updated, head FROM sessions
         WHERE tenant = ?1 AND subject = ?2
           AND updated <= ?3 AND (updated < ?3 OR id > ?4)
         ORDER BY updated DESC, id LIMIT ?5",
    )
    .bind(scope.tenant.as_str())
    .bind(scope.subject.as_str())
    .bind(updated)
    .bind(id)
    .bind(count as i64 + 1)
    .fetch_all(&database.readers)
    .await
    .map_err(failed)?;
    let sessions = rows
        .iter()
        .map(summary)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| StoreError::Backend {
            message: "a session in the listing cannot be read".to_owned(),
            source: Some(error),
        })?;
    Ok(check::sessions(sessions, count))
}

/// The session that has what is looked for. Reads every row of the scope: the names looked for are
/// in none of the keys.
pub(super) async fn find(
    database: &Database,
    scope: &Scope,
    what: Mention<'_>,
) -> Result<Option<SessionId>, StoreError> {
    let (sql, text) = match what {
        Mention::Run(run) => (
            "SELECT session FROM entries
             WHERE tenant = ? AND subject = ? AND run = ? LIMIT 1",
            run.as_str(),
        ),
        Mention::Interrupt(id) => (
            "SELECT session FROM entries
             WHERE tenant = ? AND subject = ? AND kind = 'interrupt'
               AND CASE WHEN json_valid(body) THEN json_extract(body, '$.body.body.id') END = ?
             LIMIT 1",
            id.as_str(),
        ),
    };
    let row = sqlx::query(sql)
        .bind(scope.tenant.as_str())
        .bind(scope.subject.as_str())
        .bind(text)
        .fetch_optional(&database.readers)
        .await
        .map_err(failed)?;
    row.map(|row| -> Result<SessionId, Cause> { Ok(SessionId::new(row.try_get::<&str, _>(0)?)?) })
        .transpose()
        .map_err(|error| StoreError::Backend {
            message: "the session of an entry cannot be read".to_owned(),
            source: Some(error),
        })
}

fn summary(row: &SqliteRow) -> Result<SessionSummary, Cause> {
    Ok(SessionSummary {
        id: SessionId::new(row.try_get::<&str, _>(0)?)?,
        created: UnixMs(unsigned(row, 1)?),
        updated: UnixMs(unsigned(row, 2)?),
        entries: unsigned(row, 3)?,
    })
}
