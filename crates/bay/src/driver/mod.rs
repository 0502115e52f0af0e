//! The interface of a driver: it starts and ends containers, keeps their cargos, and finds everything that it has ever
//! started.
//!
//! A driver knows no state of a sandbox, no owner and no network protocol. What it cannot enforce is in
//! [`Driver::warnings`].

mod local;

use std::fmt::Debug;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use cove_core::{CargoId, SandboxId, SessionId};
use cove_files::Weight;
use cove_runtime_api::Endpoint;

use cove_config::{ContainerSpec, DiskLimit};

pub(crate) use local::LocalDriver;

/// Something under way.
pub(crate) type DriverFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a driver could not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct DriverError(pub(crate) String);

impl From<std::io::Error> for DriverError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// How the size of a cargo is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CargoLimit {
    /// Somebody looks, and ends who writes past it.
    Watched,
    /// The file system has no more room.
    Hard {
        /// So much fits.
        bytes: u64,
    },
}

impl CargoLimit {
    /// As a profile wishes it.
    pub(crate) fn new(disk: DiskLimit, bytes: u64) -> Self {
        match disk {
            DiskLimit::Watched => Self::Watched,
            DiskLimit::Hard => Self::Hard { bytes },
        }
    }
}

/// A container to start.
#[derive(Debug, Clone)]
pub(crate) struct ContainerOrder {
    /// Its own id, which the driver writes on it.
    pub(crate) container_id: String,
    /// Whose it is.
    pub(crate) sandbox_id: SandboxId,
    /// Which session it belongs to.
    pub(crate) session_id: SessionId,
    /// Its workspace; prepared before.
    pub(crate) cargo_id: CargoId,
    /// What may be in the workspace.
    pub(crate) cargo_limit_bytes: u64,
    /// How that is enforced.
    pub(crate) disk: DiskLimit,
    /// What it is.
    pub(crate) spec: ContainerSpec,
}

/// A container that runs. Dropping the last handle ends it.
pub(crate) trait Container: Debug + Send + Sync {
    /// The id it was ordered with.
    fn id(&self) -> &str;
    /// Where it answers.
    fn endpoint(&self) -> &Endpoint;
    /// Its process, where it has one here.
    fn pid(&self) -> Option<u32>;
    /// Whether it still runs, as far as is known without asking.
    fn is_alive(&self) -> bool;
    /// Waits until it has ended; holds nothing of it meanwhile.
    fn ended(&self) -> DriverFuture<'static, ()>;
    /// Ends it; returns when nothing of it is left.
    fn stop(&self) -> DriverFuture<'_, ()>;
}

/// What was left by Bays that are gone, and is ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Orphans {
    /// Those Bays.
    pub(crate) instances: Vec<String>,
    /// What to tell about their containers.
    pub(crate) containers: Vec<String>,
}

/// What containers are made of.
pub(crate) trait Driver: Debug + Send + Sync + 'static {
    /// How cargos are kept and limited, for `CargoInfo.backend`.
    fn cargo_backend(&self, disk: DiskLimit) -> &'static str;
    /// Why cargos cannot have a hard limit here; none: they can.
    fn no_hard_limit(&self) -> Option<&'static str>;
    /// What an operator should know of limits that are not enforced; none where the kernel enforces them.
    fn warnings(&self) -> Vec<String>;
    /// What this machine lacks for a container, each with the command that brings it; none: nothing that is known.
    fn missing(&self, spec: &ContainerSpec) -> Vec<String>;
    /// Starts a container; returns when it answers.
    fn start(&self, order: ContainerOrder) -> DriverFuture<'_, Result<Arc<dyn Container>, DriverError>>;
    /// Makes a cargo's folder; fine where it is there already.
    fn prepare_cargo<'a>(
        &'a self,
        cargo_id: &'a CargoId,
        limit: CargoLimit,
    ) -> DriverFuture<'a, Result<(), DriverError>>;
    /// Removes a cargo and everything in it; fine where it is gone already.
    fn delete_cargo<'a>(&'a self, cargo_id: &'a CargoId) -> DriverFuture<'a, Result<(), DriverError>>;
    /// How many bytes a cargo holds, and whether all of it could be counted.
    fn cargo_weight<'a>(
        &'a self,
        cargo_id: &'a CargoId,
        limit_bytes: u64,
    ) -> DriverFuture<'a, Result<Weight, DriverError>>;
    /// All cargos that could be orphans, with the age of each in seconds.
    fn cargos(&self) -> DriverFuture<'_, Result<Vec<(CargoId, u64)>, DriverError>>;
    /// Whether this Bay's records know what lies where cargos are kept; only then is the unknown an orphan.
    fn knows_cargos(&self) -> bool;
    /// Finds what Bays that are gone have started, and ends it.
    fn end_orphans(&self) -> DriverFuture<'_, Result<Orphans, DriverError>>;
    /// What runs may go on until this moment of the machine's uptime, in milliseconds; then it ends by itself unless this
    /// is called again. Never called: it goes on for as long as Bay lives.
    fn renew(&self, lease_until_ms: u64);
    /// These addresses are Bays': nothing that was or will be started gets there, whatever its network opens.
    fn reserve(&self, addresses: &[SocketAddr]);
    /// Bay ends, and every container has: what is left for them goes, whoever still holds a handle of Bay.
    fn close(&self);
}
