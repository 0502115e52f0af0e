//! `driver`: what containers are made of, and what each driver needs to know.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::MemorySize;

/// What containers are made of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriverConfig {
    /// Which driver.
    #[serde(rename = "type")]
    pub kind: DriverKind,
    /// When images are fetched; for drivers that have images.
    pub image_pull_policy: PullPolicy,
    /// The local driver.
    pub local: LocalDriverConfig,
    /// The Docker driver.
    pub docker: DockerDriverConfig,
    /// The Kubernetes driver.
    pub k8s: K8sDriverConfig,
}

/// Which driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DriverKind {
    /// Processes behind walls on this machine.
    #[default]
    Local,
    /// Docker.
    Docker,
    /// A Pod for each runtime; in builds with the feature `kubernetes` only.
    K8s,
}

/// When an image is fetched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullPolicy {
    /// Before each start of a container.
    Always,
    /// When the engine has none of that name.
    #[default]
    IfNotPresent,
    /// Never: it has to be there.
    Never,
}

/// The Docker driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DockerDriverConfig {
    /// The engine's socket, as `unix:///var/run/docker.sock`; none: `DOCKER_HOST`, then that one. The engine has to be on
    /// this machine.
    pub socket: Option<String>,
    /// The image of Ship, where a profile names none.
    pub ship_image: String,
    /// The image of Gull, where a profile names none.
    pub gull_image: String,
    /// The OCI runtime, such as `runsc`, where a profile names none; none: the engine's own.
    pub runtime: Option<String>,
    /// Processes and threads of one container, Ship's own among them.
    pub processes: u64,
    /// Size of `/tmp`; counts as memory.
    pub tmp: MemorySize,
    /// Leave containers running when Bay ends in good order; the next one goes on with them.
    pub keep_running: bool,
    /// Seconds that containers go on without any Bay of theirs; then they end by themselves.
    pub outlive_seconds: u64,
}

impl Default for DockerDriverConfig {
    fn default() -> Self {
        Self {
            socket: None,
            ship_image: "cove-ship".to_owned(),
            gull_image: "cove-gull".to_owned(),
            runtime: None,
            processes: 512,
            tmp: MemorySize::mebibytes(256),
            keep_running: false,
            outlive_seconds: 600,
        }
    }
}

/// The Kubernetes driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct K8sDriverConfig {
    /// The file that says which cluster it is; none: `KUBECONFIG`, then the account of the Pod that Bay runs in.
    pub kubeconfig: Option<PathBuf>,
    /// The namespace of Pods and claims; none: that of `KUBECONFIG`'s context, or of Bay's own Pod.
    pub namespace: Option<String>,
    /// The image of Ship, where a profile names none.
    pub ship_image: String,
    /// The image of Gull, where a profile names none.
    pub gull_image: String,
    /// Secrets with the registry's password.
    pub image_pull_secrets: Vec<String>,
    /// The storage class of cargos; none: the cluster's usual one.
    pub storage_class: Option<String>,
    /// Who may use a cargo's volume at the same time.
    pub access_mode: AccessMode,
    /// Have a first container, as root with the rights to change owners and nothing else, make new volumes the guest's own:
    /// where the storage does not heed `fsGroup` (`hostPath`, NFS).
    pub chown_volumes: bool,
    /// The RuntimeClass, such as one for gVisor, where a profile names no `runtime`; none: the cluster's usual one.
    pub runtime_class: Option<String>,
    /// Labels that a node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints that Pods tolerate, as Kubernetes writes them.
    pub tolerations: Vec<Value>,
    /// The service account of Pods; they get no token of it. None: the namespace's usual one.
    pub service_account: Option<String>,
    /// A seccomp profile among the kubelet's that lets a process make namespaces; none: whatever the cluster does without one.
    pub seccomp_profile: Option<String>,
    /// How much of its processors a Pod reserves.
    pub cpu_request_percent: u8,
    /// How much of its memory a Pod reserves.
    pub memory_request_percent: u8,
    /// Processes and threads of guests in one Pod.
    pub processes: u64,
    /// Size of `/tmp`; counts as memory.
    pub tmp: MemorySize,
    /// The port of Pods that Bay connects to.
    pub port: u16,
    /// Leave Pods running when Bay ends in good order; the next one goes on with them.
    pub keep_running: bool,
    /// Seconds that Pods go on without any Bay of theirs; then they end by themselves.
    pub outlive_seconds: u64,
    /// Seconds that a Pod may take to start, its image and its volume included; less than `limits.session_wait_seconds`.
    pub start_seconds: u64,
}

/// Who may use a cargo's volume at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessMode {
    /// Pods of one node: a sandbox's Pods are put on the same one.
    #[default]
    ReadWriteOnce,
    /// Pods of any node.
    ReadWriteMany,
}

impl Default for K8sDriverConfig {
    fn default() -> Self {
        Self {
            kubeconfig: None,
            namespace: None,
            ship_image: "cove-ship".to_owned(),
            gull_image: "cove-gull".to_owned(),
            image_pull_secrets: Vec::new(),
            storage_class: None,
            access_mode: AccessMode::ReadWriteOnce,
            chown_volumes: false,
            runtime_class: None,
            node_selector: BTreeMap::new(),
            tolerations: Vec::new(),
            service_account: None,
            seccomp_profile: None,
            cpu_request_percent: 25,
            memory_request_percent: 100,
            processes: 512,
            tmp: MemorySize::mebibytes(256),
            port: 8127,
            keep_running: false,
            outlive_seconds: 600,
            start_seconds: 50,
        }
    }
}

/// The local driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LocalDriverConfig {
    /// The program that is Ship (`PROGRAM ship`) and Gull (`PROGRAM gull`); none: this very program.
    pub program: Option<PathBuf>,
    /// A Python environment's folder (one with `bin/python3`), readable inside as `/opt/python` and first in the path;
    /// none: the system's Python.
    pub python: Option<PathBuf>,
    /// Modules that Python imports ahead. None: Python starts with its first use.
    pub preload: Option<Vec<String>>,
    /// Further folders that can be read inside.
    pub mounts: Vec<MountConfig>,
    /// Processes and threads of guests in one sandbox.
    pub processes: u64,
    /// Size of `/tmp`; counts as memory.
    pub tmp: MemorySize,
    /// Open files of one process.
    pub open_files: u64,
    /// Use control groups where available; `false` leaves resource limits and the memory watch.
    pub control_groups: bool,
    /// The browser's binary; none: `COVE_BROWSER`, then the usual places.
    pub browser: Option<PathBuf>,
    /// agent-browser's binary; none: `COVE_AGENT_BROWSER`, then the usual places.
    pub agent_browser: Option<PathBuf>,
}

impl Default for LocalDriverConfig {
    fn default() -> Self {
        Self {
            program: None,
            python: None,
            preload: None,
            mounts: Vec::new(),
            processes: 256,
            tmp: MemorySize::mebibytes(256),
            open_files: 4096,
            control_groups: true,
            browser: None,
            agent_browser: None,
        }
    }
}

/// A folder that can be read inside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MountConfig {
    /// Where it is on the host.
    pub host: PathBuf,
    /// Where it appears inside.
    pub inside: PathBuf,
}
