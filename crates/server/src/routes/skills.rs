//! `/skills`: payloads, candidates, evaluations, releases.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cove_api::{CandidateId, ReleaseId};
use cove_api::{
    CandidateInfo, CandidateList, CandidateQuery, CreateCandidate, CreatePayload, DeleteRequest, Deleted, Evaluate,
    EvaluationInfo, PayloadInfo, PayloadRef, Promote, ReleaseHealth, ReleaseInfo, ReleaseList, ReleaseQuery,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Asked, Named, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(create_payload))
        .routes(routes!(get_payload))
        .routes(routes!(create_candidate, list_candidates))
        .routes(routes!(get_candidate, delete_candidate))
        .routes(routes!(evaluate_candidate))
        .routes(routes!(promote_candidate))
        .routes(routes!(list_releases))
        .routes(routes!(get_release, delete_release))
        .routes(routes!(rollback_release))
        .routes(routes!(get_release_health))
}

/// Store a payload
#[utoipa::path(post, path = "/skills/payloads", tag = "skills", request_body = CreatePayload,
    responses((status = 201, body = PayloadRef, description = "Its reference")))]
async fn create_payload(
    State(app): State<App>,
    Caller(owner): Caller,
    Sent(wish): Sent<CreatePayload>,
) -> Reply<(StatusCode, Json<PayloadRef>)> {
    let bay = app.bay.clone();
    let made = app.finish(async move { bay.create_payload(&owner, wish).await }).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Get a payload
#[utoipa::path(get, path = "/skills/payloads/{payload_ref}", tag = "skills",
    responses((status = 200, body = PayloadInfo, description = "The payload")))]
async fn get_payload(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(payload_ref): Named<String>,
) -> Reply<Json<PayloadInfo>> {
    app.ask(app.bay.payload(&owner, &payload_ref)).await.map(Json)
}

/// Create a candidate
///
/// Made from the caller's own executions.
#[utoipa::path(post, path = "/skills/candidates", tag = "skills", request_body = CreateCandidate,
    responses((status = 201, body = CandidateInfo, description = "The new candidate")))]
async fn create_candidate(
    State(app): State<App>,
    Caller(owner): Caller,
    Sent(wish): Sent<CreateCandidate>,
) -> Reply<(StatusCode, Json<CandidateInfo>)> {
    let bay = app.bay.clone();
    let made = app.finish(async move { bay.create_candidate(&owner, wish).await }).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// List candidates
#[utoipa::path(get, path = "/skills/candidates", tag = "skills", params(CandidateQuery),
    responses((status = 200, body = CandidateList, description = "One page, newest first")))]
async fn list_candidates(
    State(app): State<App>,
    Caller(owner): Caller,
    Asked(query): Asked<CandidateQuery>,
) -> Reply<Json<CandidateList>> {
    app.ask(app.bay.list_candidates(&owner, query)).await.map(Json)
}

/// Get a candidate
#[utoipa::path(get, path = "/skills/candidates/{id}", tag = "skills",
    responses((status = 200, body = CandidateInfo, description = "The candidate")))]
async fn get_candidate(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<CandidateId>,
) -> Reply<Json<CandidateInfo>> {
    app.ask(app.bay.candidate(&owner, &id)).await.map(Json)
}

/// Delete a candidate
#[utoipa::path(delete, path = "/skills/candidates/{id}", tag = "skills", request_body = DeleteRequest,
    responses((status = 200, body = Deleted, description = "What was deleted")))]
async fn delete_candidate(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<CandidateId>,
    Sent(wish): Sent<DeleteRequest>,
) -> Reply<Json<Deleted>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.delete_candidate(&owner, &id, wish).await }).await.map(Json)
}

/// Add an evaluation
#[utoipa::path(post, path = "/skills/candidates/{id}/evaluate", tag = "skills", request_body = Evaluate,
    responses((status = 200, body = EvaluationInfo, description = "The evaluation")))]
async fn evaluate_candidate(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<CandidateId>,
    Sent(found): Sent<Evaluate>,
) -> Reply<Json<EvaluationInfo>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.evaluate(&owner, &id, found).await }).await.map(Json)
}

/// Release a candidate
///
/// Its last evaluation must have passed. It replaces the skill's release in use; beside a canary, the stable release
/// before it still gets a part of the replays.
#[utoipa::path(post, path = "/skills/candidates/{id}/promote", tag = "skills", request_body = Promote,
    responses((status = 200, body = ReleaseInfo, description = "The release")))]
async fn promote_candidate(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<CandidateId>,
    Sent(wish): Sent<Promote>,
) -> Reply<Json<ReleaseInfo>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.promote(&owner, &id, wish).await }).await.map(Json)
}

/// List releases
#[utoipa::path(get, path = "/skills/releases", tag = "skills", params(ReleaseQuery),
    responses((status = 200, body = ReleaseList, description = "One page, newest first")))]
async fn list_releases(
    State(app): State<App>,
    Caller(owner): Caller,
    Asked(query): Asked<ReleaseQuery>,
) -> Reply<Json<ReleaseList>> {
    app.ask(app.bay.list_releases(&owner, query)).await.map(Json)
}

/// Get a release
#[utoipa::path(get, path = "/skills/releases/{id}", tag = "skills",
    responses((status = 200, body = ReleaseInfo, description = "The release")))]
async fn get_release(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<ReleaseId>,
) -> Reply<Json<ReleaseInfo>> {
    app.ask(app.bay.release(&owner, &id)).await.map(Json)
}

/// Delete a release
///
/// If it was active, no release is active until another is released; after a canary, the stable release is active again.
#[utoipa::path(delete, path = "/skills/releases/{id}", tag = "skills", request_body = DeleteRequest,
    responses((status = 200, body = Deleted, description = "What was deleted")))]
async fn delete_release(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<ReleaseId>,
    Sent(wish): Sent<DeleteRequest>,
) -> Reply<Json<Deleted>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.delete_release(&owner, &id, wish).await }).await.map(Json)
}

/// Roll back a release
///
/// The previous release becomes active again, as a new version; the candidate of the release that was rolled back is `rolled_back`.
#[utoipa::path(post, path = "/skills/releases/{id}/rollback", tag = "skills",
    responses((status = 200, body = ReleaseInfo, description = "The release that is active now")))]
async fn rollback_release(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<ReleaseId>,
) -> Reply<Json<ReleaseInfo>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.rollback(&owner, &id).await }).await.map(Json)
}

/// Get a release's health
#[utoipa::path(get, path = "/skills/releases/{id}/health", tag = "skills",
    responses((status = 200, body = ReleaseHealth, description = "Its replays compared with those of the previous release")))]
async fn get_release_health(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<ReleaseId>,
) -> Reply<Json<ReleaseHealth>> {
    app.ask(app.bay.release_health(&owner, &id)).await.map(Json)
}
