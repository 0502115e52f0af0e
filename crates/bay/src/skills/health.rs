//! How a release does, beside the stable one before it, or else the one that it replaced.

use std::collections::BTreeMap;

use cove_api::{Moment, ReleaseHealth, ReleaseStage};

use super::releases::release;
use crate::{BayResult, Owner};
use cove_store::{HEALTH_WINDOW_SECS, Replay, Store};

/// Replays below which nothing is said: one failure of two is chance.
pub(super) const MIN_SAMPLES: i64 = 5;
/// Below this many successes a release is not well, whatever was before it.
const MIN_SUCCESS_RATE: f64 = 0.5;
/// Successes may fall by this much.
const MAX_SUCCESS_DROP: f64 = 0.1;
/// Failures may become so many times as frequent.
const MAX_ERROR_RATE_MULTIPLIER: f64 = 2.0;
/// What counts as the failures of a release that never failed, so that the first failure after it is not infinitely more.
const LEAST_ERROR_RATE: f64 = 0.01;

/// What a row of replays amounts to.
struct ReplayMetrics {
    samples: i64,
    success_rate: f64,
    error_rate: f64,
    p95_ms: i64,
}

impl ReplayMetrics {
    /// Of no replays: nothing failed.
    fn of(replays: &[Replay]) -> Self {
        let samples = i64::try_from(replays.len()).unwrap_or(i64::MAX);
        if replays.is_empty() {
            return Self { samples, success_rate: 1.0, error_rate: 0.0, p95_ms: 0 };
        }
        let failed = replays.iter().filter(|replay| !replay.success).count();
        let error_rate = failed as f64 / replays.len() as f64;
        let mut durations: Vec<i64> = replays.iter().map(|replay| replay.duration_ms).collect();
        durations.sort_unstable();
        let rank = (durations.len() * 95).div_ceil(100);
        let p95_ms = durations.get(rank.saturating_sub(1)).copied().unwrap_or(0);
        Self { samples, success_rate: 1.0 - error_rate, error_rate, p95_ms }
    }
}

pub(crate) async fn release_health(store: &Store, owner: &Owner, id: &str, now: Moment) -> BayResult<ReleaseHealth> {
    let row = release(store, owner, id).await?;
    let window_start_at = row.info.promoted_at;
    let window_end_at = row.info.health_window_end_at.unwrap_or(window_start_at.plus_secs(HEALTH_WINDOW_SECS));
    let here = ReplayMetrics::of(&store.replays(id, window_end_at).await?);
    // A canary stands beside the stable release: that is what it has to be as good as. So has the next stable one.
    let before = match row.stable_before.as_ref().or(row.replaces.as_ref()) {
        Some(before) => store.replays(before, window_end_at).await?,
        None => Vec::new(),
    };
    let before = ReplayMetrics::of(&before);

    let compared = before.samples >= MIN_SAMPLES;
    let success_drop = if compared { (before.success_rate - here.success_rate).max(0.0) } else { 0.0 };
    let error_rate_multiplier = if compared { here.error_rate / before.error_rate.max(LEAST_ERROR_RATE) } else { 1.0 };
    let mut rollback_reasons = Vec::new();
    if here.samples >= MIN_SAMPLES {
        if here.success_rate < MIN_SUCCESS_RATE {
            rollback_reasons.push("success_rate_below_minimum".to_owned());
        }
        if success_drop > MAX_SUCCESS_DROP {
            rollback_reasons.push("success_rate_dropped".to_owned());
        }
        if error_rate_multiplier > MAX_ERROR_RATE_MULTIPLIER {
            rollback_reasons.push("error_rate_multiplied".to_owned());
        }
    }
    let healthy = rollback_reasons.is_empty();
    let stage = if row.info.stage == ReleaseStage::Canary { "canary" } else { "stable" };
    Ok(ReleaseHealth {
        release_id: row.info.id,
        skill_key: row.info.skill_key,
        stage: stage.to_owned(),
        window_start_at,
        window_end_at,
        window_complete: now >= window_end_at,
        samples: here.samples,
        success_rate: here.success_rate,
        error_rate: here.error_rate,
        p95_duration: here.p95_ms,
        baseline_success_rate: before.success_rate,
        baseline_error_rate: before.error_rate,
        baseline_samples: before.samples,
        success_drop,
        error_rate_multiplier,
        healthy,
        should_rollback: !healthy && row.info.is_active,
        rollback_reasons,
        thresholds: BTreeMap::from([
            ("min_samples".to_owned(), MIN_SAMPLES as f64),
            ("min_success_rate".to_owned(), MIN_SUCCESS_RATE),
            ("max_success_drop".to_owned(), MAX_SUCCESS_DROP),
            ("max_error_rate_multiplier".to_owned(), MAX_ERROR_RATE_MULTIPLIER),
        ]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_replays() {
        let replays = |fails: usize, total: usize| -> Vec<Replay> {
            (0..total).map(|n| Replay { success: n >= fails, duration_ms: n as i64 + 1 }).collect()
        };
        let table = [(0, 0, 1.0, 0), (0, 1, 1.0, 1), (1, 4, 0.75, 4), (5, 20, 0.75, 19), (0, 100, 1.0, 95)];
        for (fails, total, success_rate, p95_ms) in table {
            let metrics = ReplayMetrics::of(&replays(fails, total));
            assert_eq!((metrics.success_rate, metrics.p95_ms), (success_rate, p95_ms), "{fails} of {total}");
        }
    }
}
