//! Gull's four endpoints.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::find::AGENT_BROWSER_VERSION;
use crate::gull::{Gull, GullError};
use crate::options::{GullOptions, Listen};
use crate::secret;
use crate::trace::TraceStep;

/// A batch of long commands fits; nothing else has to.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Commands in one `/exec_batch`.
const MAX_COMMANDS: usize = 200;

/// Where a server can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A socket file.
    Unix(PathBuf),
    /// An address; the port is the real one.
    Tcp(SocketAddr),
}

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
        .route("/exec", post(exec))
        .route("/exec_batch", post(exec_batch))
        .route("/health", get(health))
        .route("/meta", get(meta))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
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
    let body = json!({ "error": { "code": "unauthorized", "message": "missing bearer token" } });
    (StatusCode::UNAUTHORIZED, Json(body)).into_response()
}

#[derive(Deserialize)]
struct Exec {
    cmd: String,
    #[serde(default = "exec_timeout")]
    timeout: f64,
    #[serde(default)]
    include_trace: bool,
}

#[derive(Deserialize)]
struct ExecBatch {
    commands: Vec<String>,
    #[serde(default = "batch_timeout")]
    timeout: f64,
    #[serde(default = "yes")]
    stop_on_error: bool,
    #[serde(default)]
    include_trace: bool,
}

/// An answer with the trace that was asked for.
#[derive(Serialize)]
struct Traced<T> {
    #[serde(flatten)]
    answer: T,
    trace: Vec<TraceStep>,
}

fn exec_timeout() -> f64 {
    30.0
}

fn batch_timeout() -> f64 {
    60.0
}

fn yes() -> bool {
    true
}

async fn exec(State(gull): State<Arc<Gull>>, body: Result<Json<Exec>, JsonRejection>) -> Response {
    let Json(Exec { cmd, timeout, include_trace }) = match body {
        Ok(body) => body,
        Err(rejection) => return unfit("body", &rejection.body_text()),
    };
    match seconds(timeout, 300.0) {
        Ok(timeout) if include_trace => {
            let (answer, step) = gull.exec_traced(&cmd, timeout).await;
            Json(Traced { answer, trace: vec![step] }).into_response()
        }
        Ok(timeout) => Json(gull.exec(&cmd, timeout).await).into_response(),
        Err(why) => unfit("timeout", &why),
    }
}

async fn exec_batch(State(gull): State<Arc<Gull>>, body: Result<Json<ExecBatch>, JsonRejection>) -> Response {
    let Json(ExecBatch { commands, timeout, stop_on_error, include_trace }) = match body {
        Ok(body) => body,
        Err(rejection) => return unfit("body", &rejection.body_text()),
    };
    if commands.is_empty() || commands.len() > MAX_COMMANDS {
        return unfit("commands", &format!("1 to {MAX_COMMANDS} commands"));
    }
    match seconds(timeout, 600.0) {
        Ok(timeout) if include_trace => {
            let (answer, trace) = gull.exec_batch_traced(&commands, timeout, stop_on_error).await;
            Json(Traced { answer, trace }).into_response()
        }
        Ok(timeout) => Json(gull.exec_batch(&commands, timeout, stop_on_error).await).into_response(),
        Err(why) => unfit("timeout", &why),
    }
}

async fn health(State(gull): State<Arc<Gull>>) -> Response {
    Json(gull.health().await).into_response()
}

async fn meta(State(gull): State<Arc<Gull>>) -> Json<Value> {
    let (browser, agent) = gull.walls();
    Json(json!({
        "runtime": "gull",
        "runtime_type": "browser",
        "version": env!("CARGO_PKG_VERSION"),
        "api_version": "v1",
        "session": gull.session(),
        "workspace": "/workspace",
        "agent_browser": AGENT_BROWSER_VERSION,
        "capabilities": { "browser": { "version": "1.0" }, "screenshot": { "version": "1.0" } },
        "limits": gull.limits(),
        "walls": { "browser_sandbox": true, "landlock_browser": browser, "landlock_agent": agent },
    }))
}

/// A time-out in seconds, from one to `most`.
fn seconds(given: f64, most: f64) -> Result<Duration, String> {
    if (1.0..=most).contains(&given) {
        Ok(Duration::from_secs_f64(given))
    } else {
        Err(format!("from 1 to {most} seconds"))
    }
}

fn unfit(field: &str, why: &str) -> Response {
    let body = json!({ "detail": [{ "loc": ["body", field], "msg": why, "type": "value_error" }] });
    (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response()
}
