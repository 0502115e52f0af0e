//! What the collector does, task by task.

use cove_api::{GcTaskReport, Moment};

use crate::sandboxes::driver_fault;
use crate::{Bay, BayResult};

/// So many at a time; the next round takes the next.
const BATCH: u32 = 500;

/// A folder without a row that is younger is one whose row is on its way.
const ORPHAN_AGE_SECS: u64 = 600;

/// How long a deleted sandbox is remembered, so that a repeated deletion is answered as the first was: longer than any
/// client retries. Only its row is left; what it had is gone at once.
const REMEMBER_SECS: i64 = 30 * 24 * 3600;

/// How long a trace is kept; its sandbox may live for ever.
const TRACE_SECS: i64 = 7 * 24 * 3600;

/// How long replays count for anything.
const REPLAY_SECS: i64 = 30 * 24 * 3600;

impl Bay {
    pub(super) async fn run_task(&self, task: &str, report: &mut GcTaskReport) -> BayResult<()> {
        match task {
            "dead_instance" => self.end_dead_instances(report).await,
            "idle_session" => self.end_idle_sessions(report).await,
            "expired_sandbox" => self.delete_expired(report).await,
            "orphan_container" => self.end_orphan_containers(report).await,
            "warm_pool" => self.trim_warm(report).await,
            "orphan_cargo" => self.remove_orphan_cargos(report).await,
            "skill_release" => {
                report.cleaned += self.settle_canaries().await?;
                Ok(())
            }
            _ => self.purge(report).await,
        }
    }

    /// Bays whose heartbeat is over: their sessions are gone, the next call remakes them.
    async fn end_dead_instances(&self, report: &mut GcTaskReport) -> BayResult<()> {
        let store = &self.inner.store;
        for id in store.dead_instances(self.alive_since()).await? {
            if id == self.inner.instance_id {
                report.skipped += 1;
                continue;
            }
            // Judged again in the same breath: one whose heartbeat came late keeps its sessions.
            store.retire_instance(&id, self.alive_since()).await?;
            report.cleaned += 1;
        }
        Ok(())
    }

    /// Sessions of ours that nobody used for long enough, or whose sandbox is over.
    async fn end_idle_sessions(&self, report: &mut GcTaskReport) -> BayResult<()> {
        self.write_idle_ends().await;
        let store = &self.inner.store;
        for row in store.sessions_over(&self.inner.instance_id, Moment::now()).await? {
            let live = self.inner.sessions.get(&row.sandbox_id);
            let sandbox = store.any_sandbox(&row.sandbox_id).await?;
            let kept = sandbox.as_ref().is_some_and(|sandbox| sandbox.attributes.keeps_session_at(Moment::now()));
            let over = sandbox.is_none_or(|sandbox| sandbox.expired(Moment::now()));
            if !over && (kept || live.as_ref().is_some_and(|session| session.is_busy())) {
                report.skipped += 1;
                continue;
            }
            if let Some(live) = live.filter(|_| !over)
                && self.works_on(&live).await
            {
                live.touch();
                report.skipped += 1;
                continue;
            }
            // Only if no call came in between: the row decides.
            if !over && !store.must(|| store.end_if_idle(&row.id, Moment::now())).await? {
                report.skipped += 1;
                continue;
            }
            self.end_javascript(&row.sandbox_id).await;
            self.end_session_of(&row.sandbox_id, Some(&row.id)).await?;
            store.must(|| store.end_session(&row.id)).await?;
            if !over {
                self.tell_state(&row.sandbox_id, "idle", None);
            }
            report.cleaned += 1;
        }
        Ok(())
    }

    /// Sandboxes past their end.
    async fn delete_expired(&self, report: &mut GcTaskReport) -> BayResult<()> {
        let store = &self.inner.store;
        for row in store.expired_sandboxes(Moment::now(), BATCH).await? {
            // One that lives in another Bay is that Bay's to end.
            let elsewhere = row.session.as_ref().filter(|session| session.instance_id != self.inner.instance_id);
            if let Some(session) = elsewhere
                && store.live_instance(&session.instance_id, self.alive_since()).await?.is_some()
            {
                report.skipped += 1;
                continue;
            }
            if let Some(deletion) = self.write_deletion(None, &row.id).await? {
                self.clear_away(&deletion.sandbox, deletion.cargo_gone).await?;
                report.cleaned += 1;
            }
        }
        Ok(())
    }

    /// Containers that Bays which are gone have started.
    async fn end_orphan_containers(&self, report: &mut GcTaskReport) -> BayResult<()> {
        self.settle_found(false, report).await?;
        let ended = self.inner.driver.end_orphans().await.map_err(|error| driver_fault(&error))?;
        report.cleaned += ended.containers.len() as u64;
        for container in ended.containers {
            tracing::info!(%container, "an orphan was ended");
        }
        // Their sessions need not wait until the heartbeat is over: these Bays are known to be gone.
        for id in ended.instances {
            self.inner.store.remove_instance(&id).await?;
        }
        // Starts that never came to an end, of Bays that are alive: their row is in the way of the next.
        for row in self.inner.store.stale_starting(Moment::now().plus_secs(-300)).await? {
            if row.instance_id == self.inner.instance_id && self.inner.sessions.get(&row.sandbox_id).is_none() {
                self.inner.store.end_session(&row.id).await?;
                report.cleaned += 1;
            }
        }
        Ok(())
    }

    /// Warm sandboxes that are dead, or more than the configuration wants.
    async fn trim_warm(&self, report: &mut GcTaskReport) -> BayResult<()> {
        let store = &self.inner.store;
        for row in store.stale_warm().await? {
            if self.drop_warm(&row.id, &row.cargo_id).await? {
                report.cleaned += 1;
            }
        }
        let mut kept: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        for row in store.list_warm(&self.inner.instance_id).await? {
            let wanted = self.profile(&row.profile).map_or(0, |profile| profile.warm_pool_size);
            let count = kept.entry(row.profile.clone()).or_default();
            *count += 1;
            let live = self.inner.sessions.get(&row.id);
            let dead = live.is_some_and(|session| session.all().iter().any(|one| !one.handle.is_alive()));
            if (*count > wanted || dead) && self.drop_warm(&row.id, &row.cargo_id).await? {
                *count -= 1;
                report.cleaned += 1;
            } else {
                report.skipped += 1;
            }
        }
        self.inner.warm.refill();
        Ok(())
    }

    /// Folders of cargos that are deleted, or that nobody knows.
    async fn remove_orphan_cargos(&self, report: &mut GcTaskReport) -> BayResult<()> {
        let store = &self.inner.store;
        store.drop_orphan_cargos(Moment::now()).await?;
        for row in store.deleted_cargos(BATCH).await? {
            if self.remove_cargo(&row.info.id).await {
                report.cleaned += 1;
            } else {
                report.errors.push(format!("{} could not be removed", row.info.id));
            }
        }
        for (id, age_secs) in self.inner.driver.cargos().list().await.map_err(|error| driver_fault(&error))? {
            if age_secs < ORPHAN_AGE_SECS || store.cargo_known(&id).await? {
                continue;
            }
            match self.inner.driver.cargos().delete(&id).await {
                Ok(()) => report.cleaned += 1,
                Err(error) => report.errors.push(format!("{id}: {error}")),
            }
        }
        for sandbox_id in self.sandboxes_with_artifacts() {
            if store.any_sandbox(&sandbox_id).await?.is_none() {
                self.remove_artifacts(&sandbox_id).await;
                report.cleaned += 1;
            }
        }
        Ok(())
    }

    /// What is only remembered for a while.
    async fn purge(&self, report: &mut GcTaskReport) -> BayResult<()> {
        let (store, now) = (&self.inner.store, Moment::now());
        report.cleaned += store.purge_answers(now).await?;
        report.cleaned += store.purge_port_links(now.plus_secs(-REMEMBER_SECS)).await?;
        report.cleaned += store.purge_sandboxes(now.plus_secs(-REMEMBER_SECS)).await?;
        report.cleaned += store.purge_traces(now.plus_secs(-TRACE_SECS)).await?;
        report.cleaned += store.purge_replays(now.plus_secs(-REPLAY_SECS)).await?;
        report.cleaned += store.trim_histories().await?;
        report.cleaned += store.purge_excess().await?;
        store.compact().await?;
        Ok(())
    }
}
