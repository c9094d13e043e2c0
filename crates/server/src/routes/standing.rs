//! `/v1/approvals`: what the caller approved for longer than a session.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use outfitter_agent::Standing;
use outfitter_codec::ApprovalList;
use outfitter_core::{ApprovalId, Principal, Scope};

use crate::app::App;
use crate::problem::Problem;

impl App {
    fn standing(&self) -> Option<Arc<Standing>> {
        self.host.agent().parts().services.get::<Standing>()
    }
}

/// `GET /v1/approvals`: the caller's that hold now, the last given first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
) -> Result<Response, Problem> {
    let all = match app.standing() {
        Some(standing) => {
            let scope = Scope::from(&*who);
            standing.holding(&scope, app.clock().now()).await?
        }
        None => Vec::new(),
    };
    let listed = serde_json::to_value(ApprovalList::of(&all));
    let listed = listed.map_err(|_| Problem::internal("the approvals could not be written"))?;
    Ok(super::json(&listed))
}

/// `DELETE /v1/approvals/{id}`: from now on the caller is asked again.
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let nothing = || {
        Problem::not_found(format!("there is no approval {id}"))
            .hint("`GET /v1/approvals` lists yours")
    };
    let approval = ApprovalId::new(id.as_str()).map_err(|_| nothing())?;
    let standing = app.standing().ok_or_else(nothing)?;
    let scope = Scope::from(&*who);
    match standing.store.revoke(&scope, &approval).await? {
        true => Ok(StatusCode::NO_CONTENT.into_response()),
        false => Err(nothing()),
    }
}
