//! The Docker driver: each runtime of a session is a container of an engine on this machine.
//!
//! A cargo is a folder of Bay's, as with the local driver, and is mounted into each container of its session; so
//! both drivers keep cargos alike, and a change of driver loses none. A container has no network but its own loopback: Bay reaches
//! it by a socket in a folder that both see, and the way out is another socket there, with Bay's filtering proxy behind
//! it. What is found by its labels outlives Bay, and the next one goes on with it.

mod body;
mod engine;
mod fetch;
mod folder;
mod lease;
mod seccomp;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bollard::models::{ContainerSummary, ContainerSummaryStateEnum};
use cove_cell::{Egress, adopt_cargo, give_to};
use cove_core::CargoId;
use cove_runtime_api::until_it_listens;
use cove_walls::identity::is_full_root;
use tokio::sync::{Mutex, watch};

use super::cargo::{Cargos, on_disk, overgrown};
use super::owned::Owned;
use super::{
    CargoStore, Container, ContainerOrder, Driver, DriverError, DriverFuture, FoundContainer, Orphans, fingerprint,
};
#[cfg(feature = "kubernetes")]
pub(crate) use body::INIT;
use body::Plan;
use cove_config::{Config, ConfigError, DiskLimit, DockerDriverConfig, PullPolicy, RuntimeType};
use engine::Engine;
use folder::ContainerFolder;
use lease::Lease;

/// How long a container may take from its start to its first connection.
const START_LIMIT: Duration = Duration::from_secs(40);

/// How long a browser may take to keep its cookies before it is ended.
const GULL_END_SECONDS: i32 = 6;

/// A folder without a container that is younger belongs to one that is being made.
const FOLDER_AGE: Duration = Duration::from_secs(120);

/// The Docker driver.
#[derive(Debug)]
pub(crate) struct DockerDriver {
    engine: Engine,
    options: DockerDriverConfig,
    pull: PullPolicy,
    cargos: Cargos,
    /// Where containers' folders are.
    root: PathBuf,
    /// Which records this Bay has, as it is written on containers.
    records: String,
    instance_id: String,
    lease: Lease,
    warnings: Vec<String>,
    /// One fetches images at a time.
    pulling: Mutex<()>,
}

impl DockerDriver {
    /// Connects to the engine and makes ready.
    pub(crate) async fn open(config: &Config, instance_id: &str) -> Result<Self, ConfigError> {
        let options = config.driver.docker.clone();
        let engine = Engine::connect(&options).await?;
        let value = |place: &'static str| move |error: std::io::Error| ConfigError::value(place, &error.to_string());
        let records = fingerprint(&config.database_url()?);
        let root = config.runtime_root()?.join(format!("docker-{:08x}", records & 0xffff_ffff));
        let lease = Lease::begin(&root, instance_id, options.outlive_seconds).map_err(value("runtime_dir"))?;
        let cargos = Cargos::open(&config.cargo_root()?, records).map_err(value("cargo.root_path"))?;
        let asked = engine.weaknesses().await;
        let warnings = asked.map_err(|error| ConfigError::value("driver.docker.socket", &error.message))?;
        Ok(Self {
            engine,
            options,
            pull: config.driver.image_pull_policy,
            cargos,
            root,
            records: format!("{records:016x}"),
            instance_id: instance_id.to_owned(),
            lease,
            warnings,
            pulling: Mutex::default(),
        })
    }

    async fn start_container(&self, order: ContainerOrder) -> Result<Owned, DriverError> {
        if order.spec.require_enforced_limits && !self.warnings.is_empty() {
            let why = self.warnings.join("; ");
            return Err(DriverError::other(format!("the profile requires enforced limits, and {why}")));
        }
        self.engine.check_runtime(body::runtime(&order, &self.options))?;
        self.ensure_image(body::image(&order, &self.options)).await?;
        let folder = ContainerFolder::at(&self.root, &order.container_id);
        let (uid, gid) = self.make_folder(&folder, &order).await?;
        let name = engine_name(&order.container_id);
        let started = self.start_in(&folder, &name, &order, (uid, gid)).await;
        match started {
            Ok(egress) => Ok(self.keep(order, folder, egress)),
            Err(error) => {
                if let Err(left) = self.engine.remove(&name).await {
                    tracing::warn!(%left, "a container that could not start is left to the collector");
                }
                folder.remove();
                Err(error)
            }
        }
    }

    /// Sees that an image is there, as the policy wants it. One that is there waits for no other that is being fetched.
    async fn ensure_image(&self, image: &str) -> Result<(), DriverError> {
        let is_enough = self.pull != PullPolicy::Always;
        if is_enough && self.engine.has_image(image).await? {
            return Ok(());
        }
        let _turn = self.pulling.lock().await;
        // Others may have fetched it meanwhile.
        if is_enough && self.engine.has_image(image).await? {
            return Ok(());
        }
        self.engine.fetch_image(image, self.pull).await
    }

    /// Makes the folder of a container; whom the guest is.
    async fn make_folder(&self, folder: &ContainerFolder, order: &ContainerOrder) -> Result<(u32, u32), DriverError> {
        let (folder, instance_id) = (folder.clone(), self.instance_id.clone());
        let (workspace, state) = (self.cargos.path(&order.cargo_id), self.cargos.browser_path(&order.cargo_id));
        let gives_state = order.spec.runtime_type == RuntimeType::Gull && is_full_root();
        on_disk(move || {
            let (uid, gid) = adopt_cargo(&workspace).map_err(std::io::Error::other)?;
            if gives_state {
                give_to(&state, uid)?;
            }
            let made = folder.make(uid, gid, &instance_id);
            if made.is_err() {
                folder.remove();
            }
            made.map(|()| (uid, gid))
        })
        .await
    }

    /// Starts a container and waits until it takes connections.
    async fn start_in(
        &self,
        folder: &ContainerFolder,
        name: &str,
        order: &ContainerOrder,
        (uid, gid): (u32, u32),
    ) -> Result<Option<Egress>, DriverError> {
        let egress = open_egress(folder, order)?;
        let (workspace, browser_state) = (self.cargos.path(&order.cargo_id), self.cargos.browser_path(&order.cargo_id));
        let filter = seccomp::profile(order.spec.runtime_type);
        let filter = match self.engine.reads_filters_from_files() {
            true => folder.write_filter(filter)?.display().to_string(),
            false => filter.to_owned(),
        };
        let plan = Plan {
            order,
            options: &self.options,
            records: &self.records,
            folder,
            lease: self.lease.folder(),
            workspace: &workspace,
            browser_state: &browser_state,
            filter: &filter,
            uid,
            gid,
        };
        self.engine.run(name, plan.body()).await?;
        let socket = folder.socket();
        let failed = tokio::select! {
            answered = tokio::time::timeout(START_LIMIT, until_it_listens(&socket)) => match answered {
                Ok(()) => None,
                Err(_) => Some(format!("did not start within {START_LIMIT:?}")),
            },
            () = self.engine.ended(name) => Some("ended before it was ready".to_owned()),
        };
        if let Some(how) = failed {
            let words = self.engine.last_words(name).await;
            let words = if words.is_empty() { String::new() } else { format!(": {words}") };
            return Err(DriverError::other(format!("the container {how}{words}")));
        }
        folder.seal()?;
        Ok(egress)
    }

    /// Owns a container that runs.
    fn keep(&self, order: ContainerOrder, folder: ContainerFolder, egress: Option<Egress>) -> Owned {
        let (stop, stopped) = watch::channel(false);
        let (say_ended, ended) = watch::channel(false);
        let endpoint = folder.socket().into();
        let kept = Kept {
            engine: self.engine.clone(),
            cargos: self.cargos.clone(),
            instance_id: self.instance_id.clone(),
            folder,
            _egress: egress,
            cargo_id: order.cargo_id,
            limit_bytes: order.cargo_limit_bytes,
            watches_disk: order.disk == DiskLimit::Watched,
            is_gull: order.spec.runtime_type == RuntimeType::Gull,
            name: engine_name(&order.container_id),
        };
        tokio::spawn(kept.attend(stopped, say_ended));
        Owned { id: order.container_id, endpoint, pid: None, stop: Arc::new(stop), ended }
    }

    async fn go_on_with(&self, found: &FoundContainer, mut order: ContainerOrder) -> Result<Owned, DriverError> {
        let name = engine_name(&found.container_id);
        let folder = ContainerFolder::at(&self.root, &found.container_id);
        let state = self.engine.state(&name).await?;
        if !folder.is_ready() || state.is_none_or(|state| state.running != Some(true)) {
            return Err(DriverError::other("it does not run"));
        }
        let label = format!("{}={}", body::CONTAINER, found.container_id);
        let listed = self.engine.list(label).await?;
        let number = body::order_number(&order, &self.options);
        if !listed.iter().any(|one| label_of(one, body::ORDER) == Some(&number)) {
            return Err(DriverError::other("the configuration of its profile has changed"));
        }
        order.container_id.clone_from(&found.container_id);
        folder.own(&self.instance_id)?;
        let egress = open_egress(&folder, &order)?;
        Ok(self.keep(order, folder, egress))
    }

    /// Folders whose container is gone.
    async fn clear_folders(&self) -> Result<(), DriverError> {
        let listed = self.engine.list(format!("{}={}", body::RECORDS, self.records)).await?;
        let known: Vec<String> = listed.iter().filter_map(|one| label_of(one, body::CONTAINER).cloned()).collect();
        let root = self.root.clone();
        on_disk(move || {
            for entry in fs::read_dir(&root)?.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let made = entry.metadata().and_then(|meta| meta.modified()).unwrap_or_else(|_| SystemTime::now());
                let old = made.elapsed().is_ok_and(|age| age > FOLDER_AGE);
                if old && name != lease::FOLDER && !known.contains(&name) {
                    ContainerFolder::at(&root, &name).remove();
                }
            }
            Ok(())
        })
        .await
    }
}

/// The name of a container at the engine.
fn engine_name(container_id: &str) -> String {
    format!("cove-{container_id}")
}

fn label_of<'a>(one: &'a ContainerSummary, name: &str) -> Option<&'a String> {
    one.labels.as_ref()?.get(name)
}

/// Opens the way out of a container, if its profile has one, or it is a browser beside programs.
fn open_egress(folder: &ContainerFolder, order: &ContainerOrder) -> Result<Option<Egress>, DriverError> {
    let network = &order.spec.network;
    if network.opens_nothing() && order.inside.is_none() {
        return Ok(None);
    }
    let opened = folder.unsealed(|_| {
        let path = folder.egress();
        // A Bay that was killed has left its own.
        let _ = fs::remove_file(&path);
        Egress::open(order.network.clone(), order.inside.clone(), path)
    });
    Ok(Some(opened?))
}

/// A container with its owner.
struct Kept {
    engine: Engine,
    cargos: Cargos,
    instance_id: String,
    folder: ContainerFolder,
    _egress: Option<Egress>,
    cargo_id: CargoId,
    limit_bytes: u64,
    watches_disk: bool,
    is_gull: bool,
    name: String,
}

impl Kept {
    async fn attend(self, mut stopped: watch::Receiver<bool>, say_ended: watch::Sender<bool>) {
        let full = async {
            if !self.watches_disk {
                return std::future::pending().await;
            }
            overgrown(&self.cargos, &self.cargo_id, self.limit_bytes).await;
        };
        let by_itself = tokio::select! {
            () = self.engine.ended(&self.name) => true,
            wish = stopped.wait_for(|stop| *stop) => match wish {
                Ok(_) => false,
                // Bay has gone without a word: the next one goes on with the container.
                Err(_) => return,
            },
            () = full => {
                tracing::warn!(cargo = %self.cargo_id, "a container filled its cargo past the limit and is ended");
                false
            }
        };
        if self.folder.is_others(&self.instance_id) {
            say_ended.send_replace(true);
            return;
        }
        if by_itself {
            self.tell_end().await;
        } else if self.is_gull {
            self.engine.ask_to_end(&self.name, GULL_END_SECONDS).await;
        }
        if let Err(error) = self.engine.remove(&self.name).await {
            tracing::warn!(container = %self.name, %error, "a container is left to the collector");
        } else {
            self.folder.remove();
        }
        say_ended.send_replace(true);
    }

    async fn tell_end(&self) {
        let Ok(Some(state)) = self.engine.state(&self.name).await else { return };
        let memory = state.oom_killed == Some(true);
        tracing::warn!(container = %self.name, code = state.exit_code, memory, "a container has ended by itself");
    }
}

impl Driver for DockerDriver {
    fn cargos(&self) -> &dyn CargoStore {
        &self.cargos
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn start(&self, order: ContainerOrder) -> DriverFuture<'_, Result<Arc<dyn Container>, DriverError>> {
        Box::pin(async move {
            let started: Arc<dyn Container> = Arc::new(self.start_container(order).await?);
            Ok(started)
        })
    }

    fn end_orphans(&self) -> DriverFuture<'_, Result<Orphans, DriverError>> {
        Box::pin(async move {
            let cargos = self.cargos.clone();
            on_disk(move || {
                cargos.clear_trash();
                Ok(())
            })
            .await?;
            self.clear_folders().await?;
            Ok(Orphans::default())
        })
    }

    fn found(&self) -> DriverFuture<'_, Result<Vec<FoundContainer>, DriverError>> {
        Box::pin(async move {
            let listed = self.engine.list(format!("{}={}", body::RECORDS, self.records)).await?;
            let found = listed.iter().filter_map(|one| {
                let label = |name| label_of(one, name).cloned();
                let container_id = label(body::CONTAINER)?;
                let runs = one.state == Some(ContainerSummaryStateEnum::RUNNING);
                let usable = runs && ContainerFolder::at(&self.root, &container_id).is_ready();
                let (sandbox_id, session_id) = (label(body::SANDBOX)?, label(body::SESSION)?);
                Some(FoundContainer { container_id, sandbox_id, session_id, name: label(body::NAME)?, usable })
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
            self.engine.remove(&engine_name(&found.container_id)).await?;
            ContainerFolder::at(&self.root, &found.container_id).remove();
            Ok(())
        })
    }

    fn keeps_running(&self) -> bool {
        self.options.keep_running
    }

    fn close(&self) {
        self.lease.end(&self.root);
        self.cargos.close();
    }
}
