//! Artifacts: pictures and other results of JavaScript.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use cove_api::ArtifactList;
use cove_api::SandboxId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::files::give;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::Named;
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list_artifacts)).routes(routes!(get_artifact))
}

/// List artifacts
#[utoipa::path(get, path = "/sandboxes/{id}/artifacts", tag = "javascript",
    responses((status = 200, body = ArtifactList, description = "All of them, newest first")))]
async fn list_artifacts(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
) -> Reply<Json<ArtifactList>> {
    app.ask(app.bay.list_artifacts(&owner, &id)).await.map(Json)
}

/// Download an artifact
#[utoipa::path(get, path = "/sandboxes/{id}/artifacts/{name}", tag = "javascript",
    responses((status = 200, description = "The bytes",
        content((Vec<u8> = "image/png"), (Vec<u8> = "application/octet-stream")))))]
async fn get_artifact(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, name)): Named<(SandboxId, String)>,
) -> Reply<Response> {
    let file = app.ask(app.bay.artifact(&owner, &id, &name)).await?;
    let media_type = if file.name.ends_with(".png") { "image/png" } else { "application/octet-stream" };
    Ok(give(file, media_type))
}
