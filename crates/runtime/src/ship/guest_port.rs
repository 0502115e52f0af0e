//! What guests reach of Ship: a port with `/health` and `/meta`, and nothing else.
//!
//! Few connections at once, one request each, and little time: a guest who takes them all keeps only other guests away.

use std::time::Duration;

use axum::Router;
use cove_network::accept_each;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

/// Connections at once. They cost Ship a descriptor each, of which it needs others.
const SEATS: usize = 16;

/// How long one may last; a look at the health takes five seconds at most.
const CONNECTION_LIMIT: Duration = Duration::from_secs(8);

/// Serves for as long as the runtime runs.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    accept_each(listener, SEATS, |guest| {
        let service = TowerToHyperService::new(router.clone());
        async move {
            let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(guest), service);
            let _ = tokio::time::timeout(CONNECTION_LIMIT, connection).await;
        }
    })
    .await;
}
