//! The Pods of these records, as the cluster tells of each change: nobody asks for a Pod again and again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::utils::Backoff;
use kube::runtime::{WatchStreamExt as _, watcher};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::cluster::Cluster;

/// Everything that is seen, by name.
#[derive(Debug, Default)]
struct Seen {
    pods: BTreeMap<String, Arc<Pod>>,
    /// The first list was whole: only then does a Pod that is not in it mean that there is none.
    complete: bool,
}

/// What is seen of Pods. Dropping it ends the watch.
#[derive(Debug)]
pub(super) struct Pods {
    seen: watch::Sender<Seen>,
    task: AbortHandle,
}

impl Pods {
    /// Begins to watch the Pods with these labels. A watch that breaks is begun anew, with more and more time in between.
    pub(super) fn watch(cluster: &Cluster, labels: &str) -> Arc<Self> {
        let seen = watch::Sender::new(Seen::default());
        let told = seen.clone();
        let mut changes =
            Box::pin(watcher(cluster.pods(), watcher::Config::default().labels(labels)).backoff(Rest::default()));
        let task = tokio::spawn(async move {
            // A new list takes the place of the old one when it is whole.
            let mut list = BTreeMap::new();
            while let Some(change) = changes.next().await {
                match change {
                    Ok(watcher::Event::Init) => list.clear(),
                    Ok(watcher::Event::InitApply(pod)) => {
                        list.insert(name(&pod), Arc::new(pod));
                    }
                    Ok(watcher::Event::InitDone) => {
                        let list = std::mem::take(&mut list);
                        told.send_modify(|seen| *seen = Seen { pods: list, complete: true });
                    }
                    Ok(watcher::Event::Apply(pod)) => told.send_modify(|seen| {
                        seen.pods.insert(name(&pod), Arc::new(pod));
                    }),
                    Ok(watcher::Event::Delete(pod)) => told.send_modify(|seen| {
                        seen.pods.remove(&name(&pod));
                    }),
                    Err(error) => tracing::debug!(%error, "the watch of Pods is begun anew"),
                }
            }
        });
        Arc::new(Self { seen, task: task.abort_handle() })
    }

    /// Waits until a Pod is as wished. It is asked again with each change; `None`: the Pod is not there.
    pub(super) async fn until<T>(&self, name: &str, mut is: impl FnMut(Option<&Pod>) -> Option<T>) -> T {
        let mut seen = self.seen.subscribe();
        let mut found = None;
        let waited = seen
            .wait_for(|seen| {
                if seen.complete {
                    found = is(seen.pods.get(name).map(|pod| &**pod));
                }
                found.is_some()
            })
            .await
            .is_ok();
        match found.filter(|_| waited) {
            Some(found) => found,
            // The sender is ours, so this cannot be; were it so, nobody would ever know more.
            None => std::future::pending().await,
        }
    }
}

/// How long nobody asks after a watch broke: longer each time, and short again once it holds. A start cannot go on meanwhile.
#[derive(Debug)]
struct Rest(Duration);

const LEAST_REST: Duration = Duration::from_millis(200);
const MOST_REST: Duration = Duration::from_secs(5);

impl Default for Rest {
    fn default() -> Self {
        Self(LEAST_REST)
    }
}

impl Iterator for Rest {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let now = self.0;
        self.0 = (now * 2).min(MOST_REST);
        Some(now)
    }
}

impl Backoff for Rest {
    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn name(pod: &Pod) -> String {
    pod.metadata.name.clone().unwrap_or_default()
}
