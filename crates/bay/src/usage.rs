//! What sessions use now, for those who look at many of them.

use std::sync::Arc;

use cove_api::{SandboxId, SandboxInfo, SandboxUsage};
use cove_drivers::{Container, Usage};

use crate::Bay;

impl Bay {
    /// What the session of one sandbox uses, where it lives here and it can be counted.
    pub async fn sandbox_usage(&self, id: &SandboxId) -> Option<SandboxUsage> {
        let live = self.inner.sessions.get(id)?;
        let containers: Vec<_> = live.all().iter().map(|container| Arc::clone(&container.handle)).collect();
        tokio::task::spawn_blocking(move || total(&containers)).await.ok().flatten()
    }

    /// Notes what the sessions of these sandboxes use, where they live here and it can be counted.
    pub(crate) async fn count_usage(&self, sandboxes: &mut [SandboxInfo]) {
        let containers: Vec<Vec<Arc<dyn Container>>> = sandboxes
            .iter()
            .map(|sandbox| {
                let live = self.inner.sessions.get(&sandbox.id);
                let all = live.map(|session| session.all()).unwrap_or_default();
                all.iter().map(|container| Arc::clone(&container.handle)).collect()
            })
            .collect();
        // Some ten files of the kernel for each process.
        let counting = tokio::task::spawn_blocking(move || containers.iter().map(|all| total(all)).collect::<Vec<_>>());
        let Ok(counted) = counting.await else { return };
        for (sandbox, usage) in sandboxes.iter_mut().zip(counted) {
            sandbox.usage = usage;
        }
    }
}

fn total(containers: &[Arc<dyn Container>]) -> Option<SandboxUsage> {
    let all = containers.iter().filter_map(|container| container.usage());
    let sum = all.reduce(|mut sum: Usage, one| {
        sum += one;
        sum
    })?;
    let cpu_ms = u64::try_from(sum.processor_time.as_millis()).unwrap_or(u64::MAX);
    Some(SandboxUsage { memory_bytes: sum.memory_bytes, cpu_ms })
}
