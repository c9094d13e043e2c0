//! Approvals that hold beyond their session.

use outfitter_core::{
    ApprovalId, MAX_STANDING_APPROVALS, Scope, StandingApproval, StoreError, UnixMs,
};
use sqlx::{Connection as _, Row as _};

use super::append::BEGIN;
use super::error::failed;
use super::open::Database;
use crate::check;

pub(super) async fn remember(
    database: &Database,
    scope: &Scope,
    approval: &StandingApproval,
) -> Result<(), StoreError> {
    let body = serde_json::to_string(approval).map_err(unwritable)?;
    let (at, expires) = (signed(approval.at), signed(approval.expires));
    let mut writing = database.write().await.map_err(failed)?;
    let mut transaction = writing.connection.begin_with(BEGIN).await.map_err(failed)?;
    sqlx::query("DELETE FROM approvals WHERE tenant = ? AND subject = ? AND expires <= ?")
        .bind(scope.tenant.as_str())
        .bind(scope.subject.as_str())
        .bind(at)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
    let kept: i64 = sqlx::query("SELECT count(*) FROM approvals WHERE tenant = ? AND subject = ?")
        .bind(scope.tenant.as_str())
        .bind(scope.subject.as_str())
        .fetch_one(&mut *transaction)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(failed)?;
    if kept >= MAX_STANDING_APPROVALS as i64 {
        transaction.rollback().await.map_err(failed)?;
        writing.done();
        return Err(check::too_many_approvals());
    }
    sqlx::query(
        "INSERT INTO approvals (tenant, subject, id, interrupt, body, at, expires)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(scope.tenant.as_str())
    .bind(scope.subject.as_str())
    .bind(approval.id.as_str())
    .bind(approval.interrupt.as_str())
    .bind(&body)
    .bind(at)
    .bind(expires)
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    writing.done();
    Ok(())
}

pub(super) async fn standing(
    database: &Database,
    scope: &Scope,
) -> Result<Vec<StandingApproval>, StoreError> {
    let rows = sqlx::query(
        "SELECT body FROM approvals WHERE tenant = ? AND subject = ?
         ORDER BY at DESC, id DESC LIMIT ?",
    )
    .bind(scope.tenant.as_str())
    .bind(scope.subject.as_str())
    .bind(MAX_STANDING_APPROVALS as i64)
    .fetch_all(&database.readers)
    .await
    .map_err(failed)?;
    rows.iter()
        .map(|row| {
            let body: &str = row.try_get(0).map_err(failed)?;
            serde_json::from_str(body).map_err(|error| StoreError::Backend {
                message: "an approval cannot be read".to_owned(),
                source: Some(Box::new(error)),
            })
        })
        .collect()
}

pub(super) async fn revoke(
    database: &Database,
    scope: &Scope,
    id: &ApprovalId,
) -> Result<bool, StoreError> {
    let mut writing = database.write().await.map_err(failed)?;
    let gone = sqlx::query("DELETE FROM approvals WHERE tenant = ? AND subject = ? AND id = ?")
        .bind(scope.tenant.as_str())
        .bind(scope.subject.as_str())
        .bind(id.as_str())
        .execute(&mut writing.connection)
        .await
        .map_err(failed)?;
    writing.done();
    Ok(gone.rows_affected() > 0)
}

fn unwritable(error: serde_json::Error) -> StoreError {
    StoreError::Backend {
        message: "an approval cannot be written".to_owned(),
        source: Some(Box::new(error)),
    }
}

/// SQLite's integers are signed; no clock shows more.
fn signed(at: UnixMs) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}
