//! Skills: what was learnt from executions becomes a candidate, is evaluated, released, watched, and taken back.
//!
//! Payloads are JSON that the caller keeps here. A candidate comes from executions of the caller's own; it can be
//! released once its last evaluation passed. A canary gets a part of the replays until Bay, or a caller, has decided:
//! taken back when it does badly, stable when it did well ([`canary`]). A stable release is nobody's to touch but a
//! caller's: `health` says what Bay has seen.

mod canary;
mod candidates;
mod health;
mod payloads;
mod releases;
mod replay;
#[cfg(test)]
pub(crate) mod tests;

use cove_api::{
    BayError, CandidateId, CandidateInfo, CandidateList, CandidateQuery, CreateCandidate, CreatePayload, DeleteRequest,
    Deleted, ErrorCode, Evaluate, EvaluationInfo, Moment, PayloadInfo, PayloadRef, Promote, ReleaseHealth, ReleaseId,
    ReleaseInfo, ReleaseList, ReleaseQuery, ReleaseStage,
};

use crate::{Bay, BayResult, Owner};
use cove_store::MAX_NOTE_BYTES;

/// The longest name of a skill, a scenario, a benchmark, a kind.
const MAX_NAME_CHARS: usize = 200;

impl Bay {
    /// Keeps a payload.
    pub async fn create_payload(&self, owner: &Owner, wish: CreatePayload) -> BayResult<PayloadRef> {
        payloads::create_payload(self.store(), owner, wish).await
    }

    /// A payload that was kept.
    pub async fn payload(&self, owner: &Owner, payload_ref: &str) -> BayResult<PayloadInfo> {
        payloads::payload(self.store(), owner, payload_ref).await
    }

    /// A new candidate.
    pub async fn create_candidate(&self, owner: &Owner, wish: CreateCandidate) -> BayResult<CandidateInfo> {
        candidates::create_candidate(self.store(), owner, wish).await
    }

    /// A page of candidates.
    pub async fn list_candidates(&self, owner: &Owner, query: CandidateQuery) -> BayResult<CandidateList> {
        candidates::list_candidates(self.store(), owner, &query).await
    }

    /// One candidate.
    pub async fn candidate(&self, owner: &Owner, id: &CandidateId) -> BayResult<CandidateInfo> {
        candidates::candidate(self.store(), owner, id).await
    }

    /// Deletes a candidate.
    pub async fn delete_candidate(&self, owner: &Owner, id: &CandidateId, wish: DeleteRequest) -> BayResult<Deleted> {
        bounded("reason", wish.reason.as_deref())?;
        Ok(self.store().delete_candidate(owner, id, wish.reason.as_deref(), Moment::now()).await?)
    }

    /// Notes an evaluation.
    pub async fn evaluate(&self, owner: &Owner, id: &CandidateId, found: Evaluate) -> BayResult<EvaluationInfo> {
        candidates::evaluate(self.store(), owner, id, &found).await
    }

    /// Releases a candidate.
    pub async fn promote(&self, owner: &Owner, id: &CandidateId, wish: Promote) -> BayResult<ReleaseInfo> {
        releases::promote(self.store(), owner, id, &wish).await
    }

    /// A page of releases.
    pub async fn list_releases(&self, owner: &Owner, query: ReleaseQuery) -> BayResult<ReleaseList> {
        releases::list_releases(self.store(), owner, &query).await
    }

    /// One release.
    pub async fn release(&self, owner: &Owner, id: &ReleaseId) -> BayResult<ReleaseInfo> {
        releases::release(self.store(), owner, id).await.map(|row| row.info)
    }

    /// Deletes a release.
    pub async fn delete_release(&self, owner: &Owner, id: &ReleaseId, wish: DeleteRequest) -> BayResult<Deleted> {
        bounded("reason", wish.reason.as_deref())?;
        Ok(self.store().delete_release(owner, id, wish.reason.as_deref(), Moment::now()).await?)
    }

    /// Takes a release back: the one before it is active again.
    pub async fn rollback(&self, owner: &Owner, id: &ReleaseId) -> BayResult<ReleaseInfo> {
        Ok(self.store().rollback(owner, id, Moment::now()).await?)
    }

    /// How a release does.
    pub async fn release_health(&self, owner: &Owner, id: &ReleaseId) -> BayResult<ReleaseHealth> {
        health::release_health(self.store(), owner, id, Moment::now()).await
    }

    /// The release of a skill that is in use, and the browser commands that a replay of it runs. How the replay went is
    /// noted with [`Bay::note_replay`].
    pub(crate) async fn skill_to_replay(
        &self,
        owner: &Owner,
        skill_key: &str,
    ) -> BayResult<(ReleaseInfo, Vec<String>)> {
        replay::skill_to_replay(self.store(), owner, skill_key, self.inner.config.skills.canary_percent).await
    }

    /// Notes how a replay went, and does what that makes due.
    pub(crate) async fn note_replay(
        &self,
        owner: &Owner,
        release: &ReleaseInfo,
        success: bool,
        took_ms: i64,
    ) -> BayResult<()> {
        let now = Moment::now();
        self.store().record_replay(&release.id, success, took_ms, now).await?;
        if release.stage == ReleaseStage::Canary {
            canary::settle_canary(self.store(), &self.inner.config.skills, owner, &release.id, now).await?;
        }
        Ok(())
    }

    /// Does what is due with every canary; of how many something became.
    pub(crate) async fn settle_canaries(&self) -> BayResult<u64> {
        let mut settled = 0;
        for (owner, id) in self.store().active_canaries().await? {
            let config = &self.inner.config.skills;
            let fate = canary::settle_canary(self.store(), config, &owner, &id, Moment::now()).await?;
            settled += u64::from(fate != canary::Fate::Watched);
        }
        Ok(settled)
    }
}

fn invalid(message: String) -> BayError {
    BayError::new(ErrorCode::ValidationError, message)
}

/// A name that people can read and type.
fn named(field: &str, name: &str) -> BayResult<()> {
    let fits = !name.trim().is_empty() && name.chars().count() <= MAX_NAME_CHARS && !name.chars().any(char::is_control);
    let message = || invalid(format!("`{field}` must have 1 to {MAX_NAME_CHARS} characters and no control characters"));
    if fits { Ok(()) } else { Err(message()) }
}

/// A text of a size that we keep.
fn bounded(field: &str, text: Option<&str>) -> BayResult<()> {
    match text {
        Some(text) if text.len() > MAX_NOTE_BYTES => {
            Err(invalid(format!("`{field}` may have at most {MAX_NOTE_BYTES} bytes")))
        }
        _ => Ok(()),
    }
}
