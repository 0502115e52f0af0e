//! What containers of an engine go through: see [`lives`](super::lives).

use std::collections::HashMap;

use bollard::models::{ContainerCreateBody, ContainerStateStatusEnum};
use bollard::query_parameters::{CreateContainerOptions, KillContainerOptions, ListContainersOptions};
use bollard::{API_DEFAULT_VERSION, Docker};
use cove_api::{ErrorCode, SandboxId};
use cove_config::{ProfileConfig, PullPolicy};

use super::ground::{Ground, IMAGE};
use super::{engine, lives, small, with_containers};
use crate::support::harbour_with;

pub(super) async fn connect(socket: &str) -> Docker {
    Docker::connect_with_unix(socket, 60, API_DEFAULT_VERSION).unwrap().negotiate_version().await.unwrap()
}

/// Our containers: their engine's names and labels.
async fn all(socket: &str) -> Vec<(String, HashMap<String, String>)> {
    let filters = HashMap::from([("label".to_owned(), vec!["cove.sandbox".to_owned()])]);
    let options = ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
    let listed = connect(socket).await.list_containers(Some(options)).await.unwrap();
    listed.into_iter().map(|one| (one.id.unwrap(), one.labels.unwrap())).collect()
}

pub(super) async fn of(socket: &str, sandbox: &SandboxId) -> Vec<String> {
    let all = all(socket).await.into_iter();
    all.filter(|(_, labels)| labels["cove.sandbox"] == sandbox.as_str()).map(|(id, _)| id).collect()
}

/// Kills a sandbox's containers behind Bay's back.
pub(super) async fn kill(socket: &str, sandbox: &SandboxId) {
    for id in of(socket, sandbox).await {
        connect(socket).await.kill_container(&id, None::<KillContainerOptions>).await.unwrap();
    }
}

/// Whether a container has ended.
pub(super) async fn has_ended(socket: &str, container: &str) -> bool {
    let seen = connect(socket).await.inspect_container(container, None).await.unwrap();
    seen.state.unwrap().status == Some(ContainerStateStatusEnum::EXITED)
}

/// Made and labelled, never started, and no session knows it.
pub(super) async fn leave_half(socket: &str, like: &str, sandbox: &SandboxId) {
    let mut labels = all(socket).await.into_iter().find(|(id, _)| id == like).unwrap().1;
    labels.insert("cove.session".to_owned(), "sess-000000000000".to_owned());
    labels.insert("cove.container".to_owned(), format!("half-{sandbox}"));
    let options =
        CreateContainerOptions { name: Some(format!("cove-half-{sandbox}")), ..CreateContainerOptions::default() };
    let body = ContainerCreateBody {
        image: Some(IMAGE.to_owned()),
        cmd: Some(vec!["true".to_owned()]),
        labels: Some(labels),
        ..ContainerCreateBody::default()
    };
    connect(socket).await.create_container(Some(options), body).await.unwrap();
}

#[tokio::test]
async fn an_image_that_is_missing_is_named_with_the_next_step() {
    let Some(ground) = Ground::docker() else { return };
    lives::an_image_is_missing(&ground).await;
}

/// Nobody answers where it would come from. The policy that fetches says so, and a sandbox whose image is there does not wait for it.
#[tokio::test]
async fn an_image_that_cannot_be_fetched_holds_up_nobody_else() {
    let Some(socket) = engine() else { return };
    let harbour = harbour_with(|config| {
        with_containers(config, &socket);
        config.driver.image_pull_policy = PullPolicy::IfNotPresent;
        let mut nowhere = small("nowhere");
        nowhere.image = Some("127.0.0.1:9/cove-nowhere:1".to_owned());
        config.profiles = vec![nowhere, small("p")];
    })
    .await;
    let (one, two) = (harbour.create_of("nowhere").await.id, harbour.create_of("p").await.id);
    let (told, done) = tokio::join!(harbour.shell(&one, "true"), harbour.shell(&two, "true"));
    let told = told.unwrap_err();
    assert_eq!((told.code, &told.details["driver_cause"]), (ErrorCode::ShipError, &"image_missing".into()));
    assert!(told.message.contains("could not be fetched") && told.message.contains("docker load"), "{told}");
    assert!(done.unwrap().success);
    harbour.bay.delete_sandbox(&harbour.owner, &two).await.unwrap();
    harbour.close().await;
}

/// A profile names the OCI runtime. One that the engine does not have is named in the refusal.
#[tokio::test]
async fn a_profile_chooses_the_oci_runtime() {
    let Some(socket) = engine() else { return };
    let docker = connect(&socket).await;
    let named = docker.info().await.unwrap().default_runtime.unwrap();
    let harbour = harbour_with(|config| {
        with_containers(config, &socket);
        let of = |id: &str, runtime: &str| ProfileConfig { runtime: Some(runtime.to_owned()), ..small(id) };
        config.profiles = vec![of("there", &named), of("none", "cove-no-such-runtime")];
    })
    .await;
    let id = harbour.create_of("there").await.id;
    assert_eq!(harbour.out(&id, "echo on").await, "on");
    let seen = docker.inspect_container(&of(&socket, &id).await[0], None).await.unwrap();
    assert_eq!(seen.host_config.unwrap().runtime, Some(named));
    let none = harbour.create_of("none").await.id;
    let told = harbour.shell(&none, "true").await.unwrap_err();
    assert_eq!(told.code, ErrorCode::ShipError);
    assert!(told.message.contains("cove-no-such-runtime") && told.message.len() < 3_000, "{told}");
    assert_eq!(of(&socket, &none).await, Vec::<String>::new(), "no half of a container is left");
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}

/// Killed, killed while it works, and frozen: the next call has a new one on the same files.
#[tokio::test]
async fn a_container_that_dies_or_freezes_is_remade() {
    let Some(socket) = super::engine() else { return };
    let socket = socket.as_str();
    let (harbour, id) = lives::it_dies_and_is_remade(&Ground::Docker(socket.to_owned())).await;
    let frozen = of(socket, &id).await;
    connect(socket).await.pause_container(&frozen[0]).await.unwrap();
    let told = harbour.shell(&id, "true").await.unwrap_err();
    assert_eq!(told.code, ErrorCode::ShipError, "{told}");
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    assert!(!of(socket, &id).await.contains(&frozen[0]));
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(of(socket, &id).await, Vec::<String>::new());
    harbour.close().await;
}

#[tokio::test]
async fn the_next_bay_goes_on_with_what_runs() {
    let Some(ground) = Ground::docker() else { return };
    lives::the_next_bay_goes_on(&ground).await;
}

#[tokio::test]
async fn a_container_ends_when_its_bay_is_gone_for_good() {
    let Some(ground) = Ground::docker() else { return };
    lives::it_ends_when_its_bay_is_gone_for_good(&ground).await;
}
