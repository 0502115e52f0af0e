//! Replaying a skill: the commands of its active release, run as one batch.

use cove_api::SandboxId;
use cove_api::{BayError, BrowserBatchRequest, BrowserSkillRequest, BrowserSkillResult, ErrorCode};
use cove_runtime_api::MAX_BATCH_TIMEOUT;

use crate::timed::Timed;
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;

impl Bay {
    /// Replays the active release of a skill.
    pub async fn run_browser_skill(
        &self,
        owner: &Owner,
        id: &SandboxId,
        skill_key: &str,
        call: impl Into<Timed<BrowserSkillRequest>>,
    ) -> BayResult<BrowserSkillResult> {
        let timed = call.into();
        timed.check(MAX_BATCH_TIMEOUT)?;
        let Timed { request, timeout, .. } = timed;
        // Before anything is looked up: a sandbox that cannot browse says so, whatever the skill is.
        let call = self.admit_for(owner, id, Capability::Browser, self.answer_limit(timeout)).await?;
        let (release, commands) = self.skill_to_replay(owner, skill_key).await?;
        let batch = BrowserBatchRequest {
            commands,
            timeout: request.timeout,
            stop_on_error: request.stop_on_error,
            description: request.description.or_else(|| Some(format!("skill {skill_key} {}", release.id))),
            tags: request.tags.or_else(|| Some(format!("skill:{}", skill_key.replace(',', " ")))),
            learn: false,
            include_trace: request.include_trace,
        };
        // A runtime that broke says nothing of the release: only a replay that ran counts for or against it.
        let batch = Timed::new(batch, timeout);
        super::check_batch(&batch)?;
        let done = self.run_batch(owner, &call, batch).await?;
        let took = done.execution_time_ms.unwrap_or(done.duration_ms);
        let noted = self.note_replay(owner, &release, done.success, took).await;
        if let Err(error) = noted {
            tracing::warn!(%error, "a replay could not be recorded");
        }
        let missing = || BayError::new(ErrorCode::InternalError, "the replay has no execution");
        Ok(BrowserSkillResult {
            skill_key: skill_key.to_owned(),
            release_id: release.id,
            execution_id: done.execution_id.ok_or_else(missing)?,
            execution_time_ms: took,
            recorded: done.recorded,
            trace_ref: done.trace_ref,
            results: done.results,
            total_steps: done.total_steps,
            completed_steps: done.completed_steps,
            success: done.success,
            duration_ms: done.duration_ms,
        })
    }
}
