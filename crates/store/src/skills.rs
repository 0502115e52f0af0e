//! Skill candidates and their evaluations.

use cove_api::{
    CandidateInfo, CandidateStatus, CreateCandidate, Deleted, Evaluate, EvaluationInfo, Moment, Owner, ReleaseStage,
};
use cove_core::{CandidateId, EvaluationId};
use serde_json::Value;
use sqlx::{Any, Transaction};

use crate::bounds::{MAX_CANDIDATES, MAX_EVALUATIONS};
use crate::id::new_id;
use crate::{Store, StoreError, StoreResult, ask::Row, ask::ask};

/// Which candidates.
#[derive(Debug, Clone, Copy, Default)]
pub struct CandidateFilter<'a> {
    /// Only those in this state.
    pub status: Option<CandidateStatus>,
    /// Only those of this skill.
    pub skill_key: Option<&'a str>,
    /// How many at most.
    pub limit: u32,
    /// How many to leave out first.
    pub offset: u32,
}

/// A word of the wire, as a column keeps it.
pub(crate) fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A column's word, as the wire has it.
pub(crate) fn read_word<T: serde::de::DeserializeOwned>(row: &Row, name: &str) -> StoreResult<T> {
    serde_json::from_value(Value::String(row.text(name)?)).map_err(StoreError::Json)
}

/// A word that may be missing.
pub(crate) fn read_word_or<T: serde::de::DeserializeOwned>(row: &Row, name: &str) -> StoreResult<Option<T>> {
    let word = row.text_or(name)?.map(Value::String);
    word.map(serde_json::from_value).transpose().map_err(StoreError::Json)
}

fn score(row: &Row, name: &str) -> StoreResult<Option<f64>> {
    Ok(row.text_or(name)?.and_then(|digits| digits.parse().ok()))
}

fn candidate(row: &Row) -> StoreResult<CandidateInfo> {
    let owner = row.text("owner")?;
    let deleted_at = row.at_or("deleted_at")?;
    Ok(CandidateInfo {
        id: row.id("id")?,
        skill_key: row.text("skill_key")?,
        scenario_key: row.text_or("scenario_key")?,
        payload_ref: row.text_or("payload_ref")?,
        skill_type: row.text("skill_type")?,
        auto_release_eligible: false,
        auto_release_reason: Some("releases are made by hand".to_owned()),
        summary: row.text_or("summary")?,
        usage_notes: row.text_or("usage_notes")?,
        preconditions: row.json_or("preconditions")?,
        postconditions: row.json_or("postconditions")?,
        source_execution_ids: row.json("source_execution_ids")?,
        status: read_word(row, "status")?,
        latest_score: score(row, "latest_score")?,
        latest_pass: row.int_or("latest_pass")?.map(|pass| pass != 0),
        last_evaluated_at: row.at_or("last_evaluated_at")?,
        promotion_release_id: row.id_or("promotion_release_id")?,
        created_at: row.at("created_at")?,
        updated_at: row.at("updated_at")?,
        is_deleted: deleted_at.is_some(),
        deleted_by: deleted_at.map(|_| owner.clone()),
        deleted_at,
        delete_reason: row.text_or("delete_reason")?,
        created_by: Some(owner),
    })
}

impl Store {
    /// A new candidate.
    pub async fn insert_candidate(
        &self,
        owner: &Owner,
        wish: &CreateCandidate,
        skill_type: &str,
        now: Moment,
    ) -> StoreResult<CandidateInfo> {
        let question = "INSERT INTO candidates (id, owner, skill_key, scenario_key, payload_ref, skill_type, summary, \
             usage_notes, preconditions, postconditions, source_execution_ids, status, created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'draft', $12, $12) RETURNING *";
        let json = |map: &Option<serde_json::Map<String, Value>>| map.clone().map(|map| Value::Object(map).to_string());
        let sources = Value::from(wish.source_execution_ids.clone()).to_string();
        let mut tx = self.begin().await?;
        self.in_turn(&mut tx, owner.as_str()).await?;
        let held = "SELECT COUNT(*) AS n FROM candidates WHERE owner = $1 AND deleted_at IS NULL";
        if ask(held).text(owner.as_str()).number(&mut *tx).await? >= MAX_CANDIDATES {
            let next = "delete candidates that you no longer need";
            return Err(StoreError::Quota { what: "candidates", name: "candidates", limit: MAX_CANDIDATES, next });
        }
        let row = ask(question)
            .text(&new_id::<CandidateId>()?)
            .text(owner.as_str())
            .text(&wish.skill_key)
            .text_or(wish.scenario_key.as_deref())
            .text_or(wish.payload_ref.as_deref())
            .text(skill_type)
            .text_or(wish.summary.as_deref())
            .text_or(wish.usage_notes.as_deref())
            .text_or(json(&wish.preconditions).as_deref())
            .text_or(json(&wish.postconditions).as_deref())
            .text(&sources)
            .at(now)
            .one(&mut *tx)
            .await?;
        let made = row.as_ref().map_or(Err(sqlx::Error::RowNotFound.into()), candidate)?;
        tx.commit().await?;
        Ok(made)
    }

    /// One of an owner's candidates, unless deleted.
    pub async fn candidate(&self, owner: &Owner, id: &str) -> StoreResult<Option<CandidateInfo>> {
        let question = ask(ONE).text(id).text(owner.as_str());
        question.one(&self.read).await?.as_ref().map(candidate).transpose()
    }

    /// The same within a transaction, or an error.
    pub(crate) async fn held_candidate(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        id: &str,
    ) -> StoreResult<CandidateInfo> {
        let row = ask(ONE).text(id).text(owner.as_str()).one(&mut **tx).await?;
        candidate(&row.ok_or_else(|| StoreError::missing("candidate", id))?)
    }

    /// A page of an owner's candidates, newest first, and how many there are in all.
    pub async fn candidates(
        &self,
        owner: &Owner,
        filter: &CandidateFilter<'_>,
    ) -> StoreResult<(Vec<CandidateInfo>, i64)> {
        macro_rules! which {
            ($what:literal, $rest:literal) => {
                concat!(
                    "SELECT ",
                    $what,
                    " FROM candidates WHERE owner = $1 AND deleted_at IS NULL ",
                    "AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR skill_key = $3)",
                    $rest
                )
            };
        }
        let status = filter.status.as_ref().map(word);
        let bound =
            |text: &'static str| ask(text).text(owner.as_str()).text_or(status.as_deref()).text_or(filter.skill_key);
        let total = bound(which!("COUNT(*) AS n", "")).number(&self.read).await?;
        let page = bound(which!("*", " ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5"));
        let page = page.int(filter.limit.into()).int(filter.offset.into());
        Ok((page.each(&self.read, candidate).await?, total))
    }

    /// Deletes a candidate that no release in use comes from.
    pub async fn delete_candidate(
        &self,
        owner: &Owner,
        id: &str,
        reason: Option<&str>,
        now: Moment,
    ) -> StoreResult<Deleted> {
        let mut tx = self.begin().await?;
        let found = self.held_candidate(&mut tx, owner, id).await?;
        self.in_turn(&mut tx, &crate::releases::skill(owner, &found.skill_key)).await?;
        let question = "SELECT id FROM releases WHERE candidate_id = $1 AND deleted_at IS NULL AND (is_active = 1 \
                        OR id IN (SELECT c.stable_before FROM releases c WHERE c.owner = $2 AND c.is_active = 1 \
                        AND c.stage = 'canary'))";
        if let Some(row) = ask(question).text(id).text(owner.as_str()).one(&mut *tx).await? {
            let release = row.text("id")?;
            return Err(StoreError::Conflict(format!("release {release} of this candidate is in use")));
        }
        let question = "UPDATE candidates SET deleted_at = $2, updated_at = $2, delete_reason = $3 \
                        WHERE id = $1 AND deleted_at IS NULL";
        if ask(question).text(id).at(now).text_or(reason).run(&mut *tx).await? == 0 {
            return Err(StoreError::missing("candidate", id));
        }
        tx.commit().await?;
        Ok(deleted(owner, id, reason, now))
    }

    /// Notes an evaluation, and what it makes of the candidate. One that is released stays so.
    pub async fn evaluate(
        &self,
        owner: &Owner,
        id: &CandidateId,
        found: &Evaluate,
        now: Moment,
    ) -> StoreResult<EvaluationInfo> {
        let digits = found.score.map(|score| score.to_string());
        let verdict = word(if found.passed { &CandidateStatus::Evaluating } else { &CandidateStatus::Rejected });
        let mut tx = self.begin().await?;
        let question = "UPDATE candidates SET latest_score = $3, latest_pass = $4, last_evaluated_at = $5, \
                        updated_at = $5, \
                        status = CASE WHEN status IN ('promoted_canary', 'promoted_stable') THEN status ELSE $6 END \
                        WHERE id = $1 AND owner = $2 AND deleted_at IS NULL";
        let question = ask(question).text(id).text(owner.as_str()).text_or(digits.as_deref()).flag(found.passed);
        if question.at(now).text(&verdict).run(&mut *tx).await? == 0 {
            return Err(StoreError::missing("candidate", id));
        }
        let evaluation = EvaluationInfo {
            id: new_id::<EvaluationId>()?.into(),
            candidate_id: id.clone(),
            benchmark_id: found.benchmark_id.clone(),
            score: found.score,
            passed: found.passed,
            report: found.report.clone(),
            evaluated_by: Some(owner.as_str().to_owned()),
            created_at: now,
        };
        let question = "INSERT INTO evaluations \
                        (id, candidate_id, benchmark_id, score, passed, report, evaluated_by, created_at) \
                        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        ask(question)
            .text(&evaluation.id)
            .text(id)
            .text_or(found.benchmark_id.as_deref())
            .text_or(digits.as_deref())
            .flag(found.passed)
            .text_or(found.report.as_deref())
            .text(owner.as_str())
            .at(now)
            .run(&mut *tx)
            .await?;
        let question = "DELETE FROM evaluations WHERE id IN (SELECT id FROM evaluations WHERE candidate_id = $1 \
                        ORDER BY created_at DESC, id DESC LIMIT 1000 OFFSET $2)";
        ask(question).text(id).int(MAX_EVALUATIONS).run(&mut *tx).await?;
        tx.commit().await?;
        Ok(evaluation)
    }

    /// What a release makes of its candidate.
    pub(crate) async fn mark_candidate(
        &self,
        tx: &mut Transaction<'static, Any>,
        id: &str,
        stage: Option<ReleaseStage>,
        release_id: &str,
        now: Moment,
    ) -> StoreResult<()> {
        let status = match stage {
            Some(ReleaseStage::Canary) => CandidateStatus::PromotedCanary,
            Some(ReleaseStage::Stable) => CandidateStatus::PromotedStable,
            None => CandidateStatus::RolledBack,
        };
        let question = "UPDATE candidates SET status = $2, promotion_release_id = $3, updated_at = $4 WHERE id = $1";
        ask(question).text(id).text(&word(&status)).text(release_id).at(now).run(&mut **tx).await?;
        Ok(())
    }
}

const ONE: &str = "SELECT * FROM candidates WHERE id = $1 AND owner = $2 AND deleted_at IS NULL";

/// What a deletion answers.
pub(crate) fn deleted(owner: &Owner, id: &str, reason: Option<&str>, now: Moment) -> Deleted {
    Deleted {
        id: id.to_owned(),
        deleted_at: now,
        deleted_by: Some(owner.as_str().to_owned()),
        delete_reason: reason.map(str::to_owned),
    }
}
