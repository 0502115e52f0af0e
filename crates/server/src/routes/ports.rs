//! `/sandboxes/{id}/ports`: which programs listen, and links by which people reach them.
//!
//! What is below `/ports/{port}` is the program's own and is not in the document: see [`crate::ports`].

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cove_api::{CreatePortLink, CreatedPortLink, PortLinkList, PortList, SandboxId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Named, Sent};
use crate::failure::Reply;
use crate::keys::Identity;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list_ports))
        .routes(routes!(create_port_link, list_port_links))
        .routes(routes!(revoke_port_link))
}

/// List ports
///
/// On which ports programs in the sandbox listen. Starts nothing: a sandbox that does not run has none.
/// Send requests to such a program at `/v1/sandboxes/{id}/ports/{port}/`, with your key.
#[utoipa::path(get, path = "/sandboxes/{id}/ports", tag = "ports",
    responses((status = 200, body = PortList, description = "The ports, in their order")))]
async fn list_ports(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
) -> Reply<Json<PortList>> {
    app.ask(app.bay.ports(&owner, &id)).await.map(Json)
}

/// Create a link to a port
///
/// Whoever opens it in a browser may use the port until the link expires or is revoked. The port has an origin of its own.
#[utoipa::path(post, path = "/sandboxes/{id}/port_links", tag = "ports", request_body = CreatePortLink,
    responses((status = 201, body = CreatedPortLink, description = "The new link")))]
async fn create_port_link(
    State(app): State<App>,
    Caller(owner): Caller,
    axum::Extension(identity): axum::Extension<Identity>,
    Named(id): Named<SandboxId>,
    Sent(wish): Sent<CreatePortLink>,
) -> Reply<(StatusCode, Json<CreatedPortLink>)> {
    let made = app.ask(app.bay.create_port_link(&owner, &id, &wish, identity.tag.as_deref())).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// List links to ports
///
/// Those that work. Their addresses are not told again.
#[utoipa::path(get, path = "/sandboxes/{id}/port_links", tag = "ports",
    responses((status = 200, body = PortLinkList, description = "The links, newest first")))]
async fn list_port_links(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
) -> Reply<Json<PortLinkList>> {
    app.ask(app.bay.port_links(&owner, &id)).await.map(Json)
}

/// Revoke a link to a port
///
/// Nobody gets in with it any more. A connection that is open goes on.
#[utoipa::path(delete, path = "/sandboxes/{id}/port_links/{link_id}", tag = "ports",
    responses((status = 204, description = "It is revoked")))]
async fn revoke_port_link(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, link_id)): Named<(SandboxId, String)>,
) -> Reply<StatusCode> {
    app.ask(app.bay.revoke_port_link(&owner, &id, &link_id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
