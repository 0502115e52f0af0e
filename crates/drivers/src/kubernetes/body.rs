//! What the cluster is told of a Pod: its walls, its limits, its volumes and its commands.
//!
//! Two containers. The `runtime` is Ship or Gull and the guests' own: it leaves the Pod's network as its first deed. The `line` has
//! that network and nothing of a guest's but the volume, which it weighs.

use cove_config::{AccessMode, K8sDriverConfig, PullPolicy, RuntimeType};
use cove_runtime_api::line::LineKey;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::claims::claim_name;
use crate::{ContainerOrder, DriverError, fingerprint};

/// The guest's user and group, as the images have them.
const USER: u32 = 1000;

/// The folder that both containers see.
const FOLDER: &str = "/run/cove";

/// The whole volume, in the line's container.
const VOLUME: &str = "/volume";

/// The folders of a cargo in its volume; `cove line --prepare` makes the same.
const FILES: &str = "files";
const BROWSER: &str = "browser";

/// Where the browser's state appears inside.
const STATE: &str = "/state";

/// Memory that the browser's processes share; it counts as memory.
const BROWSER_SHM_BYTES: u64 = 256 << 20;

/// Process 1 of a browser's container: it takes away the dead that the browser leaves, and passes a wish to end on.
const INIT: &str = crate::docker::INIT;

/// How long a browser may take to keep its cookies before it is ended; Ship keeps nothing.
const GULL_END_SECONDS: u32 = 6;
const SHIP_END_SECONDS: u32 = 1;

/// The names of the containers.
pub(super) const RUNTIME: &str = "runtime";
const LINE: &str = "line";

/// What is written on Pods and claims.
pub(super) const RECORDS: &str = "cove.records";
pub(super) const CARGO: &str = "cove.cargo";
pub(super) const CONTAINER: &str = "cove.container";
pub(super) const SANDBOX: &str = "cove.sandbox";
pub(super) const SESSION: &str = "cove.session";
pub(super) const ORDER: &str = "cove.order";
pub(super) const INSTANCE: &str = "cove.instance";
/// A name may have any letters, so it is an annotation.
pub(super) const NAME: &str = "cove.name";
/// What the NetworkPolicy of packaging/kubernetes/pods selects.
const GUEST: &str = "cove.guest";

/// Everything that a Pod is made from.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) order: &'a ContainerOrder,
    pub(super) options: &'a K8sDriverConfig,
    pub(super) pull: PullPolicy,
    pub(super) records: &'a str,
    pub(super) instance_id: &'a str,
    pub(super) claim_uid: &'a str,
    pub(super) key: &'a LineKey,
}

/// The name of a Pod.
pub(super) fn pod_name(container_id: &str) -> String {
    format!("cove-{container_id}")
}

/// How many seconds a Pod gets to end.
pub(super) fn end_seconds(runtime: RuntimeType) -> u32 {
    if runtime == RuntimeType::Gull { GULL_END_SECONDS } else { SHIP_END_SECONDS }
}

fn image<'a>(order: &'a ContainerOrder, options: &'a K8sDriverConfig) -> &'a str {
    order.spec.image.as_deref().unwrap_or(match order.spec.runtime_type {
        RuntimeType::Ship => &options.ship_image,
        RuntimeType::Gull => &options.gull_image,
    })
}

/// A number for what was ordered: a Pod that was ordered otherwise is not gone on with.
pub(super) fn order_number(order: &ContainerOrder, options: &K8sDriverConfig) -> String {
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
    let own = K8sDriverConfig {
        keep_running: false,
        start_seconds: 0,
        ship_image: image(order, options).to_owned(),
        gull_image: String::new(),
        ..options.clone()
    };
    format!(
        "{:016x}",
        fingerprint(&format!("{sandbox_id}{session_id}{cargo_id}{cargo_limit_bytes}{disk:?}{spec:?}{own:?}"))
    )
}

impl Plan<'_> {
    /// As the cluster wants it.
    pub(super) fn pod(&self) -> Result<Pod, DriverError> {
        let (order, options) = (self.order, self.options);
        let spec = &order.spec;
        let claim = claim_name(&order.cargo_id);
        let metadata = json!({
            "name": pod_name(&order.container_id),
            "labels": {
                (RECORDS): self.records,
                (CARGO): order.cargo_id,
                (CONTAINER): order.container_id,
                (SANDBOX): order.sandbox_id,
                (SESSION): order.session_id,
                (ORDER): order_number(order, options),
                (INSTANCE): self.instance_id,
                (GUEST): "true",
                "app.kubernetes.io/managed-by": "cove",
            },
            "annotations": {(NAME): spec.name},
            // Whoever deletes the files deletes what works on them.
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": claim, "uid": self.claim_uid,
            }],
        });
        let security = json!({
            "runAsNonRoot": true,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": options.seccomp_profile.as_ref().map(|file| json!({
                "type": "Localhost", "localhostProfile": file,
            })),
        });
        let secrets: Vec<Value> = options.image_pull_secrets.iter().map(|name| json!({"name": name})).collect();
        let mut description = json!({
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": end_seconds(spec.runtime_type),
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "hostname": order.sandbox_id,
            // Nobody in here asks for names: the way out does, and it is Bay's.
            "dnsPolicy": "None",
            "dnsConfig": {"nameservers": ["127.0.0.1"]},
            "runtimeClassName": spec.runtime.as_ref().or(options.runtime_class.as_ref()),
            "nodeSelector": options.node_selector,
            "tolerations": options.tolerations,
            "serviceAccountName": options.service_account,
            "imagePullSecrets": secrets,
            "securityContext": security,
            "containers": [self.line(), self.runtime()],
            "volumes": self.volumes(&claim),
        });
        if options.chown_volumes {
            description["initContainers"] = json!([self.prepare()]);
        }
        if options.access_mode == AccessMode::ReadWriteOnce {
            // Its volume can be on one node at a time.
            description["affinity"] = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
                "labelSelector": {"matchLabels": {(CARGO): order.cargo_id}},
                "topologyKey": "kubernetes.io/hostname",
            }]}});
        }
        let pod = json!({"metadata": metadata, "spec": description});
        serde_json::from_value(pod).map_err(|error| DriverError::other(format!("the Pod's description: {error}")))
    }

    fn volumes(&self, claim: &str) -> Value {
        let spec = &self.order.spec;
        let in_memory = |bytes: u64| json!({"medium": "Memory", "sizeLimit": bytes.to_string()});
        // Files in /tmp are memory: processes keep at least half of it.
        let tmp = self.options.tmp.bytes().min(spec.memory.bytes() / 2);
        let mut volumes = vec![
            json!({"name": "cargo", "persistentVolumeClaim": {"claimName": claim}}),
            json!({"name": "line", "emptyDir": in_memory(1 << 20)}),
            json!({"name": "tmp", "emptyDir": in_memory(tmp)}),
        ];
        if spec.runtime_type == RuntimeType::Gull {
            volumes.push(json!({"name": "shm", "emptyDir": in_memory(BROWSER_SHM_BYTES.min(spec.memory.bytes() / 2))}));
        }
        volumes.into()
    }

    fn pull_policy(&self) -> &'static str {
        match self.pull {
            PullPolicy::Always => "Always",
            PullPolicy::IfNotPresent => "IfNotPresent",
            PullPolicy::Never => "Never",
        }
    }

    fn container(&self, name: &str, command: &[String], resources: &Value, mounts: &Value) -> Value {
        json!({
            "name": name,
            "image": image(self.order, self.options),
            "imagePullPolicy": self.pull_policy(),
            "command": command.iter().map(|word| literal(word)).collect::<Vec<_>>(),
            "workingDir": "/",
            "env": [{"name": "HOME", "value": "/tmp"}],
            "resources": resources,
            "volumeMounts": mounts,
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "privileged": false,
                "capabilities": {"drop": ["ALL"]},
            },
        })
    }

    fn line(&self) -> Value {
        let mut command = words(&["cove", "line", "--folder", FOLDER, "--volume", VOLUME]);
        let more = [
            ("--listen", format!("0.0.0.0:{}", self.options.port)),
            ("--key", self.key.fingerprint()),
            ("--outlive", self.options.outlive_seconds.to_string()),
        ];
        command.extend(more.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
        let mounts = json!([{"name": "line", "mountPath": FOLDER}, {"name": "cargo", "mountPath": VOLUME}]);
        self.container(LINE, &command, &line_resources(), &mounts)
    }

    /// Makes a volume that is root's the guest's own.
    fn prepare(&self) -> Value {
        let mut command = words(&["cove", "line", "--prepare", VOLUME, "--user"]);
        command.push(format!("{USER}:{USER}"));
        let mounts = json!([{"name": "cargo", "mountPath": VOLUME}]);
        let mut container = self.container("prepare", &command, &line_resources(), &mounts);
        container["securityContext"]["runAsUser"] = json!(0);
        container["securityContext"]["runAsNonRoot"] = json!(false);
        container["securityContext"]["capabilities"]["add"] = json!(["CHOWN", "DAC_OVERRIDE"]);
        container
    }

    fn runtime(&self) -> Value {
        let (spec, options) = (&self.order.spec, self.options);
        let percent = |value: f64, percent: u8| value * f64::from(percent) / 100.0;
        let millis = |cpus: f64| format!("{}m", (cpus * 1000.0).ceil().max(1.0) as u64);
        let memory = spec.memory.bytes();
        let resources = json!({
            "limits": {"cpu": millis(spec.cpus), "memory": memory.to_string()},
            "requests": {
                "cpu": millis(percent(spec.cpus, options.cpu_request_percent)),
                "memory": (memory / 100 * u64::from(options.memory_request_percent)).to_string(),
            },
        });
        let mut mounts = vec![
            json!({"name": "cargo", "mountPath": "/workspace", "subPath": FILES}),
            json!({"name": "line", "mountPath": FOLDER}),
            json!({"name": "tmp", "mountPath": "/tmp"}),
        ];
        if spec.runtime_type == RuntimeType::Gull {
            mounts.push(json!({"name": "cargo", "mountPath": STATE, "subPath": BROWSER}));
            mounts.push(json!({"name": "shm", "mountPath": "/dev/shm"}));
        }
        let mut container = self.container(RUNTIME, &self.command(), &resources, &mounts.into());
        container["workingDir"] = json!("/workspace");
        container
    }

    fn command(&self) -> Vec<String> {
        let (spec, options) = (&self.order.spec, self.options);
        let socket = format!("{FOLDER}/runtime.sock");
        let mut command = match spec.runtime_type {
            RuntimeType::Ship => {
                let mut command = words(&["cove", "ship", "--contained", "--pod-processes"]);
                command.push(options.processes.to_string());
                command.extend(["--listen".to_owned(), format!("unix:{socket}")]);
                command.extend(words(&["--listen", "127.0.0.1:8123"]));
                for (name, value) in &self.order.env() {
                    command.extend(["--env".to_owned(), format!("{name}={value}")]);
                }
                command
            }
            RuntimeType::Gull => {
                let fixed =
                    ["--own-network", "--workspace", "/workspace", "--state", STATE, "--control-groups", "false"];
                let mut command = words(&["/bin/sh", "-c", INIT, "init", "cove", "gull"]);
                command.extend(words(&fixed));
                let numbers = [
                    ("--disk", self.order.cargo_limit_bytes.to_string()),
                    ("--memory", spec.memory.bytes().to_string()),
                    ("--process-memory", spec.memory.bytes().to_string()),
                    ("--cpus", spec.cpus.to_string()),
                    ("--session", self.order.sandbox_id.to_string()),
                    ("--listen", socket),
                ];
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
                command
            }
        };
        command.extend(["--lease".to_owned(), format!("{}:{FOLDER}/signs", options.outlive_seconds)]);
        if !spec.network.opens_nothing() {
            command.extend(["--egress".to_owned(), format!("{FOLDER}/egress.sock")]);
        }
        if self.order.inside.is_some() {
            command.extend(["--inside".to_owned(), format!("{FOLDER}/egress.sock")]);
        }
        command
    }
}

/// What the line is given: a few megabytes, and a processor while it weighs.
fn line_resources() -> Value {
    json!({"limits": {"cpu": "1", "memory": "128Mi"}, "requests": {"cpu": "5m", "memory": "16Mi"}})
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A word that is to stay as it is: in a command `$(NAME)` would be a variable.
fn literal(word: &str) -> String {
    word.replace('$', "$$")
}

#[cfg(test)]
mod tests {
    use cove_config::{ContainerSpec, DiskLimit};
    use cove_core::PrefixedId as _;

    use super::*;

    fn order(runtime_type: RuntimeType) -> ContainerOrder {
        let spec = ContainerSpec {
            name: "a name".to_owned(),
            runtime_type,
            image: None,
            runtime: Some("gvisor".to_owned()),
            runtime_port: None,
            cpus: 0.5,
            memory: "512m".parse().unwrap(),
            capabilities: Vec::new(),
            primary_for: Vec::new(),
            env: vec![("A".to_owned(), "$(B)$".to_owned())],
            network: cove_core::NetworkPolicy::default(),
            require_enforced_limits: false,
        };
        ContainerOrder {
            container_id: "ship-1".to_owned(),
            sandbox_id: cove_core::SandboxId::from_random([1; 6]),
            session_id: cove_core::SessionId::from_random([2; 6]),
            cargo_id: cove_core::CargoId::from_random([3; 6]),
            cargo_limit_bytes: 1 << 30,
            disk: DiskLimit::Watched,
            spec,
            own_env: Vec::new(),
            network: cove_network::LiveNetwork::new(&cove_core::NetworkPolicy::default()),
            inside: None,
        }
    }

    #[test]
    fn every_wall_is_in_the_description() {
        let options = K8sDriverConfig { seccomp_profile: Some("cove.json".to_owned()), ..K8sDriverConfig::default() };
        for runtime in [RuntimeType::Ship, RuntimeType::Gull] {
            let (order, key) = (order(runtime), LineKey::new(b"secret"));
            let plan = Plan {
                order: &order,
                options: &options,
                pull: PullPolicy::Never,
                records: "r",
                instance_id: "bay",
                claim_uid: "u",
                key: &key,
            };
            let pod = serde_json::to_value(plan.pod().unwrap()).unwrap();
            let spec = &pod["spec"];
            assert_eq!(spec["automountServiceAccountToken"], false);
            assert_eq!(spec["securityContext"]["seccompProfile"]["localhostProfile"], "cove.json");
            assert_eq!(spec["runtimeClassName"], "gvisor");
            assert_eq!(pod["metadata"]["ownerReferences"][0]["uid"], "u");
            assert!(
                spec["hostNetwork"].is_null() && spec["hostPID"].is_null() && spec["shareProcessNamespace"].is_null()
            );
            let containers = spec["containers"].as_array().unwrap();
            for container in containers {
                let security = &container["securityContext"];
                assert_eq!(security["allowPrivilegeEscalation"], false);
                assert_eq!(security["readOnlyRootFilesystem"], true);
                assert_eq!(security["capabilities"]["drop"][0], "ALL");
                assert!(security["capabilities"]["add"].is_null());
                assert!(container["resources"]["limits"]["memory"].is_string());
            }
            let guest = containers.iter().find(|one| one["name"] == RUNTIME).unwrap();
            let command = guest["command"].to_string();
            assert!(command.contains("--pod-processes") || command.contains("--own-network"), "{command}");
            assert!(runtime == RuntimeType::Gull || command.contains("A=$$(B)$$"), "{command}");
            assert!(!pod.to_string().contains("736563726574"), "the key itself is in the description");
            assert_eq!(guest["resources"]["requests"]["cpu"], "125m");
        }
    }

    #[test]
    fn only_what_changes_the_pod_changes_its_number() {
        let (order, options) = (order(RuntimeType::Ship), K8sDriverConfig::default());
        let number = order_number(&order, &options);
        assert_eq!(order_number(&order, &K8sDriverConfig { keep_running: true, ..options.clone() }), number);
        assert_ne!(order_number(&order, &K8sDriverConfig { processes: 33, ..options }), number);
    }
}
