//! Every path, and who answers there.
//!
//! Handlers are thin: they take what was sent, ask Bay, and write what it says. What an operation can answer besides its
//! success is told in `document`, for all of them in one place.

mod admin;
mod approvals;
mod artifacts;
mod browser;
mod cargos;
mod e2b;
mod events;
mod exec;
mod files;
mod history;
mod javascript;
mod mcp;
mod network;
mod ports;
mod processes;
mod sandboxes;
mod service;
mod skills;
mod terminal;
mod upload;
mod view;
pub(crate) mod websocket;

use axum::extract::Request;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Router, routing};
use cove_api::ErrorCode;
use tower_http::cors::CorsLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::failure::Failure;
use crate::{caller, document, envelope, forward, page, ports as port_proxy};

/// Everything under `/v1`.
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .merge(sandboxes::routes())
        .merge(exec::routes())
        .merge(javascript::routes())
        .merge(browser::routes())
        .merge(files::routes())
        .merge(artifacts::routes())
        .merge(approvals::routes())
        .merge(events::routes())
        .merge(ports::routes())
        .merge(network::routes())
        .merge(processes::routes())
        .merge(history::routes())
        .merge(cargos::routes())
        .merge(skills::routes())
        .merge(admin::routes())
}

/// The document's paths, as the code has them.
pub(crate) fn described() -> OpenApi {
    OpenApiRouter::default().merge(service::routes()).nest("/v1", api()).into_openapi()
}

/// The whole server.
pub(crate) fn router(app: App) -> Router {
    let (api, _) = api().split_for_parts();
    let api = api
        .route("/sandboxes/{id}/terminal", routing::get(terminal::open))
        .route("/sandboxes/{id}/browser/view", routing::get(view::open))
        .route("/sandboxes/{id}/ports/{port}", routing::any(port_proxy::with_key))
        .route("/sandboxes/{id}/ports/{port}/", routing::any(port_proxy::with_key))
        .route("/sandboxes/{id}/ports/{port}/{*path}", routing::any(port_proxy::with_key))
        .route_layer(from_fn_with_state(app.clone(), forward::forward_if_elsewhere))
        .route_layer(from_fn_with_state(app.clone(), caller::admit));
    let (service, _) = service::routes().split_for_parts();
    let metrics = Router::new()
        .route("/metrics", routing::get(service::metrics))
        .route_layer(from_fn_with_state(app.clone(), caller::admit_local));
    let all = Router::new()
        .nest("/v1", api.clone())
        // Clients of the first interface know these paths without a version.
        .merge(api)
        .merge(service)
        .merge(metrics)
        .merge(mcp::routes(&app))
        .merge(e2b::routes(&app))
        .route("/openapi.json", routing::get(document::json))
        .route("/docs", routing::get(document::page))
        .merge(page::routes(&app))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method);
    let all = match cors(&app.options.cors_origins) {
        Some(cors) => all.layer(cors),
        None => all,
    };
    // Before everything else: what is for a port's own origin reaches nothing of ours.
    let all = all.layer(from_fn_with_state(app.clone(), port_proxy::divert));
    all.layer(from_fn(envelope::envelope)).with_state(app)
}

async fn nowhere(request: Request) -> Failure {
    Failure::new(ErrorCode::NotFound, format!("there is no endpoint at {}", request.uri().path()))
}

async fn wrong_method(request: Request) -> Failure {
    let message = format!("method {} is not allowed for {}", request.method(), request.uri().path());
    Failure::with_status(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::ValidationError, message)
}

/// Closed unless origins are named: then pages from these may call, with a key.
fn cors(origins: &[String]) -> Option<CorsLayer> {
    if origins.is_empty() {
        return None;
    }
    // The configuration refuses it; whoever says it otherwise gets no page in, rather than every page.
    let known = origins.iter().filter(|origin| *origin != "*").filter_map(|origin| origin.parse().ok());
    let known = known.collect::<Vec<_>>();
    let own = HeaderName::from_static;
    let layer = CorsLayer::new()
        .allow_origin(known)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            own("idempotency-key"),
            own("last-event-id"),
            own("x-request-id"),
        ])
        .expose_headers([own("x-request-id"), header::RETRY_AFTER, header::CONTENT_DISPOSITION]);
    Some(layer)
}
