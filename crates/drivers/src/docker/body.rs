//! What the engine is told of a container: its walls, its limits, its mounts and its command.

use std::collections::HashMap;
use std::path::Path;

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount, MountType, RestartPolicy,
    RestartPolicyNameEnum,
};
use cove_config::{DockerDriverConfig, RuntimeType};

use super::folder::{ContainerFolder, EGRESS, SOCKET};
use super::lease;
use crate::{ContainerOrder, fingerprint};

/// Where the shared folder appears inside.
const SHARED: &str = "/run/cove";

/// Where Bay's signs of life appear inside.
const LEASE: &str = "/run/cove-lease";

/// Where the browser's state appears inside.
const STATE: &str = "/state";

/// Memory that the browser's processes share; it counts as memory.
const BROWSER_SHM_BYTES: i64 = 256 << 20;
const SHIP_SHM_BYTES: i64 = 64 << 20;

/// Process 1 of a browser's container: it takes away the dead that the browser leaves, and passes a wish to end on.
pub(crate) const INIT: &str = "trap 'kill -TERM $child' TERM; \"$@\" & child=$!; wait $child; code=$?; \
                    while kill -0 $child 2>/dev/null; do wait $child; code=$?; done; exit $code";

/// What is written on a container.
pub(super) const RECORDS: &str = "cove.records";
pub(super) const CONTAINER: &str = "cove.container";
pub(super) const SANDBOX: &str = "cove.sandbox";
pub(super) const SESSION: &str = "cove.session";
pub(super) const NAME: &str = "cove.name";
pub(super) const ORDER: &str = "cove.order";

/// Everything that a container is made from.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) order: &'a ContainerOrder,
    pub(super) options: &'a DockerDriverConfig,
    pub(super) records: &'a str,
    pub(super) folder: &'a ContainerFolder,
    pub(super) lease: &'a Path,
    pub(super) workspace: &'a Path,
    pub(super) browser_state: &'a Path,
    /// The filter of system calls, or the path of its file where the engine wants that.
    pub(super) filter: &'a str,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// The image of a container.
pub(super) fn image<'a>(order: &'a ContainerOrder, options: &'a DockerDriverConfig) -> &'a str {
    order.spec.image.as_deref().unwrap_or(match order.spec.runtime_type {
        RuntimeType::Ship => &options.ship_image,
        RuntimeType::Gull => &options.gull_image,
    })
}

/// The OCI runtime of a container; none: the engine's own.
pub(super) fn runtime<'a>(order: &'a ContainerOrder, options: &'a DockerDriverConfig) -> Option<&'a str> {
    order.spec.runtime.as_deref().or(options.runtime.as_deref())
}

/// A number for what was ordered: one that was ordered otherwise is not gone on with.
pub(super) fn order_number(order: &ContainerOrder, options: &DockerDriverConfig) -> String {
    let ContainerOrder {
        sandbox_id,
        session_id,
        cargo_id,
        cargo_limit_bytes,
        disk,
        spec,
        container_id: _,
        own_env: _,
        network: _,
        inside: _,
    } = order;
    let (image, runtime) = (image(order, options), &options.runtime);
    let own = format!("{image}{runtime:?}{}{}", options.processes, options.tmp);
    let all = format!("{sandbox_id}{session_id}{cargo_id}{cargo_limit_bytes}{disk:?}{spec:?}{own}");
    format!("{:016x}", fingerprint(&all))
}

impl Plan<'_> {
    /// As the engine wants it.
    pub(super) fn body(&self) -> ContainerCreateBody {
        let (order, options) = (self.order, self.options);
        let spec = &order.spec;
        let labels = [
            (RECORDS, self.records.to_owned()),
            (CONTAINER, order.container_id.clone()),
            (SANDBOX, order.sandbox_id.to_string()),
            (SESSION, order.session_id.to_string()),
            (NAME, spec.name.clone()),
            (ORDER, order_number(order, options)),
        ];
        let (entrypoint, command) = self.command();
        ContainerCreateBody {
            image: Some(image(order, options).to_owned()),
            hostname: Some(order.sandbox_id.to_string()),
            user: Some(format!("{}:{}", self.uid, self.gid)),
            working_dir: Some("/workspace".to_owned()),
            entrypoint: Some(entrypoint),
            cmd: Some(command),
            env: Some(vec!["HOME=/tmp".to_owned()]),
            // Bay looks at its health by itself.
            healthcheck: Some(HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() }),
            labels: Some(labels.map(|(name, value)| (name.to_owned(), value)).into()),
            host_config: Some(self.host()),
            ..ContainerCreateBody::default()
        }
    }

    fn host(&self) -> HostConfig {
        let (spec, options) = (&self.order.spec, self.options);
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let memory = number(spec.memory.bytes());
        // Files in /tmp are memory: processes keep at least half of it.
        let tmp = options.tmp.bytes().min(spec.memory.bytes() / 2);
        let shm = if spec.runtime_type == RuntimeType::Gull { BROWSER_SHM_BYTES } else { SHIP_SHM_BYTES };
        let nano_cpus = (spec.cpus * 1e9) as i64;
        let logs = [("max-size", "1m"), ("max-file", "1")];
        HostConfig {
            memory: Some(memory),
            memory_swap: Some(memory),
            nano_cpus: Some(nano_cpus),
            pids_limit: Some(number(options.processes)),
            network_mode: Some("none".to_owned()),
            readonly_rootfs: Some(true),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned(), format!("seccomp={}", self.filter)]),
            mounts: Some(self.mounts()),
            tmpfs: Some(HashMap::from([("/tmp".to_owned(), format!("rw,nosuid,nodev,exec,mode=1777,size={tmp}"))])),
            shm_size: Some(shm.min(memory / 2)),
            ipc_mode: Some("private".to_owned()),
            runtime: runtime(self.order, options).map(str::to_owned),
            restart_policy: Some(RestartPolicy { name: Some(RestartPolicyNameEnum::NO), maximum_retry_count: None }),
            log_config: Some(HostConfigLogConfig {
                typ: Some("json-file".to_owned()),
                config: Some(logs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()),
            }),
            ..HostConfig::default()
        }
    }

    fn mounts(&self) -> Vec<Mount> {
        let (passwd, group) = (self.folder.passwd(), self.folder.group());
        let mut all = vec![
            (self.workspace, "/workspace", false),
            (self.folder.shared(), SHARED, false),
            (self.lease, LEASE, true),
            (passwd.as_path(), "/etc/passwd", true),
            (group.as_path(), "/etc/group", true),
        ];
        if self.order.spec.runtime_type == RuntimeType::Gull {
            all.push((self.browser_state, STATE, false));
        }
        let mount = |(source, target, read_only): (&Path, &str, bool)| Mount {
            typ: Some(MountType::BIND),
            source: Some(source.display().to_string()),
            target: Some(target.to_owned()),
            read_only: Some(read_only),
            ..Mount::default()
        };
        all.into_iter().map(mount).collect()
    }

    fn has_way_out(&self) -> bool {
        let network = &self.order.spec.network;
        !network.opens_nothing()
    }

    /// Its entry point and what follows.
    fn command(&self) -> (Vec<String>, Vec<String>) {
        let spec = &self.order.spec;
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let egress = format!("{SHARED}/{EGRESS}");
        let (entrypoint, mut command) = match spec.runtime_type {
            RuntimeType::Ship => {
                let socket = format!("unix:{SHARED}/{SOCKET}");
                let mut command = words(&["ship", "--contained", "--listen", &socket, "--listen", "127.0.0.1:8123"]);
                for (name, value) in &self.order.env() {
                    command.extend(["--env".to_owned(), format!("{name}={value}")]);
                }
                (words(&["cove"]), command)
            }
            RuntimeType::Gull => {
                let numbers = [
                    ("--disk", self.order.cargo_limit_bytes.to_string()),
                    ("--memory", spec.memory.bytes().to_string()),
                    ("--process-memory", spec.memory.bytes().to_string()),
                    ("--cpus", spec.cpus.to_string()),
                    ("--session", self.order.sandbox_id.to_string()),
                    ("--listen", format!("{SHARED}/{SOCKET}")),
                ];
                let fixed =
                    ["cove", "gull", "--workspace", "/workspace", "--state", STATE, "--control-groups", "false"];
                let mut command = words(&fixed);
                command.extend(numbers.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
                let network = &spec.network;
                command.extend(
                    network
                        .allow_hosts
                        .iter()
                        .chain(&network.may_allow)
                        .flat_map(|host| words(&["--allow-host", host])),
                );
                command.extend(network.allow_private.iter().flat_map(|address| words(&["--allow-private", address])));
                (words(&["/bin/sh", "-c", INIT, "init"]), command)
            }
        };
        let lease = format!("{}:{LEASE}/{}", self.options.outlive_seconds, lease::FILE);
        command.extend(["--lease".to_owned(), lease]);
        if self.has_way_out() {
            command.extend(["--egress".to_owned(), egress.clone()]);
        }
        if self.order.inside.is_some() {
            command.extend(["--inside".to_owned(), egress]);
        }
        (entrypoint, command)
    }
}
