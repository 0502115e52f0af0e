//! `GET /page/host`: what this server runs on.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::caller::Admin;
use crate::failure::Reply;

/// For administrators: it concerns all owners.
pub(super) async fn show(State(app): State<App>, Admin: Admin) -> Reply<Response> {
    let report = app.ask(async { Ok(app.bay.host_report().await) }).await?;
    Ok(Json(report).into_response())
}
