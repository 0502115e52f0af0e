//! Canaries: a part of a skill's replays goes to one, and what becomes of it.
//!
//! Which replay is the canary's follows from what was counted, not from chance: of any row of replays the same part is
//! its own, and a test sees the same as a user.

use cove_api::{Moment, Owner, ReleaseInfo, ReleaseStage};
use cove_core::ReleaseId;

use crate::releases::{Fresh, release, skill};
use crate::skills::word;
use crate::{Store, StoreResult, ask::ask};

impl Store {
    /// The release of a skill that the next replay is to run: the active one. A canary with a stable release before it
    /// gets `canary_percent` of the replays, the first one among them; alone it gets all.
    pub async fn release_to_replay(
        &self,
        owner: &Owner,
        skill_key: &str,
        canary_percent: u8,
    ) -> StoreResult<Option<ReleaseInfo>> {
        let question = "SELECT * FROM releases WHERE owner = $1 AND skill_key = $2 AND is_active = 1 \
                        AND deleted_at IS NULL";
        let active = ask(question).text(owner.as_str()).text(skill_key).one(&self.read).await?;
        let Some(active) = active.as_ref().map(release).transpose()? else { return Ok(None) };
        let stable = match &active.stable_before {
            Some(id) if active.info.stage == ReleaseStage::Canary => self.release(owner, id).await?,
            _ => None,
        };
        let active = active.info;
        let Some(stable) = stable else { return Ok(Some(active)) };
        let question = "SELECT COUNT(*) AS n FROM replays WHERE release_id = $1 AND created_at >= $2";
        let since = active.promoted_at;
        let own = ask(question).text(&active.id).at(since).number(&self.read).await?;
        let others = ask(question).text(&stable.info.id).at(since).number(&self.read).await?;
        let canary = own * 100 < i64::from(canary_percent) * (own + others + 1);
        Ok(Some(if canary { active } else { stable.info }))
    }

    /// Active canaries, whosever, to be looked at.
    pub async fn active_canaries(&self) -> StoreResult<Vec<(Owner, ReleaseId)>> {
        let question = "SELECT owner, id FROM releases WHERE stage = $1 AND is_active = 1 AND deleted_at IS NULL \
                        ORDER BY promoted_at LIMIT 500";
        let question = ask(question).text(&word(&ReleaseStage::Canary));
        question.each(&self.read, |row| Ok((Owner::new(&row.text("owner")?), row.id("id")?))).await
    }

    /// Takes an active canary out of use; the stable release, if there is one, is active again. False: it was not active
    /// any more.
    pub async fn withdraw_canary(&self, owner: &Owner, id: &str, now: Moment) -> StoreResult<bool> {
        self.end_canary(owner, id, now, None).await
    }

    /// Makes an active canary the stable release. False: it was not active any more.
    pub async fn release_canary(&self, owner: &Owner, id: &str, now: Moment) -> StoreResult<bool> {
        self.end_canary(owner, id, now, Some(ReleaseStage::Stable)).await
    }

    async fn end_canary(
        &self,
        owner: &Owner,
        id: &str,
        now: Moment,
        becomes: Option<ReleaseStage>,
    ) -> StoreResult<bool> {
        let Some(skill_key) = self.release(owner, id).await?.map(|row| row.info.skill_key) else { return Ok(false) };
        let mut tx = self.begin().await?;
        self.in_turn(&mut tx, &skill(owner, &skill_key)).await?;
        // Whoever rolled it back or replaced it by hand while we looked has decided.
        let question = "UPDATE releases SET is_active = 0 WHERE id = $1 AND owner = $2 AND stage = $3 \
                        AND is_active = 1 AND deleted_at IS NULL RETURNING *";
        let question = ask(question).text(id).text(owner.as_str()).text(&word(&ReleaseStage::Canary));
        let Some(row) = question.one(&mut *tx).await? else { return Ok(false) };
        let canary = release(&row)?;
        let candidate_id = &canary.info.candidate_id;
        let Some(stage) = becomes else {
            self.mark_candidate(&mut tx, candidate_id, None, id, now).await?;
            self.resume_stable(&mut tx, owner, &canary).await?;
            tx.commit().await?;
            return Ok(true);
        };
        let fresh = Fresh {
            candidate_id,
            skill_key: &skill_key,
            stage,
            // Not the canary: whoever takes the stable release back wants what was before both.
            replaces: canary.stable_before.clone().or_else(|| canary.replaces.clone()),
            stable_before: canary.stable_before.clone(),
            rollback_of: None,
            auto_promoted_from: Some(id),
        };
        let made = self.put_release(&mut tx, owner, &fresh, None, now).await?;
        self.mark_candidate(&mut tx, candidate_id, Some(stage), &made.id, now).await?;
        tx.commit().await?;
        Ok(true)
    }
}
