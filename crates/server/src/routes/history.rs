//! The record of what ran.

use axum::Json;
use axum::extract::State;
use cove_api::{Annotation, HistoryEntry, HistoryList, HistoryQuery};
use cove_api::{ExecType, ExecutionId, SandboxId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::Caller;
use crate::extract::{Asked, Named, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list_history))
        .routes(routes!(get_last_execution))
        .routes(routes!(get_execution, annotate_execution))
}

/// Which kind.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct KindQuery {
    /// Only entries of this kind.
    #[param(inline)]
    exec_type: Option<ExecType>,
}

impl Bounded for KindQuery {}

/// List the history
#[utoipa::path(get, path = "/sandboxes/{id}/history", tag = "history", params(HistoryQuery),
    responses((status = 200, body = HistoryList, description = "One page, newest first")))]
async fn list_history(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<HistoryQuery>,
) -> Reply<Json<HistoryList>> {
    app.ask(app.bay.history(&owner, &id, query)).await.map(Json)
}

/// Get the last execution
#[utoipa::path(get, path = "/sandboxes/{id}/history/last", tag = "history", params(KindQuery),
    responses((status = 200, body = HistoryEntry, description = "The last entry")))]
async fn get_last_execution(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<KindQuery>,
) -> Reply<Json<HistoryEntry>> {
    app.ask(app.bay.last_execution(&owner, &id, query.exec_type)).await.map(Json)
}

/// Get an execution
#[utoipa::path(get, path = "/sandboxes/{id}/history/{execution_id}", tag = "history",
    responses((status = 200, body = HistoryEntry, description = "The entry")))]
async fn get_execution(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, execution_id)): Named<(SandboxId, ExecutionId)>,
) -> Reply<Json<HistoryEntry>> {
    app.ask(app.bay.execution(&owner, &id, &execution_id)).await.map(Json)
}

/// Annotate an execution
///
/// A missing field is not changed.
#[utoipa::path(patch, path = "/sandboxes/{id}/history/{execution_id}", tag = "history", request_body = Annotation,
    responses((status = 200, body = HistoryEntry, description = "The updated entry")))]
async fn annotate_execution(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, execution_id)): Named<(SandboxId, ExecutionId)>,
    Sent(note): Sent<Annotation>,
) -> Reply<Json<HistoryEntry>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.annotate(&owner, &id, &execution_id, note).await }).await.map(Json)
}
