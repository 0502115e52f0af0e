//! Processes, as `process.Process` has them.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_bay::{ProcessRecord, RunningProcess};
use cove_runtime_api::{ProcessFrame, ProcessInfo, ProcessStatus, ProcessStream, StartProcess, TerminalSize};
use futures_util::Stream;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::connect::{self, Messages};
use crate::door::{E2bDoor, Guest};
use crate::paths::SandboxPath;
use crate::refusal::Refused;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Start {
    process: Config,
    pty: Option<Pty>,
    tag: Option<String>,
    stdin: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    cmd: String,
    args: Vec<String>,
    envs: BTreeMap<String, String>,
    cwd: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Pty {
    size: Option<TerminalSize>,
}

/// Which process: the number, or the tag that it was started with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Selector {
    pid: Option<u32>,
    tag: Option<String>,
}

impl Selector {
    /// As Bay names it.
    fn process_id(&self) -> Result<String, Refused> {
        match (self.pid, &self.tag) {
            (Some(pid), _) => Ok(pid.to_string()),
            (None, Some(tag)) => Ok(tag.clone()),
            (None, None) => Err(Refused::invalid("`process` names neither a pid nor a tag")),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Selected {
    process: Selector,
    pty: Option<Pty>,
    input: Option<Input>,
    signal: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Input {
    stdin: Option<String>,
    pty: Option<String>,
}

impl Input {
    fn bytes(&self) -> Result<Vec<u8>, Refused> {
        let text = self.stdin.as_deref().or(self.pty.as_deref()).unwrap_or_default();
        STANDARD.decode(text).map_err(|_| Refused::invalid("the input is not base64"))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InputEvent {
    start: Option<Selected>,
    data: Option<Selected>,
}

/// A call's sandbox and its message.
async fn call<T: serde::de::DeserializeOwned>(
    door: &E2bDoor,
    parts: &Parts,
    body: &[u8],
) -> Result<(Guest, T), Refused> {
    let guest = door.guest(parts).await?;
    Ok((guest, connect::message(&parts.headers, body)?))
}

/// Refuses users that a sandbox does not have. The name comes as that of basic authorization.
pub(super) fn check_user(headers: &HeaderMap) -> Result<(), Refused> {
    let basic = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Basic "));
    let name = basic.and_then(|text| String::from_utf8(STANDARD.decode(text).ok()?).ok());
    check_name(name.as_deref().and_then(|name| name.split(':').next()))
}

/// As above, by the name itself.
pub(super) fn check_name(name: Option<&str>) -> Result<(), Refused> {
    match name {
        None | Some("" | "user") => Ok(()),
        Some("root") => Err(Refused::new(
            StatusCode::FORBIDDEN,
            "nobody is root in a sandbox of Cove: leave out the user; what root would install belongs into the \
             Python environment or the image that the profile names",
        )),
        Some(other) => {
            let shown: String = other.chars().take(64).collect();
            Err(Refused::invalid(format!("a sandbox of Cove has one user; leave out {shown:?}")))
        }
    }
}

pub(super) async fn list(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let listed = async {
        let (guest, _): (_, Value) = call(&door, &parts, &body).await?;
        let all = door.bay.processes(&guest.owner, &guest.id).await?;
        let running: Vec<Value> = all.processes.iter().filter(|one| one.running).map(shown).collect();
        Ok(json!({"processes": running}))
    };
    connect::unary(listed.await)
}

fn shown(info: &ProcessInfo) -> Value {
    let (program, args) = info.argv.split_first().map_or((info.command.as_str(), &[][..]), |(one, all)| (one, all));
    let mut config = json!({"cmd": program, "args": args});
    if let Some(cwd) = &info.cwd {
        config["cwd"] = json!(cwd);
    }
    let mut shown = json!({"config": config, "pid": info.pid});
    // A name that was given is a tag; one that was made is nobody's.
    if info.process_id.len() != 8 || !info.process_id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        shown["tag"] = json!(info.process_id);
    }
    shown
}

pub(super) async fn start(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    match started(&door, &parts, &body).await {
        Ok(process) => connect::stream(events(process, connect::keep_alive(&parts.headers))),
        Err(refused) => connect::refused_stream(refused),
    }
}

async fn started(door: &E2bDoor, parts: &Parts, body: &[u8]) -> Result<RunningProcess, Refused> {
    check_user(&parts.headers)?;
    let guest = door.guest(parts).await?;
    let Start { process, pty, tag, stdin } = connect::only_message(&parts.headers, body)?;
    if process.cmd.is_empty() {
        return Err(Refused::invalid("the process has no `cmd`"));
    }
    let mut env = guest.record.envs.clone();
    env.extend([("E2B_SANDBOX".to_owned(), "true".to_owned()), ("E2B_SANDBOX_ID".to_owned(), guest.id.to_string())]);
    env.extend(process.envs);
    let limit = connect::time_limit(&parts.headers);
    let request = StartProcess {
        program: process.cmd,
        args: process.args,
        env,
        cwd: process.cwd.filter(|cwd| !cwd.is_empty()).map(|cwd| SandboxPath::of(&cwd).inside),
        name: tag.filter(|tag| !tag.is_empty()),
        // Clients that do not say so mean one that they can write to.
        input: stdin.unwrap_or(true),
        terminal: pty.map(|pty| pty.size.unwrap_or_default()),
        timeout: limit.map(|limit| limit.as_secs_f64()),
        follow: true,
    };
    Ok(door.bay.run_process(&guest.owner, &guest.id, request, ProcessRecord::Kept).await?)
}

pub(super) async fn connect(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let followed = async {
        let guest = door.guest(&parts).await?;
        let selected: Selected = connect::only_message(&parts.headers, &body)?;
        let process_id = selected.process.process_id()?;
        let process = door.bay.follow_process(&guest.owner, &guest.id, &process_id, None).await?;
        Ok::<_, Refused>(process)
    };
    match followed.await {
        Ok(process) => {
            let limit = connect::time_limit(&parts.headers);
            let events = events(process, connect::keep_alive(&parts.headers));
            connect::stream(until(events, limit))
        }
        Err(refused) => connect::refused_stream(refused),
    }
}

/// What a process does, as the client's stream has it.
fn events(process: RunningProcess, keep_alive: Duration) -> impl Stream<Item = Result<Value, Refused>> + Send {
    futures_util::stream::unfold(Some(process), move |process| async move {
        let mut process = process?;
        loop {
            let frame = match tokio::time::timeout(keep_alive, process.next()).await {
                Ok(Ok(frame)) => frame,
                Ok(Err(error)) => {
                    let gone = Refused::is_gone(&error);
                    let mut refused = Refused::from(error);
                    if gone {
                        refused.status = StatusCode::BAD_GATEWAY;
                    }
                    return Some((Err(refused), None));
                }
                Err(_) => return Some((Ok(json!({"event": {"keepalive": {}}})), Some(process))),
            };
            let event = match frame {
                ProcessFrame::Process(info) => json!({"start": {"pid": info.pid}}),
                ProcessFrame::Output(chunk) => {
                    let name = match chunk.stream {
                        ProcessStream::Stdout => "stdout",
                        ProcessStream::Stderr => "stderr",
                        ProcessStream::Terminal => "pty",
                    };
                    json!({"data": {name: chunk.data}})
                }
                ProcessFrame::Alive => continue,
                ProcessFrame::Ended(info) if info.status == ProcessStatus::TimedOut => {
                    let message = info.error.unwrap_or_else(|| "the process timed out".to_owned());
                    return Some((Err(Refused::new(StatusCode::GATEWAY_TIMEOUT, message)), None));
                }
                ProcessFrame::Ended(info) => return Some((Ok(json!({"event": {"end": end_of(&info)}})), None)),
            };
            return Some((Ok(json!({"event": event})), Some(process)));
        }
    })
}

/// How a process ended, as Go's `os.ProcessState` says it.
fn end_of(info: &ProcessInfo) -> Value {
    match info.signal {
        Some(signal) => {
            let name = match signal {
                9 => "killed".to_owned(),
                15 => "terminated".to_owned(),
                2 => "interrupt".to_owned(),
                11 => "segmentation fault".to_owned(),
                other => format!("signal {other}"),
            };
            let status = format!("signal: {name}");
            let error = info.error.clone().unwrap_or_else(|| status.clone());
            json!({"exitCode": -1, "exited": false, "status": status, "error": error})
        }
        None => {
            let code = info.return_code.unwrap_or(0);
            let status = format!("exit status {code}");
            let mut end = json!({"exitCode": code, "exited": true, "status": status});
            if code != 0 {
                end["error"] = json!(info.error.clone().unwrap_or(status));
            }
            end
        }
    }
}

/// A stream that its client wants for so long.
fn until(
    events: impl Stream<Item = Result<Value, Refused>> + Send,
    limit: Option<Duration>,
) -> impl Stream<Item = Result<Value, Refused>> + Send {
    let over = limit.map(|limit| Box::pin(tokio::time::sleep(limit)));
    futures_util::stream::unfold((Box::pin(events), over, false), |(mut events, mut over, done)| async move {
        use futures_util::StreamExt as _;
        if done {
            return None;
        }
        let late = async {
            match &mut over {
                Some(over) => over.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = events.next() => event.map(|event| (event, (events, over, false))),
            () = late => {
                let refused = Refused::new(StatusCode::GATEWAY_TIMEOUT, "the time of this connection is over");
                Some((Err(refused), (events, None, true)))
            }
        }
    })
}

pub(super) async fn update(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, call): (_, Selected) = call(&door, &parts, &body).await?;
        let size = call.pty.and_then(|pty| pty.size);
        if let Some(size) = size {
            door.bay.resize_process(&guest.owner, &guest.id, &call.process.process_id()?, size).await?;
        }
        Ok(json!({}))
    };
    connect::unary(done.await)
}

pub(super) async fn send_input(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, call): (_, Selected) = call(&door, &parts, &body).await?;
        let bytes = call.input.unwrap_or_default().bytes()?;
        let process_id = call.process.process_id()?;
        door.bay.send_to_process(&guest.owner, &guest.id, &process_id, &bytes, false).await?;
        Ok(json!({}))
    };
    connect::unary(done.await)
}

/// Input as it comes: the client sends the messages, and hears once.
pub(super) async fn stream_input(State(door): State<E2bDoor>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let done = async {
        let guest = door.guest(&parts).await?;
        let mut messages = Messages::new(&parts.headers, body.into_data_stream())?;
        let mut process_id = None;
        while let Some(event) = messages.next::<InputEvent>().await? {
            if let Some(start) = event.start {
                process_id = Some(start.process.process_id()?);
            }
            if let Some(input) = event.data.and_then(|data| data.input) {
                let process_id = process_id.as_deref();
                let process_id = process_id.ok_or_else(|| Refused::invalid("the first message names no process"))?;
                door.bay.send_to_process(&guest.owner, &guest.id, process_id, &input.bytes()?, false).await?;
            }
        }
        Ok(json!({}))
    };
    match done.await {
        Ok(answer) => connect::stream_of_one(answer),
        Err(refused) => connect::refused_stream(refused),
    }
}

pub(super) async fn send_signal(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, call): (_, Selected) = call(&door, &parts, &body).await?;
        let signal = match &call.signal {
            Some(Value::String(name)) if name == "SIGNAL_SIGKILL" => 9,
            Some(Value::String(name)) if name == "SIGNAL_SIGTERM" => 15,
            Some(Value::Number(number)) if matches!(number.as_i64(), Some(9 | 15)) => {
                i32::try_from(number.as_i64().unwrap_or(9)).unwrap_or(9)
            }
            other => return Err(Refused::invalid(format!("unknown signal {other:?}; use SIGKILL or SIGTERM"))),
        };
        let process_id = call.process.process_id()?;
        let info = door.bay.process(&guest.owner, &guest.id, &process_id).await?;
        if !info.running {
            return Err(Refused::missing(format!("process {process_id} has ended")));
        }
        door.bay.signal_process(&guest.owner, &guest.id, &info.process_id, signal).await?;
        Ok(json!({}))
    };
    connect::unary(done.await)
}

pub(super) async fn close_stdin(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, call): (_, Selected) = call(&door, &parts, &body).await?;
        let process_id = call.process.process_id()?;
        door.bay.send_to_process(&guest.owner, &guest.id, &process_id, &[], true).await?;
        Ok(json!({}))
    };
    connect::unary(done.await)
}
