//! The cluster: its API, and what is asked of it. Errors come back as sentences with a next step.
//!
//! A question has its time, and after that it is a refusal: an API server that is slow must not hold a caller up.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use cove_config::{ConfigError, K8sDriverConfig};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::Value;

use crate::{DriverCause, DriverError};

/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(15);

/// How long a connection may take: a server that is gone does not refuse, it is silent.
const CONNECT: Duration = Duration::from_secs(5);

/// Where in the configuration all this stands.
const PLACE: &str = "driver.k8s";

/// What gives Bay's account its rights.
const ROLE: &str = "give it the Role of packaging/kubernetes/pods";

/// The oldest Kubernetes that this was seen to work with.
const OLDEST: (u32, u32) = (1, 20);

/// The part of a cluster that Bay has to do with: one namespace.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    pods: Api<Pod>,
    claims: Api<PersistentVolumeClaim>,
    url: String,
    pub(super) namespace: String,
}

impl Cluster {
    /// Connects, and sees that Bay may do there what it has to.
    pub(super) async fn connect(options: &K8sDriverConfig) -> Result<Self, ConfigError> {
        let wrong = |reason: String| ConfigError::value(PLACE, &reason);
        let found = match &options.kubeconfig {
            Some(file) => from_file(file).await,
            None => Config::infer().await.map_err(|error| error.to_string()),
        };
        let mut config = found.map_err(|error| {
            wrong(format!(
                "there is no cluster ({error}): set KUBECONFIG or `driver.k8s.kubeconfig`, or run Bay in a Pod with the token of \
                 its account"
            ))
        })?;
        (config.connect_timeout, config.default_retry) = (Some(CONNECT), false);
        let url = config.cluster_url.to_string();
        let namespace = options.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        let client = Client::try_from(config).map_err(|error| wrong(format!("the cluster at {url}: {error}")))?;
        let cluster = Self {
            pods: Api::namespaced(client.clone(), &namespace),
            claims: Api::namespaced(client.clone(), &namespace),
            url,
            namespace,
        };
        match cluster.ask(client.apiserver_version()).await {
            Ok(version) => is_young_enough(&version.major, &version.minor).map_err(|old| {
                let (major, minor) = OLDEST;
                wrong(format!(
                    "the cluster at {} has Kubernetes {old}: {major}.{minor} or newer is needed",
                    cluster.url
                ))
            })?,
            // Some do not tell it to everybody; what else Bay may do is looked at next.
            Err(error) if error.cause == DriverCause::NotPermitted => {}
            Err(error) => return Err(wrong(error.message)),
        }
        let one = ListParams::default().limit(1);
        cluster.ask(cluster.pods.list(&one)).await.map_err(|error| wrong(error.message))?;
        cluster.ask(cluster.claims.list(&one)).await.map_err(|error| wrong(error.message))?;
        Ok(cluster)
    }

    /// To be watched.
    pub(super) fn pods(&self) -> Api<Pod> {
        self.pods.clone()
    }

    pub(super) async fn create_pod(&self, pod: &Pod) -> Result<(), DriverError> {
        self.ask(self.pods.create(&PostParams::default(), pod)).await.map(drop)
    }

    pub(super) async fn pod(&self, name: &str) -> Result<Option<Pod>, DriverError> {
        self.ask(self.pods.get_opt(name)).await
    }

    pub(super) async fn list_pods(&self, labels: &str) -> Result<Vec<Pod>, DriverError> {
        Ok(self.ask(self.pods.list(&ListParams::default().labels(labels))).await?.items)
    }

    /// Changes labels, and nothing of a Pod that is another by now.
    pub(super) async fn label_pod(&self, name: &str, labels: Value) -> Result<(), DriverError> {
        let change = Patch::Merge(serde_json::json!({"metadata": {"labels": labels}}));
        self.ask(self.pods.patch(name, &PatchParams::default(), &change)).await.map(drop)
    }

    /// Asks a Pod to end within so many seconds; fine where it is gone.
    pub(super) async fn end_pod(&self, name: &str, seconds: u32) -> Result<(), DriverError> {
        let params = DeleteParams::default().grace_period(seconds);
        gone_is_fine(self.ask_raw(self.pods.delete(name, &params)).await, self).map(drop)
    }

    pub(super) async fn create_claim(&self, claim: &PersistentVolumeClaim) -> Result<(), DriverError> {
        match self.ask_raw(self.claims.create(&PostParams::default(), claim)).await {
            Ok(Err(kube::Error::Api(status))) if status.code == 409 && status.reason == "AlreadyExists" => Ok(()),
            answered => self.told(answered).map(drop),
        }
    }

    pub(super) async fn claim(&self, name: &str) -> Result<Option<PersistentVolumeClaim>, DriverError> {
        self.ask(self.claims.get_opt(name)).await
    }

    pub(super) async fn list_claims(&self, labels: &str) -> Result<Vec<PersistentVolumeClaim>, DriverError> {
        Ok(self.ask(self.claims.list(&ListParams::default().labels(labels))).await?.items)
    }

    pub(super) async fn label_claim(&self, name: &str, labels: Value) -> Result<(), DriverError> {
        let change = Patch::Merge(serde_json::json!({"metadata": {"labels": labels}}));
        self.ask(self.claims.patch(name, &PatchParams::default(), &change)).await.map(drop)
    }

    /// Removes a claim, and no other that has got its name meanwhile; fine where it is gone.
    pub(super) async fn delete_claim(&self, name: &str, uid: Option<String>) -> Result<(), DriverError> {
        let this = Preconditions { uid, resource_version: None };
        let params = DeleteParams::default().preconditions(this);
        gone_is_fine(self.ask_raw(self.claims.delete(name, &params)).await, self).map(drop)
    }

    async fn ask<T>(&self, question: impl Future<Output = Result<T, kube::Error>>) -> Result<T, DriverError> {
        let answered = self.ask_raw(question).await;
        self.told(answered)
    }

    async fn ask_raw<T>(&self, question: impl Future<Output = Result<T, kube::Error>>) -> Answered<T> {
        tokio::time::timeout(ANSWER, question).await.map_err(|_| Late)
    }

    fn told<T>(&self, answered: Answered<T>) -> Result<T, DriverError> {
        let unreachable = |why: String| DriverError {
            cause: DriverCause::EngineUnreachable,
            message: format!(
                "the Kubernetes API at {} does not answer ({why}): see that it runs; sandboxes keep their files",
                self.url
            ),
        };
        match answered {
            Err(Late) => Err(unreachable(format!("nothing came within {ANSWER:?}"))),
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(kube::Error::Api(status))) => Err(match status.code {
                403 if status.message.contains("exceeded quota") => DriverError {
                    cause: DriverCause::QuotaExceeded,
                    message: format!(
                        "a quota of the namespace {} is used up: stop or delete sandboxes, or raise it ({})",
                        self.namespace, status.message
                    ),
                },
                401 | 403 => DriverError {
                    cause: DriverCause::NotPermitted,
                    message: format!(
                        "Bay's account may not do this in the namespace {}: {ROLE} ({})",
                        self.namespace, status.message
                    ),
                },
                429 | 500.. => unreachable(format!("{}: {}", status.code, status.message)),
                _ => DriverError::other(format!("Kubernetes refused: {}", status.message)),
            }),
            Ok(Err(error)) => Err(unreachable(with_sources(&error))),
        }
    }
}

/// Refuses versions that are too old, and takes those that nobody can read.
fn is_young_enough(major: &str, minor: &str) -> Result<(), String> {
    // Some add a sign of their own: `20+`.
    let number = |text: &str| text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok();
    let version = number(major).zip(number(minor));
    if version.is_some_and(|version| version < OLDEST) { Err(format!("{major}.{minor}")) } else { Ok(()) }
}

async fn from_file(file: &Path) -> Result<Config, String> {
    let read = Kubeconfig::read_from(file).map_err(|error| error.to_string())?;
    Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await.map_err(|error| error.to_string())
}

/// No answer in time.
struct Late;

type Answered<T> = Result<Result<T, kube::Error>, Late>;

fn gone_is_fine<T>(answered: Answered<T>, cluster: &Cluster) -> Result<Option<T>, DriverError> {
    match answered {
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Ok(None),
        answered => cluster.told(answered).map(Some),
    }
}

/// An error with what is behind it: the outer one alone says "error trying to connect".
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let more = inner.to_string();
        if !told.contains(&more) {
            told = format!("{told}: {more}");
        }
        source = inner.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_known_to_be_too_old_are_refused() {
        for (major, minor, is_taken) in [
            ("1", "20", true),
            ("1", "20+", true),
            ("1", "33", true),
            ("2", "0", true),
            ("", "", true),
            ("1", "19+", false),
        ] {
            assert_eq!(is_young_enough(major, minor).is_ok(), is_taken, "{major}.{minor}");
        }
    }
}
