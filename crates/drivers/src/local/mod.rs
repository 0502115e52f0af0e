//! The local driver: processes behind walls on this machine, and nothing but Linux.
//!
//! Everything it starts ends with Bay, also when Bay is killed: a cell's supervisor sees its line cut, Gull dies by the
//! kernel's parent-death signal, and mounts exist in the cells' own namespaces only. Sockets and private folders of a
//! Bay that was killed lie in its [`RuntimeDir`], which the next one clears away.

mod child;
mod gull;
mod lacks;
mod runtime_dir;
mod ship;
mod trial;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use cove_config::{Config, ConfigError, ContainerSpec, LocalDriverConfig, RuntimeType};
use tokio::sync::watch;

use super::cargo::{Cargos, on_disk};
use super::{CargoStore, Container, ContainerOrder, Driver, DriverError, DriverFuture, Orphans, fingerprint};
use runtime_dir::RuntimeDir;

/// The local driver.
#[derive(Debug)]
pub(crate) struct LocalDriver {
    program: PathBuf,
    options: LocalDriverConfig,
    /// Where `cove setup` puts what it installs.
    data_dir: PathBuf,
    lacks: lacks::Lacks,
    /// One trial at a time.
    trial: tokio::sync::Mutex<()>,
    runtime_dir: RuntimeDir,
    cargos: Cargos,
    /// Which records this Bay has: only Bays with the same ones clear up after one another.
    records: String,
    /// Until when everything may go on; none: as long as Bay lives.
    lease: watch::Sender<Option<u64>>,
    /// Whether a control group counts memory; seen once, at the start.
    memory_is_enforced: bool,
}

impl LocalDriver {
    /// Makes ready.
    pub(crate) fn new(config: &Config, instance_id: &str) -> Result<Self, ConfigError> {
        let options = config.driver.local.clone();
        let program = match &options.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(|e| ConfigError::value("driver.local.program", &e.to_string()))?,
        };
        if let Some(python) = &options.python
            && !cove_config::python_of(python).exists()
        {
            let reason = format!("{} has no bin/python3", python.display());
            return Err(ConfigError::value("driver.local.python", &reason));
        }
        let data_dir = config.data_dir()?;
        let root = config.runtime_root()?;
        config.check_mounted(&root)?;
        let records = config.database_url()?;
        let runtime_dir = RuntimeDir::take(&root, &records, instance_id)
            .map_err(|e| ConfigError::value("runtime_dir", &e.to_string()))?;
        let cargos = Cargos::open(&config.cargo_root()?, fingerprint(&records))
            .map_err(|e| ConfigError::value("cargo.root_path", &e.to_string()))?;
        let memory_is_enforced = options.control_groups && cove_cgroup::counts_memory();
        let lease = watch::Sender::new(None);
        let (lacks, trial) = (lacks::Lacks::default(), tokio::sync::Mutex::new(()));
        let driver =
            Self { program, options, data_dir, lacks, trial, runtime_dir, cargos, records, lease, memory_is_enforced };
        driver.reserve(&[]);
        Ok(driver)
    }
}

impl Driver for LocalDriver {
    fn cargos(&self) -> &dyn CargoStore {
        &self.cargos
    }

    fn warnings(&self) -> Vec<String> {
        if self.memory_is_enforced { Vec::new() } else { vec![cove_cell::MEMORY_WATCHED.to_owned()] }
    }

    fn missing(&self, spec: &ContainerSpec) -> Vec<String> {
        self.lacks.of(spec, &self.options, &self.data_dir)
    }

    fn try_out<'a>(&'a self, spec: &'a ContainerSpec) -> DriverFuture<'a, ()> {
        Box::pin(async move {
            if spec.runtime_type == RuntimeType::Ship {
                self.try_cell().await;
            }
        })
    }

    fn saw_browser(&self, started: Result<(), &str>) {
        self.lacks.saw_browser(started);
    }

    fn start(&self, order: ContainerOrder) -> DriverFuture<'_, Result<Arc<dyn Container>, DriverError>> {
        Box::pin(async move {
            let started: Arc<dyn Container> = match order.spec.runtime_type {
                RuntimeType::Ship => Arc::new(self.start_ship(order).await?),
                RuntimeType::Gull => {
                    let started = self.start_gull(order).await;
                    // That it runs says nothing of its browser, which the first command starts.
                    if let Err(error) = &started {
                        self.lacks.saw_browser(Err(&error.message));
                    }
                    Arc::new(started?)
                }
            };
            Ok(started)
        })
    }

    fn end_orphans(&self) -> DriverFuture<'_, Result<Orphans, DriverError>> {
        Box::pin(async move {
            let root = self.runtime_dir.root().to_owned();
            let (cargos, records) = (self.cargos.clone(), self.records.clone());
            on_disk(move || {
                cargos.clear_trash();
                let found = runtime_dir::sweep(&root, &records);
                Ok(Orphans { instances: found.instances, containers: found.containers })
            })
            .await
        })
    }

    fn outlives_bay(&self) -> bool {
        false
    }

    fn renew(&self, lease_until_ms: u64) {
        self.lease.send_replace(Some(lease_until_ms));
    }

    fn reserve(&self, addresses: &[SocketAddr]) {
        // Ships' proxies are in this process and know already; browsers' are not.
        if let Err(error) = self.runtime_dir.reserve(addresses) {
            tracing::warn!(%error, "the list of reserved addresses could not be written; new browsers will have no network");
        }
    }

    fn close(&self) {
        self.runtime_dir.clear();
        self.cargos.close();
    }
}
