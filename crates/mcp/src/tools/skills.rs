//! Skills.

use cove_api::{
    CandidateId, CandidateQuery, CreateCandidate, CreatePayload, Evaluate, Promote, ReleaseId, ReleaseQuery,
};

use super::sandboxes::to_value;
use super::{Call, Done};
use crate::reply::Reply;

pub(super) async fn create_payload(call: Call<'_>) -> Done {
    let wish: CreatePayload = call.args.clone().parse()?;
    let made = call.bay().create_payload(&call.owner, wish).await?;
    Ok(Reply::new(format!("Kept as {}.", made.payload_ref), to_value(&made)))
}

pub(super) async fn payload(mut call: Call<'_>) -> Done {
    let reference = call.args.take_required("payload_ref")?;
    Ok(Reply::json(to_value(&call.bay().payload(&call.owner, &reference).await?)))
}

pub(super) async fn propose(call: Call<'_>) -> Done {
    let wish: CreateCandidate = call.args.clone().parse()?;
    let made = call.bay().create_candidate(&call.owner, wish).await?;
    let text = format!("Candidate {} of skill {}. Evaluate it, then promote it.", made.id, made.skill_key);
    Ok(Reply::new(text, to_value(&made)))
}

pub(super) async fn evaluate(mut call: Call<'_>) -> Done {
    let id = call.args.take_id::<CandidateId>("candidate_id")?;
    let found: Evaluate = call.args.clone().parse()?;
    let noted = call.bay().evaluate(&call.owner, &id, found).await?;
    let how = if noted.passed { "passed" } else { "failed" };
    Ok(Reply::new(format!("Evaluation {} of {id}: {how}.", noted.id), to_value(&noted)))
}

pub(super) async fn promote(mut call: Call<'_>) -> Done {
    let id = call.args.take_id::<CandidateId>("candidate_id")?;
    let wish: Promote = call.args.clone().parse()?;
    let made = call.bay().promote(&call.owner, &id, wish).await?;
    let text = format!("Release {}: version {} of {}.", made.id, made.version, made.skill_key);
    Ok(Reply::new(text, to_value(&made)))
}

pub(super) async fn candidates(mut call: Call<'_>) -> Done {
    call.args.or_insert("limit", 50);
    let query: CandidateQuery = call.args.clone().parse()?;
    Ok(Reply::json(to_value(&call.bay().list_candidates(&call.owner, query).await?)))
}

pub(super) async fn releases(mut call: Call<'_>) -> Done {
    call.args.or_insert("limit", 50);
    let query: ReleaseQuery = call.args.clone().parse()?;
    Ok(Reply::json(to_value(&call.bay().list_releases(&call.owner, query).await?)))
}

pub(super) async fn health(mut call: Call<'_>) -> Done {
    let id = call.args.take_id::<ReleaseId>("release_id")?;
    Ok(Reply::json(to_value(&call.bay().release_health(&call.owner, &id).await?)))
}

pub(super) async fn rollback(mut call: Call<'_>) -> Done {
    let id = call.args.take_id::<ReleaseId>("release_id")?;
    let made = call.bay().rollback(&call.owner, &id).await?;
    let text = format!("{id} is taken back; {} (version {}) is active.", made.id, made.version);
    Ok(Reply::new(text, to_value(&made)))
}
