//! What only containers have: images, and a life without their Bay.

use std::collections::HashMap;
use std::time::Duration;

use bollard::models::{ContainerCreateBody, ContainerStateStatusEnum};
use bollard::query_parameters::{
    CreateContainerOptions, KillContainerOptions, ListContainersOptions, RemoveContainerOptions,
};
use bollard::{API_DEFAULT_VERSION, Docker};
use cove_api::{ErrorCode, SandboxId, SandboxStatus};
use cove_bay::Bay;
use cove_config::{ProfileConfig, PullPolicy};

use super::{IMAGE, engine, small, with_containers};
use crate::support::{Harbour, config, harbour_with, until};

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

#[tokio::test]
async fn an_image_that_is_missing_is_named_with_the_next_step() {
    let Some(socket) = engine() else { return };
    let harbour = harbour_with(|config| {
        with_containers(config, &socket);
        let mut profile = small("p");
        profile.image = Some("cove-nowhere:1".to_owned());
        config.profiles = vec![profile];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    let told = harbour.shell(&id, "true").await.unwrap_err();
    assert_eq!((told.code, &told.details["driver_cause"]), (ErrorCode::ShipError, &"image_missing".into()));
    assert!(told.message.contains("cove-nowhere:1") && told.message.contains("packaging/images/build"), "{told}");
    assert_eq!(harbour.info(&id).await.status, SandboxStatus::Failed);
    harbour.close().await;
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
    let Some(socket) = engine() else { return };
    let harbour = harbour_with(|config| {
        with_containers(config, &socket);
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    kill(&socket, &id).await;
    until("it is remade", || async {
        harbour.shell(&id, "cat kept.txt").await.is_ok_and(|done| done.output == "kept\n")
    })
    .await;
    let working = async {
        let begun = harbour.dir.path().join("data/cargos").join(&harbour.info(&id).await.cargo_id).join("begun");
        until("it runs", || async { begun.exists() }).await;
        kill(&socket, &id).await;
    };
    let (broken, ()) = tokio::join!(harbour.shell(&id, "echo > begun; sleep 60"), working);
    assert_eq!(broken.unwrap_err().code, ErrorCode::ShipError);
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    let frozen = of(&socket, &id).await;
    connect(&socket).await.pause_container(&frozen[0]).await.unwrap();
    let told = harbour.shell(&id, "true").await.unwrap_err();
    assert_eq!(told.code, ErrorCode::ShipError, "{told}");
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    assert!(!of(&socket, &id).await.contains(&frozen[0]));
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(of(&socket, &id).await, Vec::<String>::new());
    harbour.close().await;
}

/// A Bay that is gone without a word leaves its containers; the next one goes on with them, state and all. What it cannot
/// go on with, whichever step of a start it is from, it takes away.
#[tokio::test]
async fn the_next_bay_goes_on_with_what_runs() {
    let Some(socket) = engine() else { return };
    let change = |config: &mut cove_config::Config| {
        with_containers(config, &socket);
        config.profiles = vec![small("p"), small("changed")];
    };
    let harbour = harbour_with(change).await;
    let (kept, changed) = (harbour.create_of("p").await.id, harbour.create_of("changed").await.id);
    harbour.python(&kept, "x = 41").await;
    harbour.out(&changed, "echo file > file").await;
    let (first, second) = (of(&socket, &kept).await, of(&socket, &changed).await);
    assert_eq!((first.len(), second.len()), (1, 1));
    let Harbour { bay, owner, dir } = harbour;
    drop(bay);
    // A start that came no further than this: made and labelled, never started, and no session knows it.
    let docker = connect(&socket).await;
    let labels = all(&socket).await.into_iter().find(|(id, _)| *id == first[0]).unwrap().1;
    let half = |sandbox: &str, container: &str| {
        let mut labels = labels.clone();
        labels.insert("cove.session".to_owned(), "sess-000000000000".to_owned());
        labels.insert("cove.container".to_owned(), container.to_owned());
        labels.insert("cove.sandbox".to_owned(), sandbox.to_owned());
        labels
    };
    let options =
        CreateContainerOptions { name: Some(format!("cove-half-{kept}")), ..CreateContainerOptions::default() };
    let body = ContainerCreateBody {
        image: Some(IMAGE.to_owned()),
        cmd: Some(vec!["true".to_owned()]),
        labels: Some(half(kept.as_str(), &format!("half-{kept}"))),
        ..ContainerCreateBody::default()
    };
    let orphan = docker.create_container(Some(options), body).await.unwrap().id;
    let mut next = config(dir.path());
    change(&mut next);
    next.profiles[1].resources = None;
    next.driver.docker.keep_running = true;
    let bay = Bay::open(next.clone()).await.unwrap();
    let harbour = Harbour { bay, owner, dir };
    assert_eq!(harbour.info(&kept).await.status, SandboxStatus::Ready);
    assert!(harbour.python(&kept, "x + 1").await.output.contains("42"), "the state is there");
    assert_eq!(of(&socket, &kept).await, first, "the same container, and no half of one");
    assert_ne!(orphan, first[0]);
    // Its profile is another now: it is made anew, on the same files.
    assert_eq!(of(&socket, &changed).await, Vec::<String>::new());
    assert_eq!(harbour.out(&changed, "cat file").await, "file");
    // A Bay that ends in good order can leave them as well.
    let Harbour { bay, owner, dir } = harbour;
    bay.close(Duration::from_secs(5)).await;
    drop(bay);
    next.driver.docker.keep_running = false;
    let harbour = Harbour { bay: Bay::open(next).await.unwrap(), owner, dir };
    assert!(harbour.python(&kept, "x + 2").await.output.contains("43"), "the state is there");
    for id in [&kept, &changed] {
        harbour.bay.delete_sandbox(&harbour.owner, id).await.unwrap();
        assert_eq!(of(&socket, id).await, Vec::<String>::new());
    }
    let options = RemoveContainerOptions { force: true, ..RemoveContainerOptions::default() };
    assert!(docker.remove_container(&orphan, Some(options)).await.is_err(), "the half of one is still there");
    harbour.close().await;
}

/// No Bay comes back: the container ends by itself, and its files stay for whoever comes later.
#[tokio::test]
async fn a_container_ends_when_its_bay_is_gone_for_good() {
    let Some(socket) = engine() else { return };
    let change = |config: &mut cove_config::Config| {
        with_containers(config, &socket);
        config.driver.docker.outlive_seconds = 3;
        config.profiles = vec![small("p")];
    };
    let harbour = harbour_with(change).await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt; sleep 300 > /dev/null 2>&1 &").await;
    let docker = connect(&socket).await;
    let container = of(&socket, &id).await.remove(0);
    let status = async || docker.inspect_container(&container, None).await.unwrap().state.unwrap().status;
    // Longer than it goes on without signs of life: they come.
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(status().await, Some(ContainerStateStatusEnum::RUNNING));
    let Harbour { bay, owner, dir } = harbour;
    drop(bay);
    until("it ends by itself", || async { status().await == Some(ContainerStateStatusEnum::EXITED) }).await;
    let mut next = config(dir.path());
    change(&mut next);
    let harbour = Harbour { bay: Bay::open(next).await.unwrap(), owner, dir };
    assert_eq!(of(&socket, &id).await, Vec::<String>::new(), "what is left of it is taken away");
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}
