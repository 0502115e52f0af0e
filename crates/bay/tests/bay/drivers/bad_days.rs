//! Bad days of an engine's containers: ports taken, volumes full, memory gone, the engine restarted, two Bays that want one
//! container. Nobody is left over, no file is lost, and every refusal has a code.

use super::docker::of;
use super::ground::Ground;
use super::lives::{self, works_again};
use super::{engine, small, with_containers};
use crate::support::harbour_with;

#[tokio::test]
async fn a_port_that_is_taken_is_taken_in_one_sandbox_only() {
    let Some(ground) = Ground::docker() else { return };
    lives::a_port_is_taken(&ground).await;
}

#[tokio::test]
async fn a_full_volume_and_full_memory_lose_no_file() {
    let Some(ground) = Ground::docker() else { return };
    lives::a_volume_and_memory_are_full(&ground).await;
}

/// The engine is killed and started again, and its containers with it. It runs alone: see `.config/nextest.toml`.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the engine's owner is the script that the test is started by")]
async fn an_engine_that_is_restarted_loses_no_file() {
    let Some(socket) = engine() else { return };
    let Ok(command) = std::env::var("COVE_TEST_DOCKER_RESTART") else {
        println!("NOT TRIED with an engine that restarts: COVE_TEST_DOCKER_RESTART names no command");
        return;
    };
    let harbour = harbour_with(|config| {
        with_containers(config, &socket);
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    let before = of(&socket, &id).await;
    let mut restart = tokio::process::Command::new("sh");
    let restarted = restart.args(["-c", &command]).stdout(std::process::Stdio::null()).status().await.unwrap();
    assert!(restarted.success());
    works_again(&harbour, &id).await;
    let after = of(&socket, &id).await;
    assert!(after.len() == 1 && after != before, "{before:?} {after:?}");
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(of(&socket, &id).await, Vec::<String>::new());
    harbour.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_bays_that_want_one_container_one_gets_it() {
    let Some(ground) = Ground::docker() else { return };
    lives::two_bays_want_one_container(&ground).await;
}
