//! `/sandboxes/{id}/network`: which hosts a sandbox may reach while it runs, and its connections.

use axum::Json;
use axum::extract::State;
use cove_api::{SandboxId, SandboxNetwork, SetNetwork};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Named, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(get_network, set_network))
}

/// Show a sandbox's network
///
/// The hosts that are open, those that may be opened, and the last 1,000 connections. Starts nothing.
#[utoipa::path(get, path = "/sandboxes/{id}/network", tag = "network",
    responses((status = 200, body = SandboxNetwork, description = "The network")))]
async fn get_network(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
) -> Reply<Json<SandboxNetwork>> {
    app.ask(app.bay.network(&owner, &id)).await.map(Json)
}

/// Change a sandbox's network
///
/// Opens these hosts and no others, at once: connections to other hosts are closed. What the profile does not open, and does
/// not let be opened, is refused. It holds until it is changed again, also when the sandbox stops and starts.
#[utoipa::path(put, path = "/sandboxes/{id}/network", tag = "network", request_body = SetNetwork,
    responses((status = 200, body = SandboxNetwork, description = "The network as it is now")))]
async fn set_network(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(wish): Sent<SetNetwork>,
) -> Reply<Json<SandboxNetwork>> {
    app.ask(app.bay.set_network(&owner, &id, wish)).await.map(Json)
}
