//! What containers of a test are made on: a Docker engine, or a namespace of a cluster.

use std::process::Stdio;

use cove_api::SandboxId;
use cove_config::{Config, DriverKind, PullPolicy};

use super::docker;

/// The image that the tests' containers have, unless `COVE_TEST_IMAGE` names another for Pods.
pub(super) const IMAGE: &str = "cove-test";

/// One of them.
#[derive(Debug, Clone)]
pub(super) enum Ground {
    /// A Docker engine by its socket.
    Docker(String),
    /// A namespace of the cluster that `KUBECONFIG` names.
    Pods(String),
}

pub(super) fn named(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

impl Ground {
    /// The engine of `COVE_TEST_DOCKER`, where there is one.
    pub(super) fn docker() -> Option<Self> {
        super::engine().map(Self::Docker)
    }

    /// The namespace of `COVE_TEST_KUBERNETES`, where there is one.
    #[expect(clippy::print_stdout, reason = "says what was not tried")]
    pub(super) fn pods() -> Option<Self> {
        if !cfg!(feature = "kubernetes") {
            println!("NOT TRIED with Pods: the tests were built without the feature `kubernetes`");
            return None;
        }
        let namespace = named("COVE_TEST_KUBERNETES");
        if namespace.is_none() {
            println!("NOT TRIED with Pods: COVE_TEST_KUBERNETES names no namespace; scripts/test-kubernetes does");
        }
        namespace.map(Self::Pods)
    }

    /// Has containers made on it.
    pub(super) fn configure(&self, config: &mut Config) {
        match self {
            Self::Docker(socket) => super::with_containers(config, socket),
            Self::Pods(namespace) => {
                config.driver.kind = DriverKind::K8s;
                config.driver.image_pull_policy = PullPolicy::IfNotPresent;
                let pods = &mut config.driver.k8s;
                pods.namespace = Some(namespace.clone());
                // An account with the rights of the Role and no others.
                pods.kubeconfig = named("COVE_TEST_BAY_KUBECONFIG").map(Into::into);
                pods.ship_image = named("COVE_TEST_IMAGE").unwrap_or_else(|| IMAGE.to_owned());
                pods.gull_image = named("COVE_TEST_GULL_IMAGE").unwrap_or_default();
                pods.storage_class = named("COVE_TEST_STORAGE_CLASS");
                pods.seccomp_profile = named("COVE_TEST_SECCOMP_PROFILE");
                pods.chown_volumes = true;
                pods.cpu_request_percent = 5;
                // A node of a test is busy.
                pods.start_seconds = 90;
                // A start counts in the caller's time.
                config.limits.session_wait_seconds = config.limits.session_wait_seconds.max(120);
            }
        }
    }

    /// For how long containers go on without their Bay.
    pub(super) fn outlive(&self, config: &mut Config, seconds: u64) {
        config.driver.docker.outlive_seconds = seconds;
        config.driver.k8s.outlive_seconds = seconds;
    }

    /// Whether containers go on when Bay ends in good order.
    pub(super) fn keep_running(&self, config: &mut Config, keep: bool) {
        config.driver.docker.keep_running = keep;
        config.driver.k8s.keep_running = keep;
    }

    /// The containers of a sandbox.
    pub(super) async fn of(&self, sandbox: &SandboxId) -> Vec<String> {
        match self {
            Self::Docker(socket) => docker::of(socket, sandbox).await,
            Self::Pods(namespace) => pods(namespace, &format!("cove.sandbox={sandbox}")).await,
        }
    }

    /// Takes a sandbox's containers away behind Bay's back.
    pub(super) async fn kill(&self, sandbox: &SandboxId) {
        match self {
            Self::Docker(socket) => docker::kill(socket, sandbox).await,
            Self::Pods(namespace) => {
                let label = format!("cove.sandbox={sandbox}");
                let words = ["delete", "pod", "-n", namespace, "-l", &label, "--grace-period=0", "--force"];
                kubectl(&words, None).await;
            }
        }
    }

    /// Whether a container has ended by itself.
    pub(super) async fn has_ended(&self, container: &str) -> bool {
        match self {
            Self::Docker(socket) => docker::has_ended(socket, container).await,
            Self::Pods(namespace) => {
                let words = ["get", "pod", "-n", namespace, container, "-o", "jsonpath={.status.phase}"];
                kubectl(&words, None).await == "Succeeded"
            }
        }
    }

    /// What a start leaves that came no further than a container with its labels: no session knows it.
    pub(super) async fn leave_half(&self, like: &str, sandbox: &SandboxId) {
        match self {
            Self::Docker(socket) => docker::leave_half(socket, like, sandbox).await,
            Self::Pods(namespace) => {
                let words = ["get", "pod", "-n", namespace, like, "-o", "json"];
                let pod: serde_json::Value = serde_json::from_str(&kubectl(&words, None).await).unwrap();
                let mut labels = pod["metadata"]["labels"].clone();
                labels["cove.session"] = "sess-000000000000".into();
                labels["cove.container"] = format!("half-{sandbox}").into();
                let half = serde_json::json!({
                    "apiVersion": "v1", "kind": "Pod",
                    "metadata": {"name": format!("cove-half-{sandbox}"), "labels": labels},
                    "spec": {"terminationGracePeriodSeconds": 0, "containers": [{
                        "name": "half", "image": pod["spec"]["containers"][0]["image"], "imagePullPolicy": "IfNotPresent",
                        "command": ["sleep", "600"],
                    }]},
                });
                kubectl(&["apply", "-n", namespace, "-f", "-"], Some(&half.to_string())).await;
            }
        }
    }

    /// Whether a cargo is there.
    pub(super) async fn keeps(&self, cargo: &str) -> bool {
        match self {
            Self::Docker(_) => false,
            Self::Pods(namespace) => {
                let words =
                    ["get", "pvc", "-n", namespace, "-o", "name", "--ignore-not-found", &format!("cove-{cargo}")];
                !kubectl(&words, None).await.is_empty()
            }
        }
    }
}

/// The names of Pods with a label, those that are being deleted among them: whoever ends one waits until it is gone.
async fn pods(namespace: &str, label: &str) -> Vec<String> {
    let words = ["get", "pod", "-n", namespace, "-l", label, "-o", "json"];
    let listed: serde_json::Value = serde_json::from_str(&kubectl(&words, None).await).unwrap();
    let items = listed["items"].as_array().unwrap().iter();
    items.map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// What `kubectl` (or the program that `KUBECTL` names) prints; it must succeed.
#[expect(clippy::disallowed_methods, reason = "ends with its answer, and with the test")]
pub(super) async fn kubectl(words: &[&str], input: Option<&str>) -> String {
    use tokio::io::AsyncWriteExt as _;
    let program = named("KUBECTL").unwrap_or_else(|| "kubectl".to_owned());
    let mut command = tokio::process::Command::new(program);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.unwrap_or_default().as_bytes()).await.unwrap();
    drop(stdin);
    let done = child.wait_with_output().await.unwrap();
    assert!(done.status.success(), "kubectl {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}
