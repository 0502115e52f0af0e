//! JavaScript: one-shot runs and sessions, in either engine.

mod engines;
mod file_tools;
mod host;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use cove_api::SandboxId;
use cove_api::{
    Approval, ApprovalDecision, ApprovalEnd, BayError, EngineUsed, ErrorCode, EventKind, ExecType, JavaScriptData,
    JavaScriptExecRequest, JavaScriptExecResult, JavaScriptImage, JavaScriptSession, ToolAnswer,
};
use cove_core::{
    EngineChoice, ExecutionId, Finished, KeptPicture, LiveHandle, LogLine, LogSink, RunReport, RunRequest,
};
use cove_executor::{HostTools, Pictures, RunContext, RunListener, join_logs};
use serde_json::{Map, Value, json};

use crate::barrier;
use crate::exec::Execution;
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;

pub(crate) use engines::EngineOptions;
pub(crate) use host::JavaScriptHost;

/// The session that `"session": true` means.
const DEFAULT_SESSION: &str = "default";

/// The longest name of a session.
const MAX_NAME_CHARS: usize = 64;

/// The longest time-out of a run.
const MAX_TIMEOUT: Duration = Duration::from_secs(300);

/// Tools that one caller may answer.
const MAX_TOOLS: usize = 64;

/// One run, as a caller inside this process asks for it.
pub struct JavaScriptCall {
    /// What to run.
    pub request: JavaScriptExecRequest,
    /// How long it may take; in place of the request's own time-out, which counts in whole seconds.
    pub timeout: Duration,
    /// Hears this run's console lines as they are written, and no other's.
    pub console: Option<LogSink>,
    /// Whether the last expression is the value of code without a `return`.
    pub last_value: bool,
    /// Tools of whoever asks, answered in this process.
    pub host_tools: Option<HostTools>,
    /// Hears of this run's calls that wait for a person.
    pub asked: Option<ApprovalSink>,
}

/// Hears of calls that wait for a person. Must not block.
pub type ApprovalSink = Arc<dyn Fn(&Approval) + Send + Sync>;

impl From<JavaScriptExecRequest> for JavaScriptCall {
    fn from(request: JavaScriptExecRequest) -> Self {
        Self {
            timeout: Duration::from_secs(request.timeout),
            request,
            console: None,
            last_value: false,
            host_tools: None,
            asked: None,
        }
    }
}

impl Bay {
    /// Runs JavaScript or TypeScript. Dropping the future kills the run.
    pub async fn exec_javascript(
        &self,
        owner: &Owner,
        id: &SandboxId,
        call: impl Into<JavaScriptCall>,
    ) -> BayResult<JavaScriptExecResult> {
        let JavaScriptCall { request, timeout, console, last_value, host_tools, asked } = call.into();
        let run_request = RunRequest { last_value, ..run_request(&request, timeout)? };
        let context = RunContext { host_tools, ..self.javascript_context(owner, id).await? };
        self.inner.javascript.belongs(id, owner);
        let mut run = Execution::begin(self, owner, id, ExecType::JavaScript, request.code.clone())?;
        (run.description, run.tags) = (request.description.clone(), request.tags.clone());
        let events = Arc::new(RunEvents {
            bay: self.clone(),
            sandbox_id: id.clone(),
            execution_id: run.id.clone(),
            session: run_request.session.clone(),
            console,
            asked,
        });
        let mut result = match self.inner.javascript.run(context, run_request, events).await {
            Ok(report) => {
                run.barrier = report.result.as_ref().err().and_then(|fault| barrier::of_fault(fault.kind));
                result_of(report)
            }
            Err(error) => {
                // A conflict may be the end of the sandbox: by a reset, a stop, a deletion, or because it has expired.
                let error = match error.code {
                    ErrorCode::Conflict => self.over(owner, id).await.unwrap_or(error),
                    _ => error,
                };
                run.fail(&error).await;
                return Err(error);
            }
        };
        run.artifacts = result.data.as_ref().filter(|data| !data.images.is_empty()).map(|data| {
            let names: Vec<&str> = data.images.iter().map(|image| image.name.as_str()).collect();
            names.join(",")
        });
        result.code = request.include_code.then_some(request.code);
        let ended = run.end(result.success, Some(&result.output), result.error.as_deref()).await;
        (result.execution_id, result.execution_time_ms) = (Some(run.id.clone()), Some(ended.took_ms));
        result.recorded = ended.recorded;
        if result.data.as_ref().is_some_and(|data| !data.images.is_empty())
            && let Err(error) = self.count_pictures(owner, id).await
        {
            tracing::warn!(%error, "an owner's pictures could not be counted");
        }
        Ok(result)
    }

    /// Forgets a session's state (`None`: the usual one). What runs in it is ended.
    pub async fn reset_javascript(&self, owner: &Owner, id: &SandboxId, session: Option<&str>) -> BayResult<()> {
        self.javascript_context(owner, id).await?;
        self.inner.javascript.end(id, Some(session.unwrap_or(DEFAULT_SESSION))).await;
        Ok(())
    }

    /// A client's answer to a tool call.
    pub async fn answer_tool(&self, owner: &Owner, id: &SandboxId, call_id: &str, answer: ToolAnswer) -> BayResult<()> {
        self.alive_row(owner, id).await?;
        self.inner.javascript.answer_call(id, call_id, answer)
    }

    /// The calls of an owner's code that wait for a person, oldest first.
    pub fn approvals(&self, owner: &Owner) -> Vec<Approval> {
        self.inner.javascript.approvals(owner)
    }

    /// A person has decided about a call that waits. Taken once.
    pub fn decide_approval(
        &self,
        owner: &Owner,
        approval_id: &str,
        approve: bool,
        decision: ApprovalDecision,
    ) -> BayResult<()> {
        self.inner.javascript.decide(owner, approval_id, approve, decision)
    }

    /// Ends every run and every session of a sandbox; for `stop` and `delete`.
    pub(crate) async fn end_javascript(&self, sandbox_id: &SandboxId) {
        self.inner.javascript.end(sandbox_id, None).await;
    }

    /// What the session host must know of the sandbox; refuses one that is over or cannot run JavaScript.
    async fn javascript_context(&self, owner: &Owner, id: &SandboxId) -> BayResult<RunContext> {
        let call = self.admit(owner, id, Capability::Javascript).await?;
        self.settle(&call.row).await?;
        let profile = &call.profile;
        let files = profile.can(Capability::Filesystem);
        // The first container that can run JavaScript says what it may reach.
        let container = profile.containers.iter().find(|spec| spec.capabilities.contains(&call.capability));
        let live_network = match container {
            Some(spec) => Some(Arc::new(self.known_network(id, profile, spec).await?) as LiveHandle),
            None => None,
        };
        Ok(RunContext {
            owner: id.to_string(),
            live_network,
            tools: if files { file_tools::file_tools(self, owner, id) } else { Vec::new() },
            network: container.map(|spec| spec.network.clone()).unwrap_or_default(),
            pictures: match self.no_pictures(owner) {
                None => Pictures::Kept(self.inner.javascript.pictures(id)),
                Some(reason) => Pictures::Refused(reason),
            },
            idle_timeout: Some(match profile.idle_timeout {
                0 => Duration::from_secs(24 * 3600),
                seconds => Duration::from_secs(seconds),
            }),
            host_tools: None,
        })
    }
}

/// The request, checked.
fn run_request(request: &JavaScriptExecRequest, timeout: Duration) -> BayResult<RunRequest> {
    let refused = |message: String| Err(BayError::new(ErrorCode::ValidationError, message));
    if timeout.is_zero() || timeout > MAX_TIMEOUT {
        return refused(format!("`timeout` is {timeout:?}; it must be more than zero and at most {MAX_TIMEOUT:?}"));
    }
    let engine = match request.engine.as_deref() {
        None | Some("auto") => EngineChoice::Auto,
        Some("embedded") => EngineChoice::Embedded,
        Some("browser") => EngineChoice::Browser,
        Some(other) => {
            return refused(format!("`engine` must be \"embedded\", \"browser\" or \"auto\", not {other:?}"));
        }
    };
    let session = match &request.session {
        None | Some(JavaScriptSession::Kept(false)) => None,
        Some(JavaScriptSession::Kept(true)) => Some(DEFAULT_SESSION.to_owned()),
        Some(JavaScriptSession::Named(name)) => {
            let fits = (1..=MAX_NAME_CHARS).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic());
            if !fits {
                return refused(format!(
                    "`session` must be true, false or a name of 1 to {MAX_NAME_CHARS} plain characters"
                ));
            }
            Some(name.clone())
        }
    };
    if request.tools.len() > MAX_TOOLS {
        return refused(format!("`tools` has {} entries; the limit is {MAX_TOOLS}", request.tools.len()));
    }
    Ok(RunRequest {
        input: request.input.clone(),
        engine,
        timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).max(1),
        session,
        tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
        asked_tools: request.tools.iter().filter(|tool| tool.ask).map(|tool| tool.name.clone()).collect(),
        ..RunRequest::new(request.code.as_str())
    })
}

/// A report in the shape of the interface; its entry in the history and its time are filled in by the one who knows them.
fn result_of(report: RunReport) -> JavaScriptExecResult {
    let logs = join_logs(&report);
    let error = match &report.result {
        Ok(Finished { canvas_error: None, .. }) => None,
        Ok(Finished { canvas_error: Some(error), .. }) => Some(format!("canvas_export_failed: {}", error.message)),
        Err(fault) => {
            let mut text = format!("{}: {}", fault.kind.tool_code(), fault.message);
            for more in [&fault.frame, &fault.hint].into_iter().flatten() {
                text.push('\n');
                text.push_str(more);
            }
            Some(text)
        }
    };
    let mut output = logs.clone();
    if let Ok(Finished { value, .. }) = &report.result
        && !value.is_null()
    {
        if !output.is_empty() {
            output.push('\n');
        }
        match value {
            Value::String(text) => output.push_str(text),
            other => output.push_str(&other.to_string()),
        }
    }
    let is_final = report.is_final_answer();
    let (result, images) = match report.result {
        Ok(Finished { value, images, canvas_error: None, .. }) => (value, images.into_iter().map(image).collect()),
        _ => (report.answer(), Vec::new()),
    };
    let engine = report.engine.map(|engine| EngineUsed {
        name: engine.name.to_string(),
        reason: engine.reason,
        because: engine.because,
    });
    let data = JavaScriptData { result, images, logs, engine, is_final, warnings: report.warnings };
    JavaScriptExecResult {
        success: error.is_none(),
        output,
        error,
        data: Some(data),
        execution_id: None,
        execution_time_ms: None,
        recorded: false,
        code: None,
    }
}

fn image(picture: KeptPicture) -> JavaScriptImage {
    JavaScriptImage {
        name: picture.file_name,
        media_type: "image/png".to_owned(),
        width: Some(picture.width),
        height: Some(picture.height),
    }
}

/// Turns what a run says into events of its sandbox.
struct RunEvents {
    bay: Bay,
    sandbox_id: SandboxId,
    execution_id: ExecutionId,
    /// Tells a client with tools of its own whether a call is for it: it learns the execution's id only at the end.
    session: Option<String>,
    console: Option<LogSink>,
    asked: Option<ApprovalSink>,
}

impl RunListener for RunEvents {
    fn console(&self, line: &LogLine) {
        if let Some(console) = &self.console {
            console(line);
        }
        let data = json!({"execution_id": self.execution_id, "level": line.level, "text": line.text});
        self.bay.emit(&self.sandbox_id, EventKind::Console, &object(data));
    }

    fn tool_called(&self, call_id: &str, name: &str, args: Vec<Value>) {
        let data = json!({
            "call_id": call_id, "execution_id": self.execution_id, "session": self.session, "name": name, "args": args
        });
        self.bay.emit(&self.sandbox_id, EventKind::ToolCall, &object(data));
    }

    fn approval_asked(&self, approval: &Approval) {
        let mut data = object(serde_json::to_value(approval).unwrap_or_default());
        data.insert("execution_id".to_owned(), json!(self.execution_id));
        self.bay.emit(&self.sandbox_id, EventKind::ApprovalAsked, &data);
        if let Some(asked) = &self.asked {
            asked(approval);
        }
    }

    fn approval_ended(&self, approval: &Approval, end: ApprovalEnd) {
        let data = json!({"id": approval.id, "execution_id": self.execution_id, "tool": approval.tool, "end": end});
        self.bay.emit(&self.sandbox_id, EventKind::ApprovalEnded, &object(data));
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
