//! What guests reach of Ship: a port with `/health` and `/meta`, and nothing else.
//!
//! Few connections at once, one request each, and little time: a guest who takes them all keeps only other guests away.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Connections at once. They cost Ship a descriptor each, of which it needs others.
const SEATS: usize = 16;

/// How long one may last; a look at the health takes five seconds at most.
const CONNECTION_LIMIT: Duration = Duration::from_secs(8);

/// After a failure to take a connection: there will be no room for it at once.
const REST: Duration = Duration::from_millis(50);

/// Serves for as long as the runtime runs.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let seats = Arc::new(Semaphore::new(SEATS));
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { return };
        let Ok((guest, _)) = listener.accept().await else {
            tokio::time::sleep(REST).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(guest), service);
            let _ = tokio::time::timeout(CONNECTION_LIMIT, connection).await;
            drop(seat);
        });
    }
}
