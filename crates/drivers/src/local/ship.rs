//! Ship as a cell.

use std::sync::Arc;

use cove_cell::{CellLimits, CellMount, CellNetwork, CellOptions, LocalCell};
use tokio::sync::watch;

use super::LocalDriver;
use super::runtime_dir::{Label, LabelFile, began};
use crate::cargo::image_bytes;
use crate::owned::{Owned, wished};
use crate::{ContainerOrder, DriverError};
use cove_config::{DiskLimit, python_environment};

/// Where a Python environment appears inside.
const PYTHON: &str = "/opt/python";

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Waits until the lease is renewed.
pub(super) async fn renewed(lease: &mut watch::Receiver<Option<u64>>) -> u64 {
    loop {
        if lease.changed().await.is_err() {
            // Bay is being dropped, and everything that it has started with it.
            return std::future::pending().await;
        }
        if let Some(until_ms) = *lease.borrow_and_update() {
            return until_ms;
        }
    }
}

impl LocalDriver {
    pub(super) async fn start_ship(&self, order: ContainerOrder) -> Result<Owned, DriverError> {
        let workspace = self.cargos.path(&order.cargo_id);
        let mut options = CellOptions::new(&self.program, workspace, self.runtime_dir.sockets());
        options.args = vec!["ship".to_owned()];
        if let Some(preload) = &self.options.preload {
            options.args.extend(["--preload".to_owned(), preload.join(",")]);
        }
        options.hostname = order.sandbox_id.to_string();
        options.limits = CellLimits {
            memory_bytes: order.spec.memory.bytes(),
            cpus: order.spec.cpus,
            processes: self.options.processes,
            tmp_bytes: self.options.tmp.bytes(),
            // Where the file system itself is full at the limit, nobody needs to be ended for it.
            workspace_bytes: Some(match order.disk {
                DiskLimit::Watched => order.cargo_limit_bytes,
                DiskLimit::Hard => image_bytes(order.cargo_limit_bytes),
            }),
            open_files: self.options.open_files,
        };
        options.control_groups = self.options.control_groups;
        options.network = CellNetwork::Proxy(order.spec.network.clone());
        options.live_network = Some(order.network.clone());
        options.env = order.env();
        for mount in &self.options.mounts {
            options.mounts.push(CellMount { host: mount.host.clone(), inside: mount.inside.clone() });
        }
        if let Some(python) = python_environment(self.options.python.as_deref(), Some(&self.data_dir)) {
            options.mounts.push(CellMount { host: python, inside: PYTHON.into() });
            let path = options.env.iter_mut().find(|(name, _)| name == "PATH");
            match path {
                Some((_, path)) => *path = format!("{PYTHON}/bin:{path}"),
                None => options.env.push(("PATH".to_owned(), format!("{PYTHON}/bin:{PATH}"))),
            }
        }
        let mut lease = self.lease.subscribe();
        options.lease_until_ms = *lease.borrow_and_update();
        let made = LocalCell::start(options).await;
        self.lacks.saw_cell(&made);
        let cell = made.map_err(|error| DriverError::other(error.to_string()))?;
        let warnings = cell.walls().limits.warnings();
        if order.spec.require_enforced_limits && !warnings.is_empty() {
            // Not what was seen when Bay started: the group that it could make then, it cannot make now.
            let _ = cell.kill().await;
            return Err(DriverError::other(format!(
                "the profile requires enforced limits, and {}",
                warnings.join("; ")
            )));
        }
        let label = self.label(&order, cell.pid())?;
        let (stop, mut stopped) = watch::channel(false);
        let (say_ended, ended) = watch::channel(false);
        let (endpoint, pid) = (cell.socket().into(), cell.pid());
        tokio::spawn(async move {
            let mut cell = cell;
            let by_itself = loop {
                tokio::select! {
                    _ = cell.wait() => break true,
                    () = wished(&mut stopped) => break false,
                    until = renewed(&mut lease) => cell.renew(until),
                }
            };
            if !by_itself && let Err(error) = cell.kill().await {
                tracing::warn!(%error, "a cell could not be ended");
            }
            drop(label);
            say_ended.send_replace(true);
        });
        Ok(Owned { id: order.container_id, endpoint, pid, stop: Arc::new(stop), ended })
    }

    pub(super) fn label(&self, order: &ContainerOrder, pid: Option<u32>) -> Result<Option<LabelFile>, DriverError> {
        let Some(pid) = pid else { return Ok(None) };
        let label = Label {
            container_id: order.container_id.clone(),
            sandbox_id: order.sandbox_id.to_string(),
            session_id: order.session_id.to_string(),
            pid,
            began: began(pid).unwrap_or(0),
        };
        Ok(Some(self.runtime_dir.label(&label)?))
    }
}
