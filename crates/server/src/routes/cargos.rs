//! `/cargos`: volumes that outlive sandboxes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cove_api::CargoId;
use cove_api::{CargoInfo, CargoList, CargoQuery, CreateCargo};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Asked, Named, Once, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(create_cargo, list_cargos)).routes(routes!(get_cargo, delete_cargo))
}

/// Create a cargo
///
/// It belongs to no sandbox and is kept until it is deleted. Its size limit is enforced.
#[utoipa::path(post, path = "/cargos", tag = "cargos", request_body = CreateCargo,
    responses((status = 201, body = CargoInfo, description = "The new cargo")))]
async fn create_cargo(
    State(app): State<App>,
    Caller(owner): Caller,
    Once(key): Once,
    Sent(wish): Sent<CreateCargo>,
) -> Reply<(StatusCode, Json<CargoInfo>)> {
    let bay = app.bay.clone();
    let info = app.finish(async move { bay.create_cargo(&owner, wish, key.as_ref()).await }).await?;
    Ok((StatusCode::CREATED, Json(info)))
}

/// List cargos
///
/// Lists the cargos that the caller created; with `managed=true`, those that were created for a sandbox and are deleted with it.
#[utoipa::path(get, path = "/cargos", tag = "cargos", params(CargoQuery),
    responses((status = 200, body = CargoList, description = "One page, newest first")))]
async fn list_cargos(
    State(app): State<App>,
    Caller(owner): Caller,
    Asked(query): Asked<CargoQuery>,
) -> Reply<Json<CargoList>> {
    app.ask(app.bay.list_cargos(&owner, query)).await.map(Json)
}

/// Get a cargo
#[utoipa::path(get, path = "/cargos/{id}", tag = "cargos",
    responses((status = 200, body = CargoInfo, description = "The cargo")))]
async fn get_cargo(State(app): State<App>, Caller(owner): Caller, Named(id): Named<CargoId>) -> Reply<Json<CargoInfo>> {
    app.ask(app.bay.cargo(&owner, &id)).await.map(Json)
}

/// Delete a cargo
///
/// Refused while a sandbox uses it.
#[utoipa::path(delete, path = "/cargos/{id}", tag = "cargos", responses((status = 204, description = "Deleted")))]
async fn delete_cargo(State(app): State<App>, Caller(owner): Caller, Named(id): Named<CargoId>) -> Reply<StatusCode> {
    let bay = app.bay.clone();
    app.finish(async move { bay.delete_cargo(&owner, &id).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
