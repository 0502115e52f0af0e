//! Decides on a canary: it is rolled back when it does badly, and promoted when it did well for its whole window.
//!
//! Checked after each of its replays, and by the collector when a window ends without one. Both decisions can be
//! switched off (`skills.auto_rollback`, `skills.auto_promote`), and a decision by a caller has priority.

use cove_api::Moment;

use super::health::{MIN_SAMPLES, release_health};
use crate::{BayResult, Owner};
use cove_config::SkillsConfig;
use cove_store::Store;

/// What was done with a canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing yet.
    Watched,
    /// Out of use.
    Withdrawn,
    /// The stable release now.
    Released,
}

/// Looks at a canary and does what is due.
pub(crate) async fn settle_canary(
    store: &Store,
    config: &SkillsConfig,
    owner: &Owner,
    id: &str,
    now: Moment,
) -> BayResult<Fate> {
    let seen = release_health(store, owner, id, now).await?;
    if seen.stage != "canary" {
        return Ok(Fate::Watched);
    }
    if seen.should_rollback && config.auto_rollback && store.withdraw_canary(owner, id, now).await? {
        tracing::info!(skill = %seen.skill_key, release = id, reasons = ?seen.rollback_reasons, "a canary was rolled back");
        return Ok(Fate::Withdrawn);
    }
    let did_well = seen.window_complete && seen.healthy && seen.samples >= MIN_SAMPLES;
    if did_well && config.auto_promote && store.release_canary(owner, id, now).await? {
        tracing::info!(skill = %seen.skill_key, release = id, "a canary did well and is stable now");
        return Ok(Fate::Released);
    }
    Ok(Fate::Watched)
}
