//! Skills: payloads, candidates, evaluations, releases.

use cove_api::{
    CandidateInfo, CandidateList, CandidateQuery, CreateCandidate, CreatePayload, DeleteRequest, Deleted, Evaluate,
    EvaluationInfo, PayloadInfo, PayloadRef, Promote, ReleaseHealth, ReleaseInfo, ReleaseList, ReleaseQuery,
};

use crate::{Answer, Bay, Owner};

impl Bay {
    /// Keeps a payload.
    pub async fn create_payload(&self, owner: &Owner, wish: CreatePayload) -> Answer<PayloadRef> {
        let _ = (owner, wish);
        Err(crate::bay::unbuilt())
    }

    /// A payload that was kept.
    pub async fn payload(&self, owner: &Owner, payload_ref: &str) -> Answer<PayloadInfo> {
        let _ = (owner, payload_ref);
        Err(crate::bay::unbuilt())
    }

    /// A new candidate.
    pub async fn create_candidate(&self, owner: &Owner, wish: CreateCandidate) -> Answer<CandidateInfo> {
        let _ = (owner, wish);
        Err(crate::bay::unbuilt())
    }

    /// A page of candidates.
    pub async fn list_candidates(&self, owner: &Owner, query: CandidateQuery) -> Answer<CandidateList> {
        let _ = (owner, query);
        Err(crate::bay::unbuilt())
    }

    /// One candidate.
    pub async fn candidate(&self, owner: &Owner, id: &str) -> Answer<CandidateInfo> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// Deletes a candidate.
    pub async fn delete_candidate(&self, owner: &Owner, id: &str, wish: DeleteRequest) -> Answer<Deleted> {
        let _ = (owner, id, wish);
        Err(crate::bay::unbuilt())
    }

    /// Notes an evaluation.
    pub async fn evaluate(&self, owner: &Owner, id: &str, found: Evaluate) -> Answer<EvaluationInfo> {
        let _ = (owner, id, found);
        Err(crate::bay::unbuilt())
    }

    /// Releases a candidate.
    pub async fn promote(&self, owner: &Owner, id: &str, wish: Promote) -> Answer<ReleaseInfo> {
        let _ = (owner, id, wish);
        Err(crate::bay::unbuilt())
    }

    /// A page of releases.
    pub async fn list_releases(&self, owner: &Owner, query: ReleaseQuery) -> Answer<ReleaseList> {
        let _ = (owner, query);
        Err(crate::bay::unbuilt())
    }

    /// One release.
    pub async fn release(&self, owner: &Owner, id: &str) -> Answer<ReleaseInfo> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// Deletes a release.
    pub async fn delete_release(&self, owner: &Owner, id: &str, wish: DeleteRequest) -> Answer<Deleted> {
        let _ = (owner, id, wish);
        Err(crate::bay::unbuilt())
    }

    /// Takes a release back: the one before it is active again.
    pub async fn rollback(&self, owner: &Owner, id: &str) -> Answer<ReleaseInfo> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// How a release does.
    pub async fn release_health(&self, owner: &Owner, id: &str) -> Answer<ReleaseHealth> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }
}
