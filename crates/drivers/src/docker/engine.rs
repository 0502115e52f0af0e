//! The engine: one socket, and what is asked of it. Errors come back as sentences with a next step.

use std::collections::HashMap;
use std::time::Duration;

use bollard::errors::Error;
use bollard::models::{ContainerCreateBody, ContainerState, ContainerSummary};
use bollard::query_parameters::{
    CreateContainerOptions, CreateImageOptions, ListContainersOptions, LogsOptions, RemoveContainerOptions,
    StartContainerOptions, StopContainerOptions, WaitContainerOptions,
};
use bollard::{API_DEFAULT_VERSION, Docker};
use cove_config::{ConfigError, DockerDriverConfig, PullPolicy};
use cove_core::beginning_bytes;
use futures_util::StreamExt as _;

use super::fetch::Fetch;
use crate::{DriverCause, DriverError};

/// Where an engine listens when nobody says.
const USUAL_SOCKET: &str = "unix:///var/run/docker.sock";

/// The oldest interface: Docker 20.10's.
const OLDEST: (usize, usize) = (1, 41);

/// How long the engine may take for one answer; a loaded one needs seconds to start a container.
const ANSWER_SECONDS: u64 = 60;

/// How long an image may take to come.
const PULL_LIMIT: Duration = Duration::from_secs(900);

/// How long one that is being removed by somebody else may take to go.
const GONE_LIMIT: Duration = Duration::from_secs(20);

/// After a failure to reach the engine.
const REST: Duration = Duration::from_millis(500);

/// What is kept of a container's last words, and of an engine's refusal.
const MAX_WORDS: usize = 2048;

/// A place in the configuration.
const PLACE: &str = "driver.docker.socket";

/// The engine.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    docker: Docker,
    socket: String,
    /// Whether it is Podman, which reads a filter of system calls from a file and not from the order.
    is_podman: bool,
}

impl Engine {
    /// Connects, and agrees on a version.
    pub(super) async fn connect(config: &DockerDriverConfig) -> Result<Self, ConfigError> {
        let from_env = || std::env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
        let socket = config.socket.clone().or_else(from_env).unwrap_or_else(|| USUAL_SOCKET.to_owned());
        if !socket.starts_with("unix://") {
            let reason = format!("{socket:?} is no socket on this machine: write unix:///PATH");
            return Err(ConfigError::value(PLACE, &reason));
        }
        let failed = |error: &Error| {
            let reason = format!(
                "the Docker engine at {socket} does not answer ({error}): start it, name its socket, or use the driver \
                 `local`"
            );
            ConfigError::value(PLACE, &reason)
        };
        let docker =
            Docker::connect_with_unix(&socket, ANSWER_SECONDS, API_DEFAULT_VERSION).map_err(|error| failed(&error))?;
        let docker = docker.negotiate_version().await.map_err(|error| failed(&error))?;
        let version = docker.client_version();
        if (version.major_version, version.minor_version) < OLDEST {
            let reason = format!(
                "the Docker engine at {socket} speaks version {}.{} of its interface; Docker 20.10 or newer is needed \
                 ({}.{})",
                version.major_version, version.minor_version, OLDEST.0, OLDEST.1
            );
            return Err(ConfigError::value(PLACE, &reason));
        }
        let told = docker.version().await.map_err(|error| failed(&error))?;
        let is_podman = told.components.into_iter().flatten().any(|part| part.name.starts_with("Podman"));
        Ok(Self { docker, socket, is_podman })
    }

    /// Refuses an OCI runtime where the engine would take its own without a word.
    pub(super) fn check_runtime(&self, runtime: Option<&str>) -> Result<(), DriverError> {
        match runtime.filter(|_| self.is_podman) {
            None => Ok(()),
            Some(runtime) => Err(DriverError::other(format!(
                "Podman has one runtime for all containers, and cannot be asked for {runtime:?}: leave `runtime` out, and \
                 start its service with `podman --runtime {runtime} system service`"
            ))),
        }
    }

    /// Whether it reads a filter of system calls from a file.
    pub(super) fn reads_filters_from_files(&self) -> bool {
        self.is_podman
    }

    /// Which limits this engine cannot enforce.
    pub(super) async fn weaknesses(&self) -> Result<Vec<String>, DriverError> {
        let info = self.docker.info().await.map_err(|error| self.told(error))?;
        let counts = [("memory", info.memory_limit), ("cpus", info.cpu_cfs_quota), ("processes", info.pids_limit)];
        let lacks = counts.into_iter().filter(|(_, counted)| *counted == Some(false));
        Ok(lacks.map(|(what, _)| format!("{what}: the container engine does not enforce a limit")).collect())
    }

    /// Whether it has an image of this name.
    pub(super) async fn has_image(&self, image: &str) -> Result<bool, DriverError> {
        match self.docker.inspect_image(image).await {
            Ok(_) => Ok(true),
            Err(error) if is_missing(&error) => Ok(false),
            Err(error) => Err(self.told(error)),
        }
    }

    /// Fetches an image, where the policy allows it.
    pub(super) async fn fetch_image(&self, image: &str, policy: PullPolicy) -> Result<(), DriverError> {
        let missing = |why: String| DriverError {
            cause: DriverCause::ImageMissing,
            message: format!(
                "the engine has no image {image:?}{why}: build it with packaging/images/build, load it with \
                 `docker load`, or name another in the profile's `image`"
            ),
        };
        if policy == PullPolicy::Never {
            return Err(missing(" and image_pull_policy is `never`".to_owned()));
        }
        let (name, tag) = split_tag(image);
        let options = CreateImageOptions {
            from_image: Some(name.to_owned()),
            tag: Some(tag.to_owned()),
            ..CreateImageOptions::default()
        };
        tracing::info!(image, "an image is being fetched");
        let fetching = async {
            let mut progress = self.docker.create_image(Some(options), None, None);
            let mut fetch = Fetch::begin();
            while let Some(step) = progress.next().await {
                if let Some(so_far) = fetch.step(step?) {
                    tracing::info!(image, so_far, "an image is being fetched");
                }
            }
            Ok::<_, Error>(())
        };
        match tokio::time::timeout(PULL_LIMIT, fetching).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => match self.told(error) {
                gone if gone.cause == DriverCause::EngineUnreachable => Err(gone),
                refused => Err(missing(format!(" and it could not be fetched ({refused})"))),
            },
            Err(_) => Err(missing(format!(" and fetching it took longer than {PULL_LIMIT:?}"))),
        }
    }

    /// Makes a container and starts it.
    pub(super) async fn run(&self, name: &str, body: ContainerCreateBody) -> Result<(), DriverError> {
        let options = CreateContainerOptions { name: Some(name.to_owned()), ..CreateContainerOptions::default() };
        self.docker.create_container(Some(options), body).await.map_err(|error| self.told(error))?;
        self.docker.start_container(name, None::<StartContainerOptions>).await.map_err(|error| self.told(error))
    }

    /// All containers with a label.
    pub(super) async fn list(&self, label: String) -> Result<Vec<ContainerSummary>, DriverError> {
        let filters = HashMap::from([("label".to_owned(), vec![label])]);
        let options = ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
        self.docker.list_containers(Some(options)).await.map_err(|error| self.told(error))
    }

    /// How a container is; `None`: there is none of that name.
    pub(super) async fn state(&self, name: &str) -> Result<Option<ContainerState>, DriverError> {
        match self.docker.inspect_container(name, None).await {
            Ok(found) => Ok(found.state),
            Err(error) if is_missing(&error) => Ok(None),
            // Podman's word for one that has just ended is none of Docker's.
            Err(Error::JsonDataError { .. }) if self.is_podman => {
                Ok(Some(ContainerState { running: Some(false), ..ContainerState::default() }))
            }
            Err(error) => Err(self.told(error)),
        }
    }

    /// Waits until a container has ended. An engine that does not answer says nothing about it.
    pub(super) async fn ended(&self, name: &str) {
        loop {
            let waiting = self.docker.wait_container(name, None::<WaitContainerOptions>);
            let told = std::pin::pin!(waiting).next().await;
            if matches!(told, Some(Ok(_) | Err(Error::DockerContainerWaitError { .. }))) {
                return;
            }
            match self.state(name).await {
                Ok(Some(state)) if state.running == Some(true) => {}
                Ok(_) => return,
                Err(_) => {}
            }
            tokio::time::sleep(REST).await;
        }
    }

    /// What a container wrote last.
    pub(super) async fn last_words(&self, name: &str) -> String {
        let options = LogsOptions { stdout: true, stderr: true, tail: "20".to_owned(), ..LogsOptions::default() };
        let mut lines = std::pin::pin!(self.docker.logs(name, Some(options)));
        let mut words = String::new();
        while let Some(Ok(line)) = lines.next().await {
            words.push_str(&line.to_string());
            if words.len() > MAX_WORDS {
                break;
            }
        }
        words.trim().to_owned()
    }

    /// Asks a container to end, and waits so long for it.
    pub(super) async fn ask_to_end(&self, name: &str, seconds: i32) {
        let options = StopContainerOptions { t: Some(seconds), ..StopContainerOptions::default() };
        let _ = self.docker.stop_container(name, Some(options)).await;
    }

    /// Ends a container and takes it away; fine where there is none.
    pub(super) async fn remove(&self, name: &str) -> Result<(), DriverError> {
        let options = RemoveContainerOptions { force: true, v: true, link: false };
        let removed = match self.docker.remove_container(name, Some(options)).await {
            Ok(()) => return Ok(()),
            Err(error) if is_missing(&error) => return Ok(()),
            Err(error) => error,
        };
        // Somebody else is at it already.
        let is_under_way = matches!(removed, Error::DockerResponseServerError { status_code: 409, .. });
        let gone = async {
            while !matches!(self.state(name).await, Ok(None)) {
                tokio::time::sleep(REST).await;
            }
        };
        if is_under_way && tokio::time::timeout(GONE_LIMIT, gone).await.is_ok() {
            return Ok(());
        }
        Err(self.told(removed))
    }

    fn told(&self, error: Error) -> DriverError {
        match error {
            Error::DockerResponseServerError { message, .. } | Error::DockerStreamError { error: message } => {
                // Some repeat all of what they were asked.
                let (beginning, is_cut) = beginning_bytes(&message, MAX_WORDS);
                let more = if is_cut { " …" } else { "" };
                DriverError::other(format!("the container engine refused: {beginning}{more}"))
            }
            error => DriverError {
                cause: DriverCause::EngineUnreachable,
                message: format!(
                    "the container engine at {} does not answer ({error}): start it again; sandboxes keep their files",
                    self.socket
                ),
            },
        }
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code: 404, .. })
}

/// `name:tag`, with `latest` for none; a port in the registry's address is no tag.
fn split_tag(image: &str) -> (&str, &str) {
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') && !name.ends_with("@sha256") => (name, tag),
        _ if image.contains('@') => (image, ""),
        _ => (image, "latest"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_what_follows_the_last_colon_of_the_name() {
        assert_eq!(split_tag("cove-ship"), ("cove-ship", "latest"));
        assert_eq!(split_tag("host:5000/cove-ship"), ("host:5000/cove-ship", "latest"));
        assert_eq!(split_tag("host:5000/cove-ship:1.2"), ("host:5000/cove-ship", "1.2"));
        assert_eq!(split_tag("cove@sha256:abc"), ("cove@sha256:abc", ""));
    }
}
