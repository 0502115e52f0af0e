//! What the server says about itself.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cove_api::Health;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::metrics;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(health))
}

/// Check that the server runs
#[utoipa::path(get, path = "/health", tag = "service",
    responses((status = 200, body = Health, description = "The server runs")))]
async fn health() -> Json<Health> {
    Json(Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}

/// Metrics for Prometheus.
pub(super) async fn metrics() -> Response {
    let text = metrics::recorder().map(|recorder| recorder.render()).unwrap_or_default();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
