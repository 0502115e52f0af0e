//! Cargos as claims of the cluster's storage, one for each.
//!
//! A claim belongs to its row in the records and to nothing in the cluster; Pods belong to their claim, and go with it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cove_config::{AccessMode, DiskLimit, K8sDriverConfig};
use cove_core::CargoId;
use cove_files::Weight;
use cove_runtime_api::line::Line;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use serde_json::json;

use super::body::{CARGO, RECORDS};
use super::cluster::Cluster;
use crate::{CargoLimit, CargoStore, DriverError, DriverFuture};

/// What a file system takes for itself: a part of the whole, and some anyway.
const OWN_SHARE: u64 = 16;
const OWN_BYTES: u64 = 32 << 20;

/// How long the weighing of a workspace may take.
const WEIGHING: Duration = Duration::from_secs(30);

/// Stands on claims that were set aside, in place of the label of the records.
const ASIDE: &str = "cove.set-aside";

/// The claims of these records.
#[derive(Debug, Clone)]
pub(super) struct Claims {
    cluster: Cluster,
    records: String,
    storage_class: Option<String>,
    access_mode: AccessMode,
    /// A Pod of each cargo that is in use: it can weigh it.
    lines: Arc<Mutex<HashMap<CargoId, Line>>>,
}

/// The name of a cargo's claim.
pub(super) fn claim_name(id: &CargoId) -> String {
    format!("cove-{id}")
}

impl Claims {
    pub(super) fn new(cluster: Cluster, records: &str, options: &K8sDriverConfig) -> Self {
        Self {
            cluster,
            records: records.to_owned(),
            storage_class: options.storage_class.clone(),
            access_mode: options.access_mode,
            lines: Arc::default(),
        }
    }

    /// The uid of a cargo's claim.
    pub(super) async fn uid(&self, id: &CargoId) -> Result<String, DriverError> {
        let name = claim_name(id);
        let claim = self.cluster.claim(&name).await?;
        let whole = claim.filter(|claim| claim.metadata.deletion_timestamp.is_none());
        whole.and_then(|claim| claim.metadata.uid).ok_or_else(|| {
            DriverError::other(format!(
                "the claim {name} is gone or being deleted, and the sandbox's files with it: create another sandbox"
            ))
        })
    }

    /// This Pod has the cargo.
    pub(super) fn in_use(&self, id: &CargoId, line: Line) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), line);
    }

    /// That one has it no longer.
    pub(super) fn released(&self, id: &CargoId, address: SocketAddr) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.get(id).is_some_and(|line| line.address == address) {
            lines.remove(id);
        }
    }

    fn claim(&self, id: &CargoId, bytes: u64) -> Result<PersistentVolumeClaim, DriverError> {
        let mebibytes = (bytes + bytes / OWN_SHARE + OWN_BYTES).div_ceil(1 << 20);
        let mode = match self.access_mode {
            AccessMode::ReadWriteOnce => "ReadWriteOnce",
            AccessMode::ReadWriteMany => "ReadWriteMany",
        };
        let claim = json!({
            "metadata": {
                "name": claim_name(id),
                "labels": {(RECORDS): self.records, (CARGO): id, "app.kubernetes.io/managed-by": "cove"},
            },
            "spec": {
                "accessModes": [mode],
                "storageClassName": self.storage_class,
                "resources": {"requests": {"storage": format!("{mebibytes}Mi")}},
            },
        });
        serde_json::from_value(claim).map_err(|error| DriverError::other(error.to_string()))
    }

    async fn all(&self) -> Result<Vec<PersistentVolumeClaim>, DriverError> {
        let listed = self.cluster.list_claims(&format!("{RECORDS}={}", self.records)).await?;
        Ok(listed.into_iter().filter(|claim| claim.metadata.deletion_timestamp.is_none()).collect())
    }
}

impl CargoStore for Claims {
    fn backend(&self, _disk: DiskLimit) -> &'static str {
        "k8s+claim"
    }

    fn no_hard_limit(&self) -> Option<&'static str> {
        Some("whether a claim is held to its size is its storage class's affair, and Bay cannot see it")
    }

    fn prepare(&self, id: &CargoId, limit: CargoLimit) -> DriverFuture<'_, Result<(), DriverError>> {
        let (CargoLimit::Watched { bytes } | CargoLimit::Hard { bytes }) = limit;
        let claim = self.claim(id, bytes);
        let name = claim_name(id);
        Box::pin(async move {
            // Looked for first: where a quota is used up, making it is refused before anybody sees that it is there.
            if self.cluster.claim(&name).await?.is_some() {
                return Ok(());
            }
            self.cluster.create_claim(&claim?).await
        })
    }

    fn delete(&self, id: &CargoId) -> DriverFuture<'_, Result<(), DriverError>> {
        let name = claim_name(id);
        Box::pin(async move {
            // Only what is ours: a name alone could be somebody else's.
            let found = self.cluster.claim(&name).await?;
            let Some(claim) = found else { return Ok(()) };
            let label = claim.metadata.labels.as_ref().and_then(|labels| labels.get(RECORDS));
            if label != Some(&self.records) {
                return Err(DriverError::other(format!("the claim {name} is not of these records")));
            }
            self.cluster.delete_claim(&name, claim.metadata.uid).await
        })
    }

    fn weight(&self, id: &CargoId, limit_bytes: u64) -> DriverFuture<'_, Result<Weight, DriverError>> {
        let line = self.lines.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        Box::pin(async move {
            let line =
                line.ok_or_else(|| DriverError::other("no Pod mounts the cargo, so its size cannot be measured"))?;
            let told = line.weigh(limit_bytes, WEIGHING).await?;
            serde_json::from_str(&told).map_err(|error| DriverError::other(format!("the weight of a cargo: {error}")))
        })
    }

    fn list(&self) -> DriverFuture<'_, Result<Vec<(CargoId, u64)>, DriverError>> {
        Box::pin(async move {
            let now = k8s_openapi::jiff::Timestamp::now();
            let found = self.all().await?.into_iter().filter_map(|claim| {
                let id = claim.metadata.labels?.get(CARGO)?.parse().ok()?;
                let age = now.duration_since(claim.metadata.creation_timestamp?.0).as_secs();
                Some((id, u64::try_from(age).unwrap_or(0)))
            });
            Ok(found.collect())
        })
    }

    fn set_aside(&self, stamp: i64) -> DriverFuture<'_, Result<String, DriverError>> {
        Box::pin(async move {
            for claim in self.all().await? {
                let name = claim.metadata.name.unwrap_or_default();
                self.cluster.label_claim(&name, json!({(RECORDS): null, (ASIDE): stamp.to_string()})).await?;
            }
            Ok(format!("the claims with the label {ASIDE}={stamp} in the namespace {}", self.cluster.namespace))
        })
    }

    fn place(&self) -> String {
        format!("the namespace {}", self.cluster.namespace)
    }

    fn is_known(&self) -> bool {
        true
    }
}
