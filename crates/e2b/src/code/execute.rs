//! `/execute`: a piece of code, and what it says, line by line while it runs.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_api::{
    JavaScriptExecRequest, JavaScriptSession, OutputChunk, OutputStream, PythonExecRequest, PythonExecResult,
};
use cove_bay::{JavaScriptCall, ProcessRecord, Timed};
use cove_core::{BoxFuture, LogLevel};
use cove_runtime_api::{ProcessFrame, ProcessStream, StartProcess};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::contexts::{find, usual};
use super::{Language, results};
use crate::door::{E2bDoor, Guest};
use crate::paths::SandboxPath;
use crate::record::Context;
use crate::refusal::Refused;

/// The longest that a piece of Python or bash may take. A client that wants less ends its request.
const LONGEST: Duration = Duration::from_secs(3600);

/// The longest of JavaScript.
const LONGEST_JAVASCRIPT: Duration = Duration::from_secs(300);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Piece {
    code: String,
    context_id: Option<String>,
    language: Option<String>,
    env_vars: Option<BTreeMap<String, String>>,
}

/// Where lines go while code runs.
type Lines = mpsc::UnboundedSender<Value>;

pub(super) async fn execute(State(door): State<E2bDoor>, parts: Parts, bytes: Bytes) -> Response {
    match started(door, &parts, &bytes).await {
        Ok((lines, work)) => streamed(lines, work),
        Err(refused) => refused.into_response(),
    }
}

async fn started(
    door: E2bDoor,
    parts: &Parts,
    bytes: &[u8],
) -> Result<(mpsc::UnboundedReceiver<Value>, BoxFuture<'static, Result<(), Refused>>), Refused> {
    let guest = door.guest(parts).await?;
    let piece: Piece =
        serde_json::from_slice(bytes).map_err(|error| Refused::invalid(format!("the body cannot be read: {error}")))?;
    let (context, language) = match (&piece.context_id, &piece.language) {
        (Some(id), _) => {
            let context = find(&guest, id)?;
            let language = Language::named(&context.language)?;
            (context, language)
        }
        (None, name) => {
            let language = Language::named(name.as_deref().unwrap_or_default())?;
            (usual(language), language)
        }
    };
    let mut env = guest.record.envs.clone();
    env.extend(piece.env_vars.unwrap_or_default());
    let (lines, told) = mpsc::unbounded_channel();
    let code = piece.code;
    let work: BoxFuture<'static, Result<(), Refused>> = match language {
        Language::Python => Box::pin(python(door, guest, context, code, env, lines)),
        Language::Bash => Box::pin(bash(door, guest, context, code, env, lines)),
        Language::JavaScript | Language::TypeScript => Box::pin(javascript(door, guest, context, code, lines)),
    };
    Ok((told, work))
}

/// Lines as they come; what is refused after the first of them is told as the code's own error. When the client goes,
/// the work is dropped, and the code with it.
fn streamed(lines: mpsc::UnboundedReceiver<Value>, work: BoxFuture<'static, Result<(), Refused>>) -> Response {
    let state = (lines, Some(work), VecDeque::<Value>::new());
    let stream = futures_util::stream::unfold(state, |(mut lines, mut work, mut left)| async move {
        loop {
            if let Some(line) = left.pop_front() {
                return Some((Ok::<_, Infallible>(Bytes::from(format!("{line}\n"))), (lines, work, left)));
            }
            let running = work.as_mut()?;
            tokio::select! {
                biased;
                Some(line) = lines.recv() => left.push_back(line),
                done = running => {
                    work = None;
                    while let Ok(line) = lines.try_recv() {
                        left.push_back(line);
                    }
                    if let Err(refused) = done {
                        let name = refused.connect_code();
                        left.push_back(json!({
                            "type": "error", "name": name, "value": refused.message, "traceback": refused.message,
                        }));
                    }
                }
            }
        }
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(stream)).into_response()
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn output(name: &str, text: &str) -> Value {
    json!({"type": name, "text": text, "timestamp": now()})
}

async fn python(
    door: E2bDoor,
    guest: Guest,
    context: Context,
    code: String,
    env: BTreeMap<String, String>,
    lines: Lines,
) -> Result<(), Refused> {
    let session = (context != usual(Language::Python)).then(|| context.id.clone());
    let request = PythonExecRequest { code, session, env, value_apart: true, ..PythonExecRequest::default() };
    let heard = lines.clone();
    let sink = move |chunk: &OutputChunk| {
        let name = match chunk.stream {
            OutputStream::Stdout => "stdout",
            OutputStream::Stderr => "stderr",
        };
        if !chunk.text.is_empty() {
            let _ = heard.send(output(name, &chunk.text));
        }
        if chunk.dropped > 0 {
            let _ = heard.send(output("stderr", &format!("[{} bytes of output were left out]\n", chunk.dropped)));
        }
    };
    let timed = Timed { output: Some(Arc::new(sink)), long: true, ..Timed::new(request, LONGEST) };
    let done = door.bay.exec_python(&guest.owner, &guest.id, timed).await?;
    tell(&done, &lines);
    Ok(())
}

/// What a cell ended with.
fn tell(done: &PythonExecResult, lines: &Lines) {
    let data = done.data.as_ref();
    for result in data.map(|data| data.output.results.as_slice()).unwrap_or_default() {
        let _ = lines.send(results::result(result));
    }
    if let Some(error) = &done.error {
        let first = error.lines().last().unwrap_or_default();
        let name = data.and_then(|data| data.error_name.clone()).unwrap_or_else(|| "Error".to_owned());
        let value = data.and_then(|data| data.error_message.clone()).unwrap_or_else(|| first.to_owned());
        let _ = lines.send(json!({"type": "error", "name": name, "value": value, "traceback": error}));
    }
    if let Some(count) = data.and_then(|data| data.execution_count) {
        let _ = lines.send(json!({"type": "number_of_executions", "execution_count": count}));
    }
}

/// The name of a context's JavaScript session.
pub(super) fn session(context: &Context) -> String {
    // Both languages are one engine's: the usual contexts of both are one.
    if Language::named(&context.id).is_ok() { "e2b".to_owned() } else { format!("e2b-{}", context.id) }
}

async fn javascript(door: E2bDoor, guest: Guest, context: Context, code: String, lines: Lines) -> Result<(), Refused> {
    let request = JavaScriptExecRequest {
        code,
        input: None,
        engine: None,
        timeout: LONGEST_JAVASCRIPT.as_secs(),
        session: Some(JavaScriptSession::Named(session(&context))),
        tools: Vec::new(),
        include_code: false,
        description: None,
        tags: None,
    };
    let heard = lines.clone();
    let console = move |line: &cove_core::LogLine| {
        let name = if matches!(line.level, LogLevel::Warn | LogLevel::Error) { "stderr" } else { "stdout" };
        let _ = heard.send(output(name, &format!("{}\n", line.text)));
    };
    let call = JavaScriptCall {
        timeout: LONGEST_JAVASCRIPT,
        console: Some(Arc::new(console)),
        last_value: true,
        ..JavaScriptCall::from(request)
    };
    let done = door.bay.exec_javascript(&guest.owner, &guest.id, call).await?;
    let value = done.data.as_ref().map(|data| &data.result);
    match (&done.error, value) {
        (Some(error), value) => {
            let word = |name: &str| value.and_then(|value| value.get(name)?.as_str());
            let message = word("message").unwrap_or(error);
            let name = word("name").or_else(|| word("error")).unwrap_or("Error");
            let _ = lines.send(json!({"type": "error", "name": name, "value": message, "traceback": error}));
        }
        (None, Some(value)) if !value.is_null() => {
            let _ = lines.send(results::value(value));
        }
        (None, _) => {}
    }
    Ok(())
}

async fn bash(
    door: E2bDoor,
    guest: Guest,
    context: Context,
    code: String,
    env: BTreeMap<String, String>,
    lines: Lines,
) -> Result<(), Refused> {
    let request = StartProcess {
        program: "/bin/bash".to_owned(),
        args: vec!["-lc".to_owned(), code],
        env,
        cwd: Some(SandboxPath::of(&context.cwd).inside),
        timeout: Some(LONGEST.as_secs_f64()),
        ..StartProcess::default()
    };
    let mut process = door.bay.run_process(&guest.owner, &guest.id, request, ProcessRecord::Kept).await?;
    let mut ended = EndGuard { door: door.clone(), guest: guest.clone(), process_id: None };
    loop {
        match process.next().await? {
            ProcessFrame::Process(info) => ended.process_id = Some(info.process_id),
            ProcessFrame::Output(chunk) => {
                let bytes = STANDARD.decode(&chunk.data).unwrap_or_default();
                let name = if chunk.stream == ProcessStream::Stderr { "stderr" } else { "stdout" };
                let _ = lines.send(output(name, &String::from_utf8_lossy(&bytes)));
            }
            ProcessFrame::Alive => {}
            ProcessFrame::Ended(info) => {
                ended.process_id = None;
                if let Some(code) = info.return_code.filter(|code| *code != 0) {
                    let value = info.error.unwrap_or_else(|| format!("the command ended with exit code {code}"));
                    let _ = lines.send(json!({
                        "type": "error", "name": "CommandFailed", "value": value, "traceback": value,
                    }));
                }
                return Ok(());
            }
        }
    }
}

/// Ends a piece of bash whose client has gone.
struct EndGuard {
    door: E2bDoor,
    guest: Guest,
    process_id: Option<String>,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        let Some(process_id) = self.process_id.take() else { return };
        let (door, guest) = (self.door.clone(), self.guest.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = door.bay.signal_process(&guest.owner, &guest.id, &process_id, 9).await;
            });
        }
    }
}
