//! Candidates: where a skill comes from, and whether it passed.

use cove_api::{
    CandidateInfo, CandidateList, CandidateQuery, CreateCandidate, CreatePayload, Evaluate, EvaluationInfo, Moment,
};
use serde_json::json;

use super::{bounded, invalid, named, payloads, replay};
use crate::history::page_size;
use crate::{BayResult, Owner};
use cove_core::shorten_word;
use cove_store::{CandidateFilter, MAX_NOTE_BYTES, Store, StoreError};

/// Executions that one candidate may come from.
const MAX_SOURCES: usize = 100;

/// The kind of a payload that holds the commands of the executions a candidate came from.
const RECORDED: &str = "browser_commands";

pub(crate) async fn create_candidate(store: &Store, owner: &Owner, wish: CreateCandidate) -> BayResult<CandidateInfo> {
    named("skill_key", &wish.skill_key)?;
    for (field, name) in [("scenario_key", &wish.scenario_key), ("payload_ref", &wish.payload_ref)] {
        name.as_deref().map_or(Ok(()), |name| named(field, name))?;
    }
    bounded("summary", wish.summary.as_deref())?;
    bounded("usage_notes", wish.usage_notes.as_deref())?;
    for (field, map) in [("preconditions", &wish.preconditions), ("postconditions", &wish.postconditions)] {
        let size = map.as_ref().map_or(Ok(0), |map| serde_json::to_string(map).map(|json| json.len()));
        if size.map_or(true, |size| size > MAX_NOTE_BYTES) {
            return Err(invalid(format!("`{field}` may have at most {MAX_NOTE_BYTES} bytes")));
        }
    }
    if !(1..=MAX_SOURCES).contains(&wish.source_execution_ids.len()) {
        return Err(invalid(format!("`source_execution_ids` must name 1 to {MAX_SOURCES} executions")));
    }
    // A reference that looks like ours must be ours; any other is the caller's own business.
    let mut payload = None;
    if let Some(reference) = wish.payload_ref.as_deref().filter(|reference| reference.starts_with("blob:")) {
        payload = Some(payloads::held(store, owner, reference).await?);
    }
    let mut browser = true;
    for id in &wish.source_execution_ids {
        let unknown = || {
            let shown = shorten_word(id);
            invalid(format!("`source_execution_ids` names {shown:?}, which is not an execution in your history"))
        };
        let source = store.source(owner, id).await?.ok_or_else(unknown)?;
        browser &= source.exec_type.is_browser();
    }
    // A trace goes with its sandbox, and a skill outlives that.
    if let Some(trace) = payload.filter(|blob| blob.sandbox_id.is_some()) {
        store.keep_as_payload(owner, &trace.id).await?;
    }
    let skill_type = if browser { "browser" } else { "code" };
    let mut wish = wish;
    if browser && wish.payload_ref.is_none() {
        // Its commands are kept now: the history goes with its sandbox, and a skill outlives both.
        if let Some(commands) = replay::recorded(store, owner, &wish.source_execution_ids).await? {
            let kept = CreatePayload { kind: RECORDED.to_owned(), payload: json!({ "commands": commands }) };
            wish.payload_ref = Some(payloads::create_payload(store, owner, kept).await?.payload_ref);
        }
    }
    Ok(store.insert_candidate(owner, &wish, skill_type, Moment::now()).await?)
}

pub(crate) async fn list_candidates(store: &Store, owner: &Owner, query: &CandidateQuery) -> BayResult<CandidateList> {
    let filter = CandidateFilter {
        status: query.status,
        skill_key: query.skill_key.as_deref(),
        limit: page_size(query.limit)?,
        offset: query.offset.unwrap_or(0),
    };
    let (items, total) = store.candidates(owner, &filter).await?;
    Ok(CandidateList { items, total })
}

pub(crate) async fn candidate(store: &Store, owner: &Owner, id: &str) -> BayResult<CandidateInfo> {
    Ok(store.candidate(owner, id).await?.ok_or_else(|| StoreError::missing("candidate", id))?)
}

pub(crate) async fn evaluate(
    store: &Store,
    owner: &Owner,
    id: &cove_api::CandidateId,
    found: &Evaluate,
) -> BayResult<EvaluationInfo> {
    // A NaN is in no range.
    if found.score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return Err(invalid("`score` must be from 0 to 1".to_owned()));
    }
    found.benchmark_id.as_deref().map_or(Ok(()), |name| named("benchmark_id", name))?;
    bounded("report", found.report.as_deref())?;
    Ok(store.evaluate(owner, id, found, Moment::now()).await?)
}
