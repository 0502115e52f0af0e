//! The web page: its files, who is logged in, links that open it, and facts of this machine that it shows.
//!
//! These paths belong to the page and change with it, so they are no part of the interface and not in the OpenAPI document.
//! Everything else the page does by the interface that everybody uses.

mod files;
mod host;
mod login;
mod origin;
mod token;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};

pub(crate) use login::{Spent, identify, only_reads};

use crate::app::App;
use crate::caller;

/// Everything under `/page`, and the page itself.
pub(crate) fn routes(app: &App) -> Router<App> {
    let known = Router::new()
        .route("/page/session", get(login::show).merge(delete(login::leave)))
        .route("/page/links", post(login::make_link))
        .route("/page/host", get(host::show))
        .route_layer(from_fn_with_state(app.clone(), caller::admit));
    Router::new()
        .route("/", get(files::index))
        .route("/page/{name}", get(files::file))
        .route("/page/session", post(login::enter))
        .merge(known)
}
