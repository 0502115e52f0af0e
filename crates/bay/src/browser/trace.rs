//! Traces: what each step of a browser call said, kept for whoever wants to look, and for skills to learn from.

use cove_api::{BayError, BrowserStep, BrowserTrace, ErrorCode, Moment, SandboxId, TraceContent, TraceKind};
use cove_core::beginning_bytes;
use serde_json::{Value, json};

use crate::exec::Execution;
use crate::{Bay, BayResult, Owner};
use cove_store::{NewBlob, StoreError, blob_id, blob_ref};

/// What a trace keeps of each stream of a step.
const MAX_TRACED_BYTES: usize = 8 << 10;

/// What became of a call's trace.
pub(super) struct Kept {
    /// Its reference, for a caller who asked for it.
    pub(super) trace_ref: Option<String>,
    /// False: one was wanted, and could not be kept.
    pub(super) recorded: bool,
}

impl Bay {
    /// A trace that was kept.
    pub async fn browser_trace(&self, owner: &Owner, id: &SandboxId, trace_ref: &str) -> BayResult<BrowserTrace> {
        self.alive_row(owner, id).await?;
        let none = || BayError::new(ErrorCode::NotFound, "this sandbox has no such trace");
        let blob = self.inner.store.blob(owner, &blob_id(trace_ref).ok_or_else(none)?).await?.ok_or_else(none)?;
        let here = match (&blob.sandbox_id, &blob.execution_id) {
            (Some(sandbox), _) => sandbox.as_str() == id.as_str(),
            // A skill's payload by now; its execution is still one of this sandbox.
            (None, Some(execution)) => self.inner.store.execution(owner, id, execution).await?.is_some(),
            (None, None) => false,
        };
        if !here {
            return Err(none());
        }
        let trace: TraceContent = serde_json::from_value(blob.body).map_err(|_| none())?;
        Ok(BrowserTrace {
            trace_ref: blob_ref(&blob.id),
            execution_id: blob.execution_id,
            created_at: blob.created_at,
            trace,
        })
    }

    /// Keeps the trace of a run that asked for one, or that a skill may be learnt from. One that cannot be kept is no
    /// reason to lose the answer, which says so.
    pub(super) async fn keep_trace(
        &self,
        run: &mut Execution,
        asked: bool,
        trace: impl FnOnce() -> TraceContent,
    ) -> Kept {
        if !asked && !run.learn {
            return Kept { trace_ref: None, recorded: true };
        }
        match self.put_trace(run, &trace()).await {
            Ok(reference) => {
                run.payload_ref = Some(reference.clone());
                Kept { trace_ref: asked.then_some(reference), recorded: true }
            }
            Err(error) => {
                tracing::warn!(%error, "a trace could not be kept");
                Kept { trace_ref: None, recorded: false }
            }
        }
    }

    async fn put_trace(&self, run: &Execution, trace: &TraceContent) -> BayResult<String> {
        if !self.may_record() {
            return Err(StoreError::NoAnswer.into());
        }
        let body = json!(trace);
        let blob = NewBlob {
            sandbox_id: Some(&run.sandbox_id),
            execution_id: Some(&run.id),
            kind: trace.kind.as_str(),
            body: &body,
        };
        let id = self.inner.store.keep_blob(&run.owner, &blob, Moment::now()).await?;
        Ok(blob_ref(&id))
    }
}

/// The trace of a call. What a step said is cut; its command is whole, for whoever replays it.
pub(super) fn traced(kind: TraceKind, success: bool, total_steps: u32, steps: &[BrowserStep]) -> TraceContent {
    let short = |text: &str| beginning_bytes(text, MAX_TRACED_BYTES).0.to_owned();
    let step = |step: &BrowserStep| {
        json!({
            "step_index": step.step_index, "kind": "cmd", "cmd": step.cmd, "stdout": short(&step.stdout),
            "stderr": short(&step.stderr), "exit_code": step.exit_code, "duration_ms": step.duration_ms,
        })
    };
    let completed_steps = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let steps: Vec<Value> = steps.iter().map(step).collect();
    TraceContent { kind, success, total_steps, completed_steps, steps }
}
