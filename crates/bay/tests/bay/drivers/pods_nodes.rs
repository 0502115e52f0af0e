//! Bad days of a cluster's nodes: one is drained, its kernel kills a container, a container freezes.

use bollard::query_parameters::{KillContainerOptions, ListContainersOptions};
use cove_api::ErrorCode;
use serde_json::json;

use super::ground::{Ground, kubectl, named};
use super::{docker, lives, small};
use crate::support::{harbour_with, until};

/// The container `runtime` of a Pod at the node's engine; none where `DOCKER_HOST` does not name it.
#[expect(clippy::print_stdout, reason = "says what was not tried")]
async fn at_the_node(pod: &str) -> Option<(bollard::Docker, String)> {
    let Some(socket) = named("DOCKER_HOST") else {
        println!(
            "NOT TRIED with containers that are killed or frozen at their node: DOCKER_HOST does not name its engine"
        );
        return None;
    };
    let engine = docker::connect(&socket).await;
    let labels = vec![format!("io.kubernetes.pod.name={pod}"), "io.kubernetes.container.name=runtime".to_owned()];
    let filters = [("label".to_owned(), labels)].into();
    let options = ListContainersOptions { filters: Some(filters), ..ListContainersOptions::default() };
    let id = engine.list_containers(Some(options)).await.unwrap().remove(0).id.unwrap();
    Some((engine, id))
}

/// A node that is drained asks its Pods to go, within their budgets. The next call has a new one on the same files.
#[tokio::test]
async fn a_pod_that_is_evicted_is_remade() {
    let Some(ground) = Ground::pods() else { return };
    let Ground::Pods(namespace) = &ground else { return };
    let harbour = harbour_with(|config| {
        ground.configure(config);
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    let pod = ground.of(&id).await.remove(0);
    let known = kubectl(&["api-versions"], None).await;
    let version = if known.lines().any(|line| line == "policy/v1") { "policy/v1" } else { "policy/v1beta1" };
    let eviction = json!({
        "apiVersion": version, "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace},
    });
    let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}/eviction");
    kubectl(&["create", "--raw", &path, "-f", "-"], Some(&eviction.to_string())).await;
    // Until then it still answers.
    until("it is gone", async || !ground.of(&id).await.contains(&pod)).await;
    lives::works_again(&harbour, &id).await;
    let now = ground.of(&id).await;
    assert!(!now.contains(&pod) && now.len() == 1, "{now:?}");
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(ground.of(&id).await, Vec::<String>::new());
    harbour.close().await;
}

/// As a kernel does that is out of memory and finds nothing better; and a container that only stands still.
#[tokio::test]
async fn a_pod_whose_runtime_is_killed_or_frozen_is_remade() {
    let Some(ground) = Ground::pods() else { return };
    let harbour = harbour_with(|config| {
        ground.configure(config);
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    let killed = ground.of(&id).await.remove(0);
    if let Some((engine, container)) = at_the_node(&killed).await {
        engine.kill_container(&container, None::<KillContainerOptions>).await.unwrap();
        lives::works_again(&harbour, &id).await;
        let frozen = ground.of(&id).await.remove(0);
        assert_ne!(frozen, killed);
        let (_, container) = at_the_node(&frozen).await.unwrap();
        engine.pause_container(&container).await.unwrap();
        let told = harbour.shell(&id, "true").await.unwrap_err();
        assert_eq!(told.code, ErrorCode::ShipError, "{told}");
        lives::works_again(&harbour, &id).await;
        assert!(!ground.of(&id).await.contains(&frozen));
    }
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(ground.of(&id).await, Vec::<String>::new());
    harbour.close().await;
}
