//! The collector: ends expired and idle resources, and removes orphans.
//!
//! Nothing depends on it: an expired resource is refused at once, and what a killed Bay left is already dead. The
//! collector only frees what they still hold. It never removes anything that it does not know to be expired or
//! orphaned.

mod tasks;
mod upkeep;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cove_api::{GcReport, GcRequest, GcStatus, GcTaskReport, Moment};

use crate::sandboxes::invalid;
use crate::{Bay, BayResult};
use cove_config::GcConfig;

/// Its tasks, in the order in which they run.
const TASKS: [&str; 8] = [
    "dead_instance",
    "idle_session",
    "expired_sandbox",
    "orphan_container",
    "warm_pool",
    "orphan_cargo",
    "skill_release",
    "idempotency",
];

/// What the collector did last.
#[derive(Debug, Default)]
pub(crate) struct CollectorState {
    running: AtomicBool,
    turn: tokio::sync::Mutex<()>,
    last: Mutex<Option<(Moment, GcReport)>>,
}

fn is_enabled(config: &GcConfig, task: &str) -> bool {
    match task {
        "dead_instance" => config.dead_instance.enabled,
        "idle_session" => config.idle_session.enabled,
        "expired_sandbox" => config.expired_sandbox.enabled,
        "orphan_container" => config.orphan_container.enabled,
        "warm_pool" => config.warm_pool.enabled,
        "orphan_cargo" => config.orphan_cargo.enabled,
        "skill_release" => config.skill_release.enabled,
        _ => config.idempotency.enabled,
    }
}

impl Bay {
    /// Runs its tasks now: those that are named, else all that are enabled.
    pub async fn run_gc(&self, request: GcRequest) -> BayResult<GcReport> {
        let chosen: Vec<&str> = match &request.tasks {
            Some(named) => {
                if let Some(alien) = named.iter().find(|name| !TASKS.contains(&name.as_str())) {
                    return Err(invalid(format!("there is no task {alien:?}")).with("available", TASKS.to_vec()));
                }
                TASKS.into_iter().filter(|task| named.iter().any(|name| name == task)).collect()
            }
            None => TASKS.into_iter().filter(|task| is_enabled(&self.inner.config.gc, task)).collect(),
        };
        let state = &self.inner.collector;
        let _turn = state.turn.lock().await;
        state.running.store(true, Ordering::SeqCst);
        let begin = Instant::now();
        let mut results = Vec::new();
        for task in chosen {
            let mut report = GcTaskReport { task: task.to_owned(), cleaned: 0, skipped: 0, errors: Vec::new() };
            if let Err(error) = self.run_task(task, &mut report).await {
                report.errors.push(error.message);
            }
            results.push(report);
        }
        state.running.store(false, Ordering::SeqCst);
        let report = GcReport {
            total_cleaned: results.iter().map(|report| report.cleaned).sum(),
            total_errors: results.iter().map(|report| report.errors.len() as u64).sum(),
            results,
            duration_ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        if report.total_cleaned > 0 || report.total_errors > 0 {
            tracing::info!(cleaned = report.total_cleaned, errors = report.total_errors, "the collector ran");
        }
        *state.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Moment::now(), report.clone()));
        Ok(report)
    }

    /// What it does and did.
    pub async fn gc_status(&self) -> BayResult<GcStatus> {
        let (config, state) = (&self.inner.config.gc, &self.inner.collector);
        let last = state.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tasks: BTreeMap<String, bool> =
            TASKS.into_iter().map(|task| (task.to_owned(), is_enabled(config, task))).collect();
        Ok(GcStatus {
            enabled: config.enabled,
            is_running: state.running.load(Ordering::SeqCst),
            instance_id: self.inner.instance_id.clone(),
            interval_seconds: config.interval_seconds,
            last_run_at: last.as_ref().map(|(at, _)| *at),
            last_report: last.map(|(_, report)| report),
            tasks,
        })
    }
}
