//! Canaries: a part of a skill's replays goes to one, and what becomes of it.
//!
//! Which replay is the canary's follows from what was counted, not from chance: of any row of replays the same part is
//! its own, and a test sees the same as a user.

use cove_api::{Moment, Owner, ReleaseInfo, ReleaseStage};
use cove_core::ReleaseId;

use crate::releases::{Fresh, ReleaseRow, release, skill};
use crate::skills::word;
use crate::{Store, StoreResult, ask::ask};

impl Store {
    /// The release of a skill that the next replay is to run. A canary that is newer than the stable release gets
    /// `canary_percent` of the replays, the first one among them; alone it gets all.
    pub async fn release_to_replay(
        &self,
        owner: &Owner,
        skill_key: &str,
        canary_percent: u8,
    ) -> StoreResult<Option<ReleaseInfo>> {
        let question = "SELECT * FROM releases WHERE owner = $1 AND skill_key = $2 AND is_active = 1 \
                        AND deleted_at IS NULL ORDER BY version DESC LIMIT 2";
        let active = ask(question).text(owner.as_str()).text(skill_key).each(&self.read, release).await?;
        let mut active = active.into_iter().map(|row| row.info);
        let (newest, other) = (active.next(), active.next());
        let (Some(newest), Some(stable)) = (&newest, other) else { return Ok(newest) };
        if newest.stage != ReleaseStage::Canary {
            return Ok(Some(newest.clone()));
        }
        let question = "SELECT COUNT(*) AS n FROM replays WHERE release_id = $1 AND created_at >= $2";
        let since = newest.promoted_at;
        let own = ask(question).text(&newest.id).at(since).number(&self.read).await?;
        let others = ask(question).text(&stable.id).at(since).number(&self.read).await?;
        let canary = own * 100 < i64::from(canary_percent) * (own + others + 1);
        Ok(Some(if canary { newest.clone() } else { stable }))
    }

    /// The active stable release of a skill.
    pub async fn stable_release(&self, owner: &Owner, skill_key: &str) -> StoreResult<Option<ReleaseInfo>> {
        let question = "SELECT * FROM releases WHERE owner = $1 AND skill_key = $2 AND stage = $3 AND is_active = 1 \
                        AND deleted_at IS NULL";
        let question = ask(question).text(owner.as_str()).text(skill_key).text(&word(&ReleaseStage::Stable));
        question.one(&self.read).await?.map(|row| Ok(release(&row)?.info)).transpose()
    }

    /// Active canaries, whosever, to be looked at.
    pub async fn active_canaries(&self) -> StoreResult<Vec<(Owner, ReleaseId)>> {
        let question = "SELECT owner, id FROM releases WHERE stage = $1 AND is_active = 1 AND deleted_at IS NULL \
                        ORDER BY promoted_at LIMIT 500";
        let question = ask(question).text(&word(&ReleaseStage::Canary));
        question.each(&self.read, |row| Ok((Owner::new(&row.text("owner")?), row.id("id")?))).await
    }

    /// Takes an active canary out of use; the stable release, if there is one, has all replays again. False: it was not
    /// active any more.
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
        let ReleaseRow { info: canary, .. } = release(&row)?;
        let Some(stage) = becomes else {
            self.mark_candidate(&mut tx, &canary.candidate_id, None, id, now).await?;
            tx.commit().await?;
            return Ok(true);
        };
        let replaces = self.deactivate(&mut tx, owner, &skill_key, stage).await?;
        let fresh = Fresh {
            candidate_id: &canary.candidate_id,
            skill_key: &skill_key,
            stage,
            replaces,
            rollback_of: None,
            auto_promoted_from: Some(id),
        };
        let made = self.put_release(&mut tx, owner, &fresh, None, now).await?;
        self.mark_candidate(&mut tx, &canary.candidate_id, Some(stage), &made.id, now).await?;
        tx.commit().await?;
        Ok(true)
    }
}
