//! Approvals: what code waits for, and what a person decides.

use axum::Json;
use axum::extract::State;
use cove_api::{ApprovalDecision, ApprovalList, Status};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Named, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list_approvals)).routes(routes!(approve_call)).routes(routes!(deny_call))
}

/// List calls that wait for a person
///
/// Of code in all sandboxes of the caller. The code stands still until somebody decides.
#[utoipa::path(get, path = "/approvals", tag = "approvals",
    responses((status = 200, body = ApprovalList, description = "Oldest first")))]
async fn list_approvals(State(app): State<App>, Caller(owner): Caller) -> Reply<Json<ApprovalList>> {
    Ok(Json(ApprovalList { items: app.bay.approvals(&owner) }))
}

/// Approve a call
///
/// It is made, once; nothing of the code is run again.
#[utoipa::path(post, path = "/approvals/{approval_id}/approve", tag = "approvals", request_body = ApprovalDecision,
    responses((status = 200, body = Status, description = "The code continues")))]
async fn approve_call(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(approval_id): Named<String>,
    Sent(decision): Sent<ApprovalDecision>,
) -> Reply<Json<Status>> {
    app.bay.decide_approval(&owner, &approval_id, true, decision)?;
    Ok(Json(Status::ok()))
}

/// Deny a call
///
/// It is not made; the code gets an error that it can catch.
#[utoipa::path(post, path = "/approvals/{approval_id}/deny", tag = "approvals", request_body = ApprovalDecision,
    responses((status = 200, body = Status, description = "The code continues with an error")))]
async fn deny_call(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(approval_id): Named<String>,
    Sent(decision): Sent<ApprovalDecision>,
) -> Reply<Json<Status>> {
    app.bay.decide_approval(&owner, &approval_id, false, decision)?;
    Ok(Json(Status::ok()))
}
