//! Gull's endpoints.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use cove_core::Deadline;
use cove_runtime_api::{
    BatchRequest, BrowserHealth, BrowserRequest, BrowserWalls, Call, Endpoint, GullMeta, HealthRequest,
    MAX_BATCH_TIMEOUT, MAX_BROWSER_BODY_BYTES, MAX_BROWSER_TIMEOUT, MAX_COMMANDS, MIN_BROWSER_TIMEOUT, MetaRequest,
    Refusal, RefusalCode, VIEW_PATH,
};
use serde_json::json;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::find::AGENT_BROWSER_VERSION;
use crate::governor::BrowserLimits;
use crate::gull::{Gull, GullError};
use crate::options::{GullOptions, Listen};
use crate::secret;
use crate::view;

/// A running server. Dropping it stops it and ends the browser.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    gull: Arc<Gull>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// Starts a Gull and serves it.
pub async fn serve(options: GullOptions) -> Result<Server, GullError> {
    let (listen, token) = (options.listen.clone(), options.token.clone());
    let gull = Arc::new(Gull::start(options).await?);
    let app = router(gull.clone(), token);
    let folder = |source: io::Error| GullError::Folder { what: format!("cannot listen on {listen:?}"), source };
    let (stop, stopped) = oneshot::channel::<()>();
    let ended = async move {
        let _ = stopped.await;
    };
    let (endpoint, serving) = match &listen {
        Listen::Tcp(address) => {
            let listener = TcpListener::bind(address).await.map_err(folder)?;
            let endpoint = Endpoint::Tcp(listener.local_addr().map_err(folder)?);
            (endpoint, tokio::spawn(async move { run(axum::serve(listener, app).with_graceful_shutdown(ended).await) }))
        }
        Listen::Unix(path) => {
            let listener = UnixListener::bind(path).map_err(folder)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(folder)?;
            let endpoint = Endpoint::Unix(path.clone());
            (endpoint, tokio::spawn(async move { run(axum::serve(listener, app).with_graceful_shutdown(ended).await) }))
        }
    };
    Ok(Server { endpoint, gull, stop: Some(stop), serving: Some(serving) })
}

/// A server that stops by itself has nobody to tell but its owner, who waits in `ended`.
fn run(_ended: io::Result<()>) {}

impl Server {
    /// Where it can be reached.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The browser behind it.
    pub fn gull(&self) -> &Arc<Gull> {
        &self.gull
    }

    /// Waits until the server has stopped by itself.
    pub async fn ended(&mut self) {
        if let Some(serving) = &mut self.serving {
            let _ = serving.await;
        }
    }

    /// Stops serving and ends the browser; nothing is left.
    pub async fn close(mut self) {
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            // A client that keeps its connection open must not keep the browser.
            let abort = serving.abort_handle();
            if tokio::time::timeout(Duration::from_secs(1), serving).await.is_err() {
                abort.abort();
            }
        }
        self.gull.close().await;
        self.remove_socket();
    }

    fn remove_socket(&self) {
        if let Endpoint::Unix(path) = &self.endpoint {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
            self.remove_socket();
        }
    }
}

fn router(gull: Arc<Gull>, token: Option<String>) -> Router {
    let app = Router::new()
        .route(BrowserRequest::PATH, post(exec))
        .route(BatchRequest::PATH, post(exec_batch))
        .route(HealthRequest::PATH, get(health))
        .route(MetaRequest::PATH, get(meta))
        .route(VIEW_PATH, get(view::open))
        .layer(DefaultBodyLimit::max(MAX_BROWSER_BODY_BYTES))
        .with_state(gull);
    let Some(token) = token else { return app };
    app.layer(middleware::from_fn_with_state(Arc::new(token), bearer))
}

async fn bearer(State(token): State<Arc<String>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if secret::same(given, &token) {
        return next.run(request).await;
    }
    let status = StatusCode::UNAUTHORIZED;
    let refusal = Refusal::new(status.as_u16(), RefusalCode::Unauthorized, "missing bearer token");
    (status, Json(refusal.body(None))).into_response()
}

async fn exec(State(gull): State<Arc<Gull>>, body: Result<Json<BrowserRequest>, JsonRejection>) -> Response {
    let Json(BrowserRequest { cmd, timeout, include_trace }) = match body {
        Ok(body) => body,
        Err(rejection) => return unfit("body", &rejection.body_text()),
    };
    match deadline(timeout, MAX_BROWSER_TIMEOUT) {
        Ok(deadline) if include_trace => Json(gull.exec_traced(&cmd, deadline).await).into_response(),
        Ok(deadline) => Json(gull.exec(&cmd, deadline).await).into_response(),
        Err(why) => unfit("timeout", &why),
    }
}

async fn exec_batch(State(gull): State<Arc<Gull>>, body: Result<Json<BatchRequest>, JsonRejection>) -> Response {
    let Json(BatchRequest { commands, timeout, stop_on_error, include_trace }) = match body {
        Ok(body) => body,
        Err(rejection) => return unfit("body", &rejection.body_text()),
    };
    if commands.is_empty() || commands.len() > MAX_COMMANDS {
        return unfit("commands", &format!("1 to {MAX_COMMANDS} commands"));
    }
    match deadline(timeout, MAX_BATCH_TIMEOUT) {
        Ok(deadline) => Json(gull.exec_batch(&commands, deadline, stop_on_error, include_trace).await).into_response(),
        Err(why) => unfit("timeout", &why),
    }
}

async fn health(State(gull): State<Arc<Gull>>) -> Json<BrowserHealth> {
    Json(gull.health().await)
}

async fn meta(State(gull): State<Arc<Gull>>) -> Json<GullMeta<BrowserLimits>> {
    let (landlock_browser, landlock_agent) = gull.walls();
    let version = || json!({ "version": "1.0" });
    Json(GullMeta {
        runtime: "gull".to_owned(),
        runtime_type: "browser".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        api_version: "v1".to_owned(),
        session: gull.session().to_owned(),
        workspace: "/workspace".to_owned(),
        agent_browser: AGENT_BROWSER_VERSION.to_owned(),
        capabilities: [("browser".to_owned(), version()), ("screenshot".to_owned(), version())].into_iter().collect(),
        limits: gull.limits(),
        walls: BrowserWalls { browser_sandbox: true, landlock_browser, landlock_agent },
    })
}

/// The time limit of a request in seconds, from one to `most`; its clock starts here.
fn deadline(seconds: f64, most: Duration) -> Result<Deadline, String> {
    let given = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if (MIN_BROWSER_TIMEOUT..=most).contains(&given) {
        Ok(Deadline::after(given))
    } else {
        Err(format!("from 1 to {} seconds", most.as_secs()))
    }
}

fn unfit(field: &str, why: &str) -> Response {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let refusal = Refusal::new(status.as_u16(), RefusalCode::ValidationError, why);
    (status, Json(refusal.body(Some(field)))).into_response()
}
