//! Releases of skills, what they replace, and how their replays went.
//!
//! One release of a skill is active at most: the one in use. Whoever changes which one it is does so in turn
//! ([`Store::in_turn`]), so that versions count up without a gap and nobody deactivates another's choice unseen. Beside an
//! active canary, the stable release before it still gets a part of the replays.

use cove_api::{Deleted, Moment, Owner, Promote, ReleaseInfo, ReleaseStage};
use cove_core::{ExecutionId, ReleaseId};
use sqlx::{Any, Transaction};

use crate::bounds::MAX_RELEASES;
use crate::id::new_id;
use crate::skills::{deleted, read_word, word};
use crate::{Store, StoreError, StoreResult, ask::Row, ask::ask};

/// How long a release is watched after it was made.
pub const HEALTH_WINDOW_SECS: i64 = 24 * 3600;

/// Replays that health looks at; the newest of the window.
const MAX_SAMPLES: i64 = 10_000;

/// A release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseRow {
    /// What clients see of it.
    pub info: ReleaseInfo,
    /// The release that was active before.
    pub replaces: Option<ReleaseId>,
    /// The last stable release before it: what a canary is tried beside, and what its health is held against.
    pub stable_before: Option<ReleaseId>,
}

impl ReleaseRow {
    /// The last stable release up to this one.
    fn last_stable(&self) -> Option<ReleaseId> {
        match self.info.stage {
            ReleaseStage::Stable => Some(self.info.id.clone()),
            ReleaseStage::Canary => self.stable_before.clone(),
        }
    }
}

/// Which releases.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReleaseFilter<'a> {
    /// Only those of this skill.
    pub skill_key: Option<&'a str>,
    /// Only those in use.
    pub active_only: bool,
    /// Only those at this stage.
    pub stage: Option<ReleaseStage>,
    /// How many at most.
    pub limit: u32,
    /// How many to leave out first.
    pub offset: u32,
}

/// One replay of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// Whether it succeeded.
    pub success: bool,
    /// How long it took.
    pub duration_ms: i64,
}

/// The name under which changes to one skill go one after the other.
pub(crate) fn skill(owner: &Owner, skill_key: &str) -> String {
    format!("{}/{skill_key}", owner.as_str())
}

pub(crate) fn release(row: &Row) -> StoreResult<ReleaseRow> {
    let owner = row.text("owner")?;
    let deleted_at = row.at_or("deleted_at")?;
    let info = ReleaseInfo {
        id: row.id("id")?,
        skill_key: row.text("skill_key")?,
        candidate_id: row.id("candidate_id")?,
        version: row.int("version")?,
        stage: read_word(row, "stage")?,
        is_active: row.flag("is_active")?,
        release_mode: row.text("release_mode")?,
        promoted_by: row.text_or("promoted_by")?,
        promoted_at: row.at("promoted_at")?,
        rollback_of: row.id_or("rollback_of")?,
        auto_promoted_from: row.id_or("auto_promoted_from")?,
        health_window_end_at: row.at_or("health_window_end_at")?,
        upgrade_of_release_id: row.id_or("upgrade_of_release_id")?,
        upgrade_reason: row.text_or("upgrade_reason")?,
        change_summary: row.text_or("change_summary")?,
        is_deleted: deleted_at.is_some(),
        deleted_by: deleted_at.map(|_| owner),
        deleted_at,
        delete_reason: row.text_or("delete_reason")?,
    };
    Ok(ReleaseRow { info, replaces: row.id_or("replaces")?, stable_before: row.id_or("stable_before")? })
}

const ONE: &str = "SELECT * FROM releases WHERE id = $1 AND owner = $2 AND deleted_at IS NULL";

impl Store {
    /// Releases a candidate: it becomes the skill's only active release.
    pub async fn promote(
        &self,
        owner: &Owner,
        candidate_id: &str,
        wish: &Promote,
        now: Moment,
    ) -> StoreResult<ReleaseInfo> {
        let mut tx = self.begin().await?;
        let skill_key = self.held_candidate(&mut tx, owner, candidate_id).await?.skill_key;
        self.in_turn(&mut tx, &skill(owner, &skill_key)).await?;
        // Read again now that it is our turn: it may have been deleted or evaluated while we waited.
        let candidate = self.held_candidate(&mut tx, owner, candidate_id).await?;
        if candidate.latest_pass != Some(true) {
            let why = "the candidate's last evaluation has not passed";
            return Err(StoreError::Conflict(why.to_owned()));
        }
        if let Some(id) = &wish.upgrade_of_release_id {
            let found = ask(ONE).text(id).text(owner.as_str()).one(&mut *tx).await?;
            let found = release(&found.ok_or_else(|| StoreError::missing("release", id))?)?;
            if found.info.skill_key != skill_key {
                return Err(StoreError::Conflict(format!("release {id} is of the skill `{}`", found.info.skill_key)));
            }
        }
        let held = "SELECT COUNT(*) AS n FROM releases WHERE owner = $1 AND deleted_at IS NULL";
        if ask(held).text(owner.as_str()).number(&mut *tx).await? >= MAX_RELEASES {
            let next = "delete releases that are not in use";
            return Err(StoreError::Quota { what: "releases", name: "releases", limit: MAX_RELEASES, next });
        }
        let replaced = self.deactivate(&mut tx, owner, &skill_key).await?;
        let row = Fresh {
            candidate_id,
            skill_key: &skill_key,
            stage: wish.stage,
            stable_before: replaced.as_ref().and_then(ReleaseRow::last_stable),
            replaces: replaced.map(|row| row.info.id),
            rollback_of: None,
            auto_promoted_from: None,
        };
        let made = self.put_release(&mut tx, owner, &row, Some(wish), now).await?;
        self.mark_candidate(&mut tx, candidate_id, Some(wish.stage), &made.id, now).await?;
        tx.commit().await?;
        Ok(made)
    }

    /// Takes an active release back: what it replaced is released again, as a new version, and answered.
    pub async fn rollback(&self, owner: &Owner, id: &str, now: Moment) -> StoreResult<ReleaseInfo> {
        let mut tx = self.begin().await?;
        let skill_key = self.held_release(&mut tx, owner, id).await?.info.skill_key;
        self.in_turn(&mut tx, &skill(owner, &skill_key)).await?;
        let bad = self.held_release(&mut tx, owner, id).await?;
        if !bad.info.is_active {
            return Err(StoreError::Conflict(format!("release {id} is not active")));
        }
        let before = self.before(&mut tx, owner, &bad).await?;
        let before = before.ok_or_else(|| StoreError::Conflict(format!("there is no release before {id}")))?;
        self.deactivate(&mut tx, owner, &skill_key).await?;
        let row = Fresh {
            candidate_id: &before.info.candidate_id,
            skill_key: &skill_key,
            stage: before.info.stage,
            // Not what is taken back: a second rollback goes one further back, not forth again.
            replaces: before.replaces.clone(),
            stable_before: before.stable_before.clone(),
            rollback_of: Some(id),
            auto_promoted_from: None,
        };
        let made = self.put_release(&mut tx, owner, &row, None, now).await?;
        self.mark_candidate(&mut tx, &before.info.candidate_id, Some(before.info.stage), &made.id, now).await?;
        // Last: where both are of one candidate, that it was taken back is what matters.
        self.mark_candidate(&mut tx, &bad.info.candidate_id, None, id, now).await?;
        tx.commit().await?;
        Ok(made)
    }

    /// The nearest release before this one that is not deleted, nor its candidate. One of another candidate goes before:
    /// whoever takes a stable release back does not want the same as a canary.
    async fn before(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        of: &ReleaseRow,
    ) -> StoreResult<Option<ReleaseRow>> {
        let mut same = None;
        let mut next = of.replaces.clone();
        while let Some(id) = next {
            let question = "SELECT r.*, c.deleted_at AS candidate_deleted_at FROM releases r \
                            JOIN candidates c ON c.id = r.candidate_id WHERE r.id = $1 AND r.owner = $2";
            let Some(row) = ask(question).text(&id).text(owner.as_str()).one(&mut **tx).await? else { break };
            let found = release(&row)?;
            next = found.replaces.clone();
            if found.info.is_deleted || row.at_or("candidate_deleted_at")?.is_some() {
                continue;
            }
            if found.info.candidate_id != of.info.candidate_id {
                return Ok(Some(found));
            }
            same = same.or(Some(found));
        }
        Ok(same)
    }

    /// Deactivates the active release of a skill; which that was.
    async fn deactivate(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        skill_key: &str,
    ) -> StoreResult<Option<ReleaseRow>> {
        let question =
            "UPDATE releases SET is_active = 0 WHERE owner = $1 AND skill_key = $2 AND is_active = 1 RETURNING *";
        let row = ask(question).text(owner.as_str()).text(skill_key).one(&mut **tx).await?;
        row.as_ref().map(release).transpose()
    }

    /// After the end of a canary, the stable release beside it is the active one.
    pub(crate) async fn resume_stable(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        canary: &ReleaseRow,
    ) -> StoreResult<()> {
        let Some(stable) = &canary.stable_before else { return Ok(()) };
        let question = "UPDATE releases SET is_active = 1 WHERE id = $1 AND owner = $2 AND deleted_at IS NULL";
        ask(question).text(stable).text(owner.as_str()).run(&mut **tx).await?;
        Ok(())
    }

    pub(crate) async fn put_release(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        new: &Fresh<'_>,
        wish: Option<&Promote>,
        now: Moment,
    ) -> StoreResult<ReleaseInfo> {
        let question = "INSERT INTO releases (id, owner, skill_key, candidate_id, version, stage, is_active, \
             release_mode, promoted_by, promoted_at, replaces, rollback_of, health_window_end_at, \
             upgrade_of_release_id, upgrade_reason, change_summary, auto_promoted_from, stable_before) \
             VALUES ($1, $2, $3, $4, \
             (SELECT COALESCE(MAX(version), 0) + 1 FROM releases WHERE owner = $2 AND skill_key = $3), \
             $5, 1, CASE WHEN $13 IS NULL THEN 'manual' ELSE 'auto' END, $2, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
             RETURNING *";
        let row = ask(question)
            .text(&new_id::<ReleaseId>()?)
            .text(owner.as_str())
            .text(new.skill_key)
            .text(new.candidate_id)
            .text(&word(&new.stage))
            .at(now)
            .text_or(new.replaces.as_deref())
            .text_or(new.rollback_of)
            .at(now.plus_secs(HEALTH_WINDOW_SECS))
            .text_or(wish.and_then(|wish| wish.upgrade_of_release_id.as_deref()))
            .text_or(wish.and_then(|wish| wish.upgrade_reason.as_deref()))
            .text_or(wish.and_then(|wish| wish.change_summary.as_deref()))
            .text_or(new.auto_promoted_from)
            .text_or(new.stable_before.as_deref())
            .one(&mut **tx)
            .await?;
        Ok(row.as_ref().map_or(Err(sqlx::Error::RowNotFound.into()), release)?.info)
    }

    async fn held_release(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        id: &str,
    ) -> StoreResult<ReleaseRow> {
        let row = ask(ONE).text(id).text(owner.as_str()).one(&mut **tx).await?;
        release(&row.ok_or_else(|| StoreError::missing("release", id))?)
    }

    /// One of an owner's releases, unless deleted.
    pub async fn release(&self, owner: &Owner, id: &str) -> StoreResult<Option<ReleaseRow>> {
        ask(ONE).text(id).text(owner.as_str()).one(&self.read).await?.as_ref().map(release).transpose()
    }

    /// A page of an owner's releases, newest first, and how many there are in all.
    pub async fn releases(&self, owner: &Owner, filter: &ReleaseFilter<'_>) -> StoreResult<(Vec<ReleaseInfo>, i64)> {
        macro_rules! which {
            ($what:literal, $rest:literal) => {
                concat!(
                    "SELECT ",
                    $what,
                    " FROM releases WHERE owner = $1 AND deleted_at IS NULL AND ($2 IS NULL OR skill_key = $2) ",
                    "AND is_active >= $3 AND ($4 IS NULL OR stage = $4)",
                    $rest
                )
            };
        }
        let stage = filter.stage.as_ref().map(word);
        let bound = |text: &'static str| {
            let question = ask(text).text(owner.as_str()).text_or(filter.skill_key).flag(filter.active_only);
            question.text_or(stage.as_deref())
        };
        let total = bound(which!("COUNT(*) AS n", "")).number(&self.read).await?;
        let page = bound(which!("*", " ORDER BY promoted_at DESC, version DESC, id DESC LIMIT $5 OFFSET $6"));
        let page = page.int(filter.limit.into()).int(filter.offset.into());
        let page = page.each(&self.read, |row| Ok(release(row)?.info)).await?;
        Ok((page, total))
    }

    /// Deletes a release; one that is active is active no more, and where it was a canary, the stable one beside it is.
    pub async fn delete_release(
        &self,
        owner: &Owner,
        id: &str,
        reason: Option<&str>,
        now: Moment,
    ) -> StoreResult<Deleted> {
        let mut tx = self.begin().await?;
        let skill_key = self.held_release(&mut tx, owner, id).await?.info.skill_key;
        self.in_turn(&mut tx, &skill(owner, &skill_key)).await?;
        let found = self.held_release(&mut tx, owner, id).await?;
        let question = "UPDATE releases SET is_active = 0, deleted_at = $3, delete_reason = $4 \
                        WHERE id = $1 AND owner = $2";
        ask(question).text(id).text(owner.as_str()).at(now).text_or(reason).run(&mut *tx).await?;
        let question = "UPDATE candidates SET promotion_release_id = NULL, updated_at = $3 \
                        WHERE promotion_release_id = $1 AND owner = $2";
        ask(question).text(id).text(owner.as_str()).at(now).run(&mut *tx).await?;
        if found.info.is_active && found.info.stage == ReleaseStage::Canary {
            self.resume_stable(&mut tx, owner, &found).await?;
        }
        tx.commit().await?;
        Ok(deleted(owner, id, reason, now))
    }

    /// Notes how a replay went.
    pub async fn record_replay(
        &self,
        release_id: &str,
        success: bool,
        duration_ms: i64,
        now: Moment,
    ) -> StoreResult<()> {
        let question = "INSERT INTO replays (id, release_id, success, duration_ms, created_at) \
                        VALUES ($1, $2, $3, $4, $5)";
        let id = new_id::<ExecutionId>()?;
        ask(question).text(&id).text(release_id).flag(success).int(duration_ms).at(now).run(&self.write).await?;
        Ok(())
    }

    /// A release's replays until a moment, the newest so many.
    pub async fn replays(&self, release_id: &str, until: Moment) -> StoreResult<Vec<Replay>> {
        let question = "SELECT success, duration_ms FROM replays WHERE release_id = $1 AND created_at <= $2 \
                        ORDER BY created_at DESC LIMIT $3";
        let read = |row: &Row| Ok(Replay { success: row.flag("success")?, duration_ms: row.int("duration_ms")? });
        ask(question).text(release_id).at(until).int(MAX_SAMPLES).each(&self.read, read).await
    }

    /// Forgets replays from before `before`.
    pub async fn purge_replays(&self, before: Moment) -> StoreResult<u64> {
        ask("DELETE FROM replays WHERE created_at < $1").at(before).run(&self.write).await
    }
}

/// What a new release is made of.
pub(crate) struct Fresh<'a> {
    pub(crate) candidate_id: &'a str,
    pub(crate) skill_key: &'a str,
    pub(crate) stage: ReleaseStage,
    pub(crate) replaces: Option<ReleaseId>,
    pub(crate) stable_before: Option<ReleaseId>,
    pub(crate) rollback_of: Option<&'a str>,
    pub(crate) auto_promoted_from: Option<&'a str>,
}
