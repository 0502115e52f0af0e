//! `/sandboxes`: made, listed, prolonged, stopped, deleted.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cove_api::SandboxId;
use cove_api::{CreateSandbox, ExtendTtl, SandboxInfo, SandboxList, SandboxQuery, Status};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Asked, Named, Once, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(create_sandbox, list_sandboxes))
        .routes(routes!(get_sandbox, delete_sandbox))
        .routes(routes!(extend_ttl))
        .routes(routes!(keepalive))
        .routes(routes!(stop_sandbox))
}

/// Create a sandbox
///
/// It is `ready` if the warm pool had one, else `idle`: its first call starts it.
#[utoipa::path(post, path = "/sandboxes", tag = "sandboxes", request_body = CreateSandbox,
    responses((status = 201, body = SandboxInfo, description = "The new sandbox")))]
async fn create_sandbox(
    State(app): State<App>,
    Caller(owner): Caller,
    Once(key): Once,
    Sent(wish): Sent<CreateSandbox>,
) -> Reply<(StatusCode, Json<SandboxInfo>)> {
    let bay = app.bay.clone();
    let info = app.finish(async move { bay.create_sandbox(&owner, wish, key.as_ref()).await }).await?;
    Ok((StatusCode::CREATED, Json(info)))
}

/// List sandboxes
#[utoipa::path(get, path = "/sandboxes", tag = "sandboxes", params(SandboxQuery),
    responses((status = 200, body = SandboxList, description = "One page, newest first")))]
async fn list_sandboxes(
    State(app): State<App>,
    Caller(owner): Caller,
    Asked(query): Asked<SandboxQuery>,
) -> Reply<Json<SandboxList>> {
    app.ask(app.bay.list_sandboxes(&owner, query)).await.map(Json)
}

/// Get a sandbox
///
/// Includes its containers while it has a session.
#[utoipa::path(get, path = "/sandboxes/{id}", tag = "sandboxes",
    responses((status = 200, body = SandboxInfo, description = "The sandbox")))]
async fn get_sandbox(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
) -> Reply<Json<SandboxInfo>> {
    app.ask(app.bay.sandbox(&owner, &id)).await.map(Json)
}

/// Delete a sandbox
///
/// Ends what runs in it, and deletes its cargo if that was created with it. Can be repeated.
#[utoipa::path(delete, path = "/sandboxes/{id}", tag = "sandboxes",
    responses((status = 204, description = "Deleted")))]
async fn delete_sandbox(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
) -> Reply<StatusCode> {
    let bay = app.bay.clone();
    app.finish(async move { bay.delete_sandbox(&owner, &id).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Extend a sandbox's lifetime
///
/// Counted from its expiry or from now, whichever is later.
#[utoipa::path(post, path = "/sandboxes/{id}/extend_ttl", tag = "sandboxes", request_body = ExtendTtl,
    responses((status = 200, body = SandboxInfo, description = "The sandbox with its new expiry")))]
async fn extend_ttl(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Once(key): Once,
    Sent(wish): Sent<ExtendTtl>,
) -> Reply<Json<SandboxInfo>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.extend_ttl(&owner, &id, wish, key.as_ref()).await }).await.map(Json)
}

/// Keep a sandbox alive
///
/// Restarts its idle time; starts nothing.
#[utoipa::path(post, path = "/sandboxes/{id}/keepalive", tag = "sandboxes",
    responses((status = 200, body = Status, description = "Done")))]
async fn keepalive(State(app): State<App>, Caller(owner): Caller, Named(id): Named<SandboxId>) -> Reply<Json<Status>> {
    app.ask(app.bay.keepalive(&owner, &id)).await?;
    Ok(Json(Status::ok()))
}

/// Stop a sandbox
///
/// Ends what runs in it; its cargo is kept, and the next call starts it again.
#[utoipa::path(post, path = "/sandboxes/{id}/stop", tag = "sandboxes",
    responses((status = 200, body = Status, description = "Stopped")))]
async fn stop_sandbox(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
) -> Reply<Json<Status>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.stop_sandbox(&owner, &id).await }).await?;
    Ok(Json(Status { status: "stopped".to_owned() }))
}
