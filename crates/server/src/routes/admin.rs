//! What concerns all owners: profiles for all, the collector for administrators.

use axum::Json;
use axum::extract::State;
use cove_api::{GcReport, GcRequest, GcStatus, ProfileList};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::{Admin, Caller};
use crate::extract::{Asked, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list_profiles))
        .routes(routes!(run_collector))
        .routes(routes!(get_collector))
}

/// How much of each profile.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct DetailQuery {
    /// Include descriptions and containers.
    detail: bool,
}

impl Bounded for DetailQuery {}

/// List profiles
///
/// The profiles from which sandboxes are created.
#[utoipa::path(get, path = "/profiles", tag = "profiles", params(DetailQuery),
    responses((status = 200, body = ProfileList, description = "All profiles")))]
async fn list_profiles(
    State(app): State<App>,
    Caller(_): Caller,
    Asked(query): Asked<DetailQuery>,
) -> Reply<Json<ProfileList>> {
    Ok(Json(app.bay.profiles(query.detail)))
}

/// Run the collector
///
/// It ends expired and idle resources and removes orphans. It also runs by itself at intervals.
#[utoipa::path(post, path = "/admin/gc/run", tag = "admin", request_body = GcRequest,
    responses((status = 200, body = GcReport, description = "What it cleaned up")))]
async fn run_collector(State(app): State<App>, Admin: Admin, Sent(request): Sent<GcRequest>) -> Reply<Json<GcReport>> {
    let bay = app.bay.clone();
    app.finish(async move { bay.run_gc(request).await }).await.map(Json)
}

/// Get the state of the collector
#[utoipa::path(get, path = "/admin/gc/status", tag = "admin",
    responses((status = 200, body = GcStatus, description = "The state of the collector and its last run")))]
async fn get_collector(State(app): State<App>, Admin: Admin) -> Reply<Json<GcStatus>> {
    app.ask(app.bay.gc_status()).await.map(Json)
}
