//! What sandboxes are made of. The interface of a driver: it starts and ends containers, keeps their cargos, and finds everything that it has ever
//! started.
//!
//! A driver knows no state of a sandbox, no owner and no HTTP interface. What it cannot enforce is in
//! [`Driver::warnings`].

mod cargo;
mod docker;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod local;
mod owned;
mod usage;

use std::fmt::Debug;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use cove_cell::SandboxPorts;
use cove_config::{Config, ConfigError, ContainerSpec, DiskLimit, DriverKind, Secret};
use cove_core::{CargoId, SandboxId, SessionId};
use cove_files::Weight;
use cove_network::LiveNetwork;
use cove_runtime_api::Endpoint;

pub use usage::Usage;

/// The driver that the configuration names.
pub async fn open(config: &Config, instance_id: &str) -> Result<Arc<dyn Driver>, ConfigError> {
    Ok(match config.driver.kind {
        DriverKind::Docker => Arc::new(docker::DockerDriver::open(config, instance_id).await?),
        DriverKind::Local => Arc::new(local::LocalDriver::new(config, instance_id)?),
        #[cfg(feature = "kubernetes")]
        DriverKind::K8s => Arc::new(kubernetes::KubernetesDriver::open(config, instance_id).await?),
        #[cfg(not(feature = "kubernetes"))]
        DriverKind::K8s => {
            let reason = "this `cove` was built without the driver `k8s`: install a package of Cove, use its image, or build with \
                          `--features kubernetes`";
            return Err(ConfigError::value("driver.type", reason));
        }
    })
}

/// A number for the records that a Bay has, whoever signs on to them with which password.
pub(crate) fn fingerprint(records: &str) -> u64 {
    let (scheme, rest) = records.split_once("://").unwrap_or(("", records));
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    scheme
        .bytes()
        .chain(place.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Something under way.
pub type DriverFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a driver could not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverCause {
    /// The engine does not answer.
    EngineUnreachable,
    /// The image is not there, and may not or cannot be fetched.
    ImageMissing,
    /// No machine has room for it.
    Unschedulable,
    /// A quota of the cluster is used up.
    QuotaExceeded,
    /// Bay's account may not do it.
    NotPermitted,
    /// Anything else; the sentence says it.
    Other,
}

impl DriverCause {
    /// As it is written in an error's details.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Self::EngineUnreachable => Some("engine_unreachable"),
            Self::ImageMissing => Some("image_missing"),
            Self::Unschedulable => Some("unschedulable"),
            Self::QuotaExceeded => Some("cluster_quota"),
            Self::NotPermitted => Some("not_permitted"),
            Self::Other => None,
        }
    }
}

/// Why a driver could not, with a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DriverError {
    /// The kind of failure.
    pub cause: DriverCause,
    /// What happened, in a sentence.
    pub message: String,
}

impl DriverError {
    /// A failure that has no cause of its own.
    pub fn other(message: impl Into<String>) -> Self {
        Self { cause: DriverCause::Other, message: message.into() }
    }
}

impl From<std::io::Error> for DriverError {
    fn from(error: std::io::Error) -> Self {
        Self::other(error.to_string())
    }
}

/// How the size of a cargo is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CargoLimit {
    /// Somebody looks, and ends who writes past it.
    Watched {
        /// So much may be in it.
        bytes: u64,
    },
    /// The file system has no more room.
    Hard {
        /// So much fits.
        bytes: u64,
    },
}

impl CargoLimit {
    /// As a profile wishes it.
    pub fn new(disk: DiskLimit, bytes: u64) -> Self {
        match disk {
            DiskLimit::Watched => Self::Watched { bytes },
            DiskLimit::Hard => Self::Hard { bytes },
        }
    }
}

/// A container to start.
#[derive(Debug, Clone)]
pub struct ContainerOrder {
    /// Its own id, which the driver writes on it.
    pub container_id: String,
    /// Whose it is.
    pub sandbox_id: SandboxId,
    /// Which session it belongs to.
    pub session_id: SessionId,
    /// Its workspace; prepared before.
    pub cargo_id: CargoId,
    /// What may be in the workspace.
    pub cargo_limit_bytes: u64,
    /// How that is enforced.
    pub disk: DiskLimit,
    /// What it is.
    pub spec: ContainerSpec,
    /// Its environment beside the profile's, which wins. It may change from start to start: one that runs is gone on with all
    /// the same.
    pub own_env: Vec<(String, String)>,
    /// The way out as it is now: the policy of `spec`, or what the sandbox's owner has made of it.
    pub network: LiveNetwork,
    /// For a browser: the ports of its sandbox, which are its `localhost`.
    pub inside: Option<SandboxPorts>,
}

impl ContainerOrder {
    /// The environment that guests get.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let own = self.own_env.iter().filter(|(name, _)| !self.spec.env.iter().any(|(other, _)| other == name));
        self.spec.env.iter().chain(own).cloned().collect()
    }
}

/// A container that runs. Dropping the last handle ends it.
pub trait Container: Debug + Send + Sync {
    /// The id it was ordered with.
    fn id(&self) -> &str;
    /// Where it answers.
    fn endpoint(&self) -> &Endpoint;
    /// Its process, where it has one here.
    fn pid(&self) -> Option<u32>;
    /// What its processes use now; none where that cannot be seen from here. Reads files of the kernel.
    fn usage(&self) -> Option<Usage> {
        self.pid().and_then(Usage::of)
    }
    /// Whether it still runs, as far as is known without asking.
    fn is_alive(&self) -> bool;
    /// Waits until it has ended; holds nothing of it meanwhile.
    fn ended(&self) -> DriverFuture<'static, ()>;
    /// Ends it; returns when nothing of it is left.
    fn stop(&self) -> DriverFuture<'_, ()>;
}

/// A container that runs and was started by some Bay with the same records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundContainer {
    /// The id it was ordered with.
    pub container_id: String,
    /// Its sandbox.
    pub sandbox_id: String,
    /// Its session.
    pub session_id: String,
    /// Its name in the profile.
    pub name: String,
    /// Whether it can be gone on with: it runs, and was started all the way.
    pub usable: bool,
}

/// What was left by Bays that are gone, and is ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orphans {
    /// Those Bays.
    pub instances: Vec<String>,
    /// What to tell about their containers.
    pub containers: Vec<String>,
}

/// Where cargos are kept. Drivers whose containers are on this machine share one store of folders.
pub trait CargoStore: Debug + Send + Sync {
    /// How cargos are kept and limited, for `CargoInfo.backend`.
    fn backend(&self, disk: DiskLimit) -> &'static str;
    /// Why cargos cannot have a hard limit here; none: they can.
    fn no_hard_limit(&self) -> Option<&'static str>;
    /// Makes a cargo; fine where it is there already.
    fn prepare(&self, id: &CargoId, limit: CargoLimit) -> DriverFuture<'_, Result<(), DriverError>>;
    /// Removes a cargo and everything in it; fine where it is gone already.
    fn delete(&self, id: &CargoId) -> DriverFuture<'_, Result<(), DriverError>>;
    /// How many bytes a cargo holds, and whether all of it could be counted.
    fn weight(&self, id: &CargoId, limit_bytes: u64) -> DriverFuture<'_, Result<Weight, DriverError>>;
    /// All cargos that could be orphans, with the age of each in seconds.
    fn list(&self) -> DriverFuture<'_, Result<Vec<(CargoId, u64)>, DriverError>>;
    /// Moves them out of the way, where nobody takes them for orphans; where they are then.
    fn set_aside(&self, stamp: i64) -> DriverFuture<'_, Result<String, DriverError>>;
    /// Where they are, in the operator's words.
    fn place(&self) -> String;
    /// Whether this Bay's records know what is kept here; only then is the unknown an orphan.
    fn is_known(&self) -> bool;
}

/// What containers are made of.
pub trait Driver: Debug + Send + Sync + 'static {
    /// Where the cargos are kept.
    fn cargos(&self) -> &dyn CargoStore;
    /// What an operator should know of limits that are not enforced; none where the kernel enforces them.
    fn warnings(&self) -> Vec<String>;
    /// What this machine lacks for a container, each with the command that brings it; none: nothing that is known.
    fn missing(&self, _spec: &ContainerSpec) -> Vec<String> {
        Vec::new()
    }
    /// Tries what [`missing`](Self::missing) can only say once it has been tried: whether such a container can be made here.
    fn try_out<'a>(&'a self, _spec: &'a ContainerSpec) -> DriverFuture<'a, ()> {
        Box::pin(async {})
    }
    /// A browser has been started, or has not and why: what [`missing`](Self::missing) says from now on.
    fn saw_browser(&self, _started: Result<(), &str>) {}
    /// Starts a container; returns when it answers.
    fn start(&self, order: ContainerOrder) -> DriverFuture<'_, Result<Arc<dyn Container>, DriverError>>;
    /// Finds what Bays that are gone have started, and ends it.
    fn end_orphans(&self) -> DriverFuture<'_, Result<Orphans, DriverError>>;
    /// Every container of Bays with the same records that outlives its Bay; none where containers end with theirs.
    fn found(&self) -> DriverFuture<'_, Result<Vec<FoundContainer>, DriverError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    /// Goes on with a container that was found, as if this Bay had started it. Refuses one that was ordered otherwise.
    fn adopt<'a>(
        &'a self,
        _found: &'a FoundContainer,
        _order: ContainerOrder,
    ) -> DriverFuture<'a, Result<Arc<dyn Container>, DriverError>> {
        Box::pin(async { Err(DriverError::other("containers of this driver end with their Bay")) })
    }
    /// Ends a container that was found.
    fn end_found<'a>(&'a self, _found: &'a FoundContainer) -> DriverFuture<'a, Result<(), DriverError>> {
        Box::pin(async { Ok(()) })
    }
    /// Whether containers go on when Bay ends in good order: the next one goes on with them.
    fn keeps_running(&self) -> bool {
        false
    }
    /// Whether containers can live on when their Bay was killed.
    fn outlives_bay(&self) -> bool {
        true
    }
    /// What runs may go on until this moment of the machine's uptime, in milliseconds; then it ends by itself unless this
    /// is called again. Never called: it goes on for as long as Bay lives. Nothing to do where containers outlive their Bay.
    fn renew(&self, _lease_until_ms: u64) {}
    /// What only Bays of the same records know, told once, before anything is started: what a driver makes keys from that the next
    /// Bay has to have, too.
    fn share_secret(&self, _secret: &Secret) {}
    /// These addresses are Bays': nothing that was or will be started gets there, whatever its network opens. Nothing to do
    /// where all proxies are in this process, which knows them already.
    fn reserve(&self, _addresses: &[SocketAddr]) {}
    /// Bay ends, and every container has: what is left for them goes, whoever still holds a handle of Bay.
    fn close(&self);
}
