//! The Kubernetes driver: each runtime of a session is a Pod, each cargo a claim.
//!
//! A Pod for each runtime and not one for all of a session's: no container can be added to a Pod that runs, so a browser that nobody
//! has asked for yet would hold its memory from the first moment on; and where one of them dies, the other goes on.
//!
//! A guest has no network but a loopback of its own, whatever policies the cluster's network enforces: the runtime leaves the Pod's
//! network before it runs anything ([`body`]). Bay connects to the Pod's other container, the line, with a key that only
//! Bays of the same records can make; nothing in a Pod connects to anything. What is found by its labels outlives Bay, and the next
//! one goes on with it.

mod body;
mod claims;
mod cluster;
mod hold;
mod pods;
mod verdict;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cove_config::{Config, ConfigError, DiskLimit, K8sDriverConfig, PullPolicy, RuntimeType, Secret};
use cove_core::CargoId;
use cove_runtime_api::line::{Line, LineKey, LineUse};
use cove_runtime_api::until_it_answers;
use hmac::{Hmac, KeyInit as _, Mac as _};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;
use sha2::Sha256;
use tokio::sync::watch;

use crate::owned::Owned;
use crate::{
    CargoStore, Container, ContainerOrder, Driver, DriverError, DriverFuture, FoundContainer, Orphans, fingerprint,
};
use body::{Plan, pod_name};
use claims::Claims;
use cluster::Cluster;
use pods::Pods;
use verdict::Verdict;

/// How often the runtime of a Pod whose containers run is tried.
const TRY_EVERY: Duration = Duration::from_millis(10);

/// How long a Pod that was asked to end may take beyond the time that it has for that: a node that is gone never says so.
const END_LIMIT: Duration = Duration::from_secs(40);

/// How long the watch may take to tell of what was done to a Pod.
const SEEN_LIMIT: Duration = Duration::from_secs(20);

/// What keys are made for; the same secret serves other purposes.
const PURPOSE: &[u8] = b"cove-line\0";

/// The Kubernetes driver.
#[derive(Debug)]
pub(crate) struct KubernetesDriver {
    cluster: Cluster,
    options: K8sDriverConfig,
    pull: PullPolicy,
    claims: Claims,
    pods: Arc<Pods>,
    /// Which records this Bay has, as it is written on Pods and claims.
    records: String,
    instance_id: String,
    secret: OnceLock<Secret>,
}

impl KubernetesDriver {
    /// Connects to the cluster and begins to watch.
    pub(crate) async fn open(config: &Config, instance_id: &str) -> Result<Self, ConfigError> {
        let options = config.driver.k8s.clone();
        let cluster = Cluster::connect(&options).await?;
        let records = format!("{:016x}", fingerprint(&config.database_url()?));
        Ok(Self {
            claims: Claims::new(cluster.clone(), &records, &options),
            pods: Pods::watch(&cluster, &format!("{}={records}", body::RECORDS)),
            cluster,
            options,
            pull: config.driver.image_pull_policy,
            records,
            instance_id: instance_id.to_owned(),
            secret: OnceLock::new(),
        })
    }

    /// The key of a Pod's line: any Bay of these records makes the same.
    fn key(&self, container_id: &str) -> Result<LineKey, DriverError> {
        let missing = || DriverError::other("the driver has no database secret");
        let secret = self.secret.get().ok_or_else(missing)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes())
            .map_err(|error| DriverError::other(error.to_string()))?;
        mac.update(PURPOSE);
        mac.update(container_id.as_bytes());
        Ok(LineKey::new(&mac.finalize().into_bytes()))
    }

    async fn start_pod(&self, order: ContainerOrder) -> Result<Owned, DriverError> {
        let key = self.key(&order.container_id)?;
        let claim_uid = self.claims.uid(&order.cargo_id).await?;
        let plan = Plan {
            order: &order,
            options: &self.options,
            pull: self.pull,
            records: &self.records,
            instance_id: &self.instance_id,
            claim_uid: &claim_uid,
            key: &key,
        };
        let (name, pod) = (pod_name(&order.container_id), plan.pod()?);
        let starting = async {
            self.cluster.create_pod(&pod).await?;
            self.until_ready(&name, key).await
        };
        match starting.await {
            Ok(line) => Ok(self.keep(order, line)),
            Err(error) => {
                if let Err(left) = self.cluster.end_pod(&name, 0).await {
                    tracing::warn!(pod = name, %left, "a Pod that could not start is left to the collector");
                }
                Err(error)
            }
        }
    }

    /// Waits until the Pod's runtime takes connections, or until it is clear that it will not.
    async fn until_ready(&self, name: &str, key: LineKey) -> Result<Line, DriverError> {
        let limit = Duration::from_secs(self.options.start_seconds);
        let (mut was_there, mut last) = (false, None);
        let ready = async {
            let address = self.pods.until(name, |pod| {
                let Some(pod) = pod else {
                    return was_there.then(|| Err(DriverError::other("the Pod was deleted while it started")));
                };
                was_there = true;
                match verdict::of(pod) {
                    Verdict::Runs(address) => Some(Ok(address)),
                    Verdict::Over(error) => Some(Err(error)),
                    Verdict::Waits(why) => {
                        last = why;
                        None
                    }
                }
            });
            let line = Line { address: SocketAddr::new(address.await?, self.options.port), key };
            let answers = until_it_answers(TRY_EVERY, || line.open(LineUse::Runtime));
            let ended = self.pods.until(name, |pod| match pod.map(verdict::of) {
                Some(Verdict::Over(error)) => Some(error),
                Some(_) => None,
                None => Some(DriverError::other("the Pod was deleted while it started")),
            });
            tokio::select! {
                _ = answers => Ok(line),
                error = ended => Err(error),
            }
        };
        let done = tokio::time::timeout(limit, ready).await;
        done.unwrap_or_else(|_| {
            Err(last.unwrap_or_else(|| {
                DriverError::other(format!(
                    "the Pod {name} did not start within {limit:?}: `kubectl -n {} describe pod` of one that waits says why \
                     (an image or a volume that takes long, a node that Bay cannot reach); `driver.k8s.start_seconds` is the limit",
                    self.cluster.namespace
                ))
            }))
        })
    }

    /// Owns a Pod that runs.
    fn keep(&self, order: ContainerOrder, line: Line) -> Owned {
        let (stop, stopped) = watch::channel(false);
        let (say_ended, ended) = watch::channel(false);
        self.claims.in_use(&order.cargo_id, line.clone());
        let kept = Kept {
            cluster: self.cluster.clone(),
            pods: Arc::clone(&self.pods),
            claims: self.claims.clone(),
            instance_id: self.instance_id.clone(),
            name: pod_name(&order.container_id),
            line: line.clone(),
            outlive: Duration::from_secs(self.options.outlive_seconds),
            cargo_id: order.cargo_id,
            limit_bytes: if order.disk == DiskLimit::Watched { order.cargo_limit_bytes } else { 0 },
            runtime: order.spec.runtime_type,
            network: (!order.spec.network.opens_nothing() || order.inside.is_some()).then_some(order.network),
            inside: order.inside,
        };
        tokio::spawn(kept.attend(stopped, say_ended));
        Owned { id: order.container_id, endpoint: line.into(), pid: None, stop: Arc::new(stop), ended }
    }

    async fn go_on_with(&self, found: &FoundContainer, mut order: ContainerOrder) -> Result<Owned, DriverError> {
        let name = pod_name(&found.container_id);
        let pod = self.cluster.pod(&name).await?;
        let running = pod.as_ref().map(verdict::of);
        let (Some(pod), Some(Verdict::Runs(address))) = (pod, running) else {
            return Err(DriverError::other("it does not run"));
        };
        if label(&pod, body::ORDER) != Some(&body::order_number(&order, &self.options)) {
            return Err(DriverError::other("the configuration of its profile has changed"));
        }
        let line = Line { address: SocketAddr::new(address, self.options.port), key: self.key(&found.container_id)? };
        line.open(LineUse::Runtime).await?;
        self.cluster.label_pod(&name, json!({(body::INSTANCE): self.instance_id})).await?;
        // Only then does a Pod that is not seen mean that it is gone.
        let seen = self
            .pods
            .until(&name, |pod| pod.filter(|pod| label(pod, body::INSTANCE) == Some(&self.instance_id)).map(drop));
        tokio::time::timeout(SEEN_LIMIT, seen)
            .await
            .map_err(|_| DriverError::other("the watch does not tell of it"))?;
        order.container_id.clone_from(&found.container_id);
        Ok(self.keep(order, line))
    }
}

fn label<'a>(pod: &'a Pod, name: &str) -> Option<&'a String> {
    pod.metadata.labels.as_ref()?.get(name)
}

/// A Pod with its owner.
struct Kept {
    cluster: Cluster,
    pods: Arc<Pods>,
    claims: Claims,
    instance_id: String,
    name: String,
    line: Line,
    outlive: Duration,
    cargo_id: CargoId,
    limit_bytes: u64,
    runtime: RuntimeType,
    /// The way out of its guests, if there is any.
    network: Option<cove_network::LiveNetwork>,
    inside: Option<cove_cell::SandboxPorts>,
}

/// Why a Pod is not gone on with.
enum End {
    Wished,
    Full,
    ByItself(String),
    /// Another Bay goes on with it.
    Others,
}

impl Kept {
    async fn attend(self, mut stopped: watch::Receiver<bool>, say_ended: watch::Sender<bool>) {
        let seen = self.pods.until(&self.name, |pod| match pod {
            None => Some(End::ByItself("deleted".to_owned())),
            Some(pod) if label(pod, body::INSTANCE) != Some(&self.instance_id) => Some(End::Others),
            Some(pod) => verdict::ended(pod).map(End::ByItself),
        });
        let end = tokio::select! {
            end = seen => end,
            wish = stopped.wait_for(|stop| *stop) => match wish {
                Ok(_) => End::Wished,
                // Bay has gone without a word: the next one goes on with the Pod.
                Err(_) => return,
            },
            () = hold::hold(&self.line, self.limit_bytes, self.outlive) => End::Full,
            () = hold::way_out(self.line.clone(), self.network.clone(), self.inside.clone()) => return,
        };
        self.claims.released(&self.cargo_id, self.line.address);
        match &end {
            End::Others => {
                say_ended.send_replace(true);
                return;
            }
            End::ByItself(how) => tracing::warn!(pod = self.name, how, "a Pod has ended by itself"),
            End::Full => {
                tracing::warn!(pod = self.name, "a Pod filled its cargo past the limit and is ended");
            }
            End::Wished => {}
        }
        if let Err(error) = end_pod(&self.cluster, &self.pods, &self.name, body::end_seconds(self.runtime)).await {
            tracing::warn!(pod = self.name, %error, "a Pod is left to the collector");
        }
        say_ended.send_replace(true);
    }
}

/// Ends a Pod; returns when the cluster has forgotten it, and nothing of it runs any more.
async fn end_pod(cluster: &Cluster, pods: &Pods, name: &str, seconds: u32) -> Result<(), DriverError> {
    cluster.end_pod(name, seconds).await?;
    let ended = pods.until(name, |pod| pod.is_none_or(verdict::is_only_a_record).then(|| pod.is_some()));
    let limit = Duration::from_secs(seconds.into()) + END_LIMIT;
    let late = |_| DriverError::other("its node does not say that it has ended");
    if !tokio::time::timeout(limit, ended).await.map_err(late)? {
        return Ok(());
    }
    // Some kubelets clear their records once a minute (Kubernetes 1.20 does). Until then a quota would count the Pod.
    cluster.end_pod(name, 0).await?;
    let gone = pods.until(name, |pod| pod.is_none().then_some(()));
    tokio::time::timeout(SEEN_LIMIT, gone).await.map_err(|_| DriverError::other("the watch does not tell of its end"))
}

impl Driver for KubernetesDriver {
    fn cargos(&self) -> &dyn CargoStore {
        &self.claims
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn start(&self, order: ContainerOrder) -> DriverFuture<'_, Result<Arc<dyn Container>, DriverError>> {
        Box::pin(async move {
            let started: Arc<dyn Container> = Arc::new(self.start_pod(order).await?);
            Ok(started)
        })
    }

    fn end_orphans(&self) -> DriverFuture<'_, Result<Orphans, DriverError>> {
        Box::pin(async { Ok(Orphans::default()) })
    }

    fn found(&self) -> DriverFuture<'_, Result<Vec<FoundContainer>, DriverError>> {
        Box::pin(async move {
            let listed = self.cluster.list_pods(&format!("{}={}", body::RECORDS, self.records)).await?;
            let found = listed.iter().filter_map(|pod| {
                let own = |name| label(pod, name).cloned();
                let name = pod.metadata.annotations.as_ref().and_then(|all| all.get(body::NAME)).cloned();
                Some(FoundContainer {
                    container_id: own(body::CONTAINER)?,
                    sandbox_id: own(body::SANDBOX)?,
                    session_id: own(body::SESSION)?,
                    name: name.unwrap_or_default(),
                    usable: matches!(verdict::of(pod), Verdict::Runs(_)),
                })
            });
            Ok(found.collect())
        })
    }

    fn adopt<'a>(
        &'a self,
        found: &'a FoundContainer,
        order: ContainerOrder,
    ) -> DriverFuture<'a, Result<Arc<dyn Container>, DriverError>> {
        Box::pin(async move {
            let adopted: Arc<dyn Container> = Arc::new(self.go_on_with(found, order).await?);
            Ok(adopted)
        })
    }

    fn end_found<'a>(&'a self, found: &'a FoundContainer) -> DriverFuture<'a, Result<(), DriverError>> {
        Box::pin(async move {
            let name = pod_name(&found.container_id);
            end_pod(&self.cluster, &self.pods, &name, body::end_seconds(RuntimeType::Ship)).await
        })
    }

    fn keeps_running(&self) -> bool {
        self.options.keep_running
    }

    fn share_secret(&self, secret: &Secret) {
        let _ = self.secret.set(secret.clone());
    }

    fn close(&self) {}
}
