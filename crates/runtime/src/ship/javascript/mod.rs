//! `/javascript/…`: JavaScript and TypeScript beside Python, with the workspace's files as tools.
//!
//! Code runs in the embedded engine, in a process of its own inside the sandbox. The browser engine is not here: a
//! browser inside these walls could not have its own, so the control plane runs that one outside.

mod link;
mod process;
mod result;
mod wire;

pub(crate) use link::{Javascript, Recipe};

use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use cove_core::{EngineChoice, RunRequest};
use cove_runtime_api::RefusalCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ShipState;
use super::error::{ApiError, Body};
use link::Call;
use wire::Message;

/// The argument that turns Ship's program into the JavaScript process. No user types it.
pub(super) const PROCESS_ARGUMENT: &str = "__javascript";

/// The session that `"session": true` means.
const DEFAULT_SESSION: &str = "default";

/// The longest name of a session.
const MAX_NAME_CHARS: usize = 64;

/// The routes of this part.
pub(crate) fn routes() -> Router<ShipState> {
    Router::new().route("/javascript/exec", post(exec)).route("/javascript/reset", post(reset))
}

/// Becomes the JavaScript process if these arguments ask for it; returns when Ship has gone.
pub(super) fn enter_if_asked(args: &[String]) -> Option<(u8, Option<String>)> {
    let [first, number, folder] = args else { return None };
    if first != PROCESS_ARGUMENT {
        return None;
    }
    // Guests have the same user: without this they could read and change it.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let served = (|| {
        let number = number.parse().map_err(|_| "no socket to Ship".to_owned())?;
        let socket = cove_walls::descriptors::adopt(number).ok_or_else(|| "no socket to Ship".to_owned())?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime.block_on(process::serve(socket, folder.as_ref()))
    })();
    Some(match served {
        Ok(()) => (0, None),
        Err(error) => (5, Some(error)),
    })
}

#[derive(Debug, Deserialize)]
struct ExecRequest {
    code: String,
    #[serde(default)]
    input: Option<Value>,
    engine: Option<String>,
    timeout: Option<f64>,
    session: Option<SessionName>,
    max_operations: Option<u64>,
    fallback: Option<bool>,
    #[serde(default)]
    stream: bool,
    #[serde(alias = "messageId")]
    message_id: Option<String>,
    #[serde(alias = "agentId")]
    agent_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SessionName {
    Kept(bool),
    Named(String),
}

impl SessionName {
    fn parse(self) -> Result<Option<String>, ApiError> {
        let name = match self {
            Self::Kept(kept) => return Ok(kept.then(|| DEFAULT_SESSION.to_owned())),
            Self::Named(name) => name,
        };
        let fits = (1..=MAX_NAME_CHARS).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic());
        if !fits {
            let message = format!("`session` must be true, false or a name of 1 to {MAX_NAME_CHARS} plain characters");
            return Err(ApiError::validation(message));
        }
        Ok(Some(name))
    }
}

impl ExecRequest {
    fn parse(self) -> Result<RunRequest, ApiError> {
        let timeout = super::shell::timeout(self.timeout)?;
        let engine = match self.engine.as_deref() {
            None | Some("auto") => EngineChoice::Auto,
            Some("embedded") => EngineChoice::Embedded,
            Some("browser" | "chrome") => {
                return Err(ApiError::bad_request(
                    RefusalCode::CapabilityNotSupported,
                    "The browser engine of a sandbox is provided by the control plane, outside of the sandbox's walls; \
                     this runtime has the engine \"embedded\"",
                ));
            }
            Some(other) => {
                let message = format!("`engine` must be \"auto\" or \"embedded\", not {other:?}");
                return Err(ApiError::validation(message));
            }
        };
        if self.max_operations == Some(0) {
            return Err(ApiError::validation("`max_operations` must be at least 1"));
        }
        Ok(RunRequest {
            input: self.input,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).max(1),
            max_operations: self.max_operations,
            session: self.session.map_or(Ok(None), SessionName::parse)?,
            // It cannot bring a browser here, only say that one is missed.
            engine,
            fallback: self.fallback.unwrap_or(true),
            message_id: self.message_id,
            agent_id: self.agent_id,
            ..RunRequest::new(self.code)
        })
    }
}

async fn exec(State(state): State<ShipState>, Body(request): Body<ExecRequest>) -> Result<Response, ApiError> {
    let stream = request.stream;
    let mut call = state.javascript.exec(request.parse()?).await?;
    Ok(if stream { as_lines(call) } else { Json(call.done().await).into_response() })
}

/// One JSON object per line: `{"log":{"level":…,"text":…}}` as they are written, at last `{"answer":{…}}`.
fn as_lines(call: Call) -> Response {
    let lines = futures_util::stream::unfold(call, |mut call| async move {
        let line = match call.next().await? {
            Message::Log { line, .. } => json!({"log": line}),
            Message::Done { answer, .. } => json!({"answer": answer}),
            Message::Ready { .. } => json!({}),
        };
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(format!("{line}\n"))), call))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], HttpBody::from_stream(lines)).into_response()
}

#[derive(Debug, Deserialize)]
struct ResetRequest {
    session: Option<SessionName>,
    #[serde(default)]
    all: bool,
}

async fn reset(State(state): State<ShipState>, Body(request): Body<ResetRequest>) -> Result<Json<Value>, ApiError> {
    let session = match (request.all, request.session) {
        (true, _) => None,
        (false, None) => Some(DEFAULT_SESSION.to_owned()),
        (false, Some(name)) => Some(name.parse()?.unwrap_or_else(|| DEFAULT_SESSION.to_owned())),
    };
    let ended = state.javascript.reset(session).await?;
    Ok(Json(json!({"success": true, "ended": ended, "message": format!("{ended} JavaScript sessions were ended")})))
}
