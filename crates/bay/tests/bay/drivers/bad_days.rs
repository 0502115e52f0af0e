//! Bad days of containers: ports taken, volumes full, memory gone, the engine restarted, two Bays that want one container.
//! Nobody is left over, no file is lost, and every refusal has a code.

use std::net::TcpListener;

use cove_api::{ErrorCode, Moment, SandboxId};
use cove_bay::{Bay, BayResult};
use cove_config::{Config, DiskLimit, ProfileConfig, Secret};
use cove_core::NetworkPolicy;
use cove_store::{Bounds, Store};
use cove_testkit::Postgres;

use super::docker::of;
use super::{engine, small, with_containers};
use crate::support::{Harbour, config, harbour_with, python, until};

/// Works again, on the same files; until then every answer is a refusal that may be tried again.
async fn works_again(harbour: &Harbour, id: &SandboxId) {
    until("it works again", || async {
        match harbour.shell(id, "cat kept.txt").await {
            Ok(done) => done.output == "kept\n",
            Err(error) => {
                assert!(matches!(error.code, ErrorCode::ShipError | ErrorCode::SessionNotReady), "{error}");
                false
            }
        }
    })
    .await;
}

/// Ports inside are each sandbox's own: those of this machine and of neighbours may be taken.
#[tokio::test]
async fn a_port_that_is_taken_is_taken_in_one_sandbox_only() {
    let Some(socket) = engine() else { return };
    // Whoever has them, they are taken here.
    let _taken = ["127.0.0.1:8123", "127.0.0.1:3128", "127.0.0.1:8000"].map(TcpListener::bind);
    let harbour = harbour_with(|config| {
        with_containers(config, &socket);
        let open = NetworkPolicy { allow_hosts: vec!["example.org".to_owned()], ..NetworkPolicy::default() };
        config.profiles = vec![ProfileConfig { network: Some(open), ..small("open") }];
    })
    .await;
    let listen = "import socket; kept = socket.create_server(('127.0.0.1', 8000)); kept.getsockname()[1]";
    let first = harbour.create_of("open").await.id;
    for id in [&first, &harbour.create_of("open").await.id] {
        let done = harbour.python(id, listen).await;
        assert!(done.success && done.output.contains("8000"), "{done:?}");
        for port in [8000, 8123, 3128] {
            let again = format!("python3 -c \"import socket; socket.create_server(('127.0.0.1', {port}))\"");
            let refused = harbour.shell(id, &again).await.unwrap();
            assert!(refused.error.as_ref().is_some_and(|said| said.contains("in use")), "{port}: {refused:?}");
        }
        assert_eq!(harbour.out(id, "echo answers").await, "answers");
    }
    harbour.close().await;
}

/// More than the cargo may hold, and more than the memory holds: whoever did it is told, and goes on with the same files.
#[tokio::test]
async fn a_full_volume_and_full_memory_lose_no_file() {
    let Some(socket) = engine() else { return };
    let harbour = harbour_with(|config| {
        with_containers(config, &socket);
        config.cargo.default_size_limit_mb = 16;
        config.profiles = vec![small("p"), ProfileConfig { disk: DiskLimit::Hard, ..small("hard") }];
    })
    .await;
    let neighbour = harbour.create_of("p").await.id;
    harbour.python(&neighbour, "x = 5").await;

    // Watched: the container ends, or the command does.
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    let fill = "for i in $(seq 100000); do head -c 100000 /dev/zero > f$i || exit 9; done";
    match harbour.shell(&id, fill).await {
        Ok(done) => assert!(!done.success, "{done:?}"),
        Err(error) => assert_eq!(error.code, ErrorCode::ShipError, "{error}"),
    }
    works_again(&harbour, &id).await;
    harbour.out(&id, "rm -f f*; echo room > room").await;

    // Files in memory count as memory; then what is left of it goes as well.
    let fill = "head -c 200M /dev/zero > /tmp/a; head -c 200M /dev/zero > /dev/shm/a; \
                python3 -c 'b = b\"x\" * (150 << 20); print(len(b))'";
    match harbour.shell(&id, fill).await {
        Ok(done) => assert!(!done.success, "{done:?}"),
        Err(error) => assert_eq!(error.code, ErrorCode::ShipError, "{error}"),
    }
    harbour.bay.stop_sandbox(&harbour.owner, &id).await.unwrap();
    works_again(&harbour, &id).await;
    assert_eq!(harbour.out(&id, "ls /tmp /dev/shm | grep -c '^a$' || true").await, "0", "a new one begins empty");

    // A file system of its own: the kernel says that it is full, and nothing ends.
    if rustix::process::geteuid().is_root() {
        let hard = harbour.create_of("hard").await.id;
        harbour.python(&hard, "y = 6").await;
        let full = harbour.shell(&hard, "echo kept > kept.txt; head -c 40M /dev/zero > big").await.unwrap();
        assert!(full.error.as_ref().is_some_and(|said| said.contains("No space left")), "{full:?}");
        assert!(harbour.python(&hard, "y + 1").await.output.contains('7'), "the session goes on");
        assert_eq!(harbour.out(&hard, "rm big; cat kept.txt").await, "kept");
        harbour.bay.delete_sandbox(&harbour.owner, &hard).await.unwrap();
    }
    assert!(harbour.python(&neighbour, "x + 1").await.output.contains('6'), "a neighbour notices nothing");
    for id in [&id, &neighbour] {
        harbour.bay.delete_sandbox(&harbour.owner, id).await.unwrap();
        assert_eq!(of(&socket, id).await, Vec::<String>::new());
    }
    harbour.close().await;
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

/// One Bay is dead, and two others of the same records come at once: one of them goes on with its container, and the other says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_bays_that_want_one_container_one_gets_it() {
    let Some(socket) = engine() else { return };
    let server = Postgres::start();
    let change = |config: &mut Config| {
        with_containers(config, &socket);
        config.database.url = Some(Secret::new(server.url()));
        config.profiles = vec![small("p")];
    };
    let Harbour { bay, owner, dir } = harbour_with(change).await;
    let wish = cove_api::CreateSandbox { profile: "p".to_owned(), ..cove_api::CreateSandbox::default() };
    let id = bay.create_sandbox(&owner, wish, None).await.unwrap().id;
    bay.exec_python(&owner, &id, python("x = 41")).await.unwrap();
    let (container, gone) = (of(&socket, &id).await, bay.instance_id().to_owned());
    drop(bay);
    // As if it had been silent for long.
    let store = Store::connect(&server.url(), Bounds::mebibytes(1, 1, 1)).await.unwrap();
    store.register_instance(&gone, None, Moment::from_micros(1)).await.unwrap();
    let open = |name: &str| {
        let mut next = config(dir.path());
        change(&mut next);
        next.data_dir = Some(dir.path().join(name));
        next.cargo.root_path = Some(dir.path().join("data/cargos"));
        tokio::spawn(Bay::open(next))
    };
    let (one, two) = tokio::join!(open("one"), open("two"));
    let (one, two) = (one.unwrap().unwrap(), two.unwrap().unwrap());
    let (first, second) =
        tokio::join!(one.exec_python(&owner, &id, python("x + 1")), two.exec_python(&owner, &id, python("x + 1")));
    let (winner, told) = match (first, second) {
        (Ok(done), Err(told)) => ((&one, done), told),
        (Err(told), Ok(done)) => ((&two, done), told),
        both => panic!("{both:?}"),
    };
    assert!(winner.1.output.contains("42"), "the state is there: {:?}", winner.1);
    assert_eq!(told.code, ErrorCode::SessionNotReady, "{told}");
    assert_eq!(of(&socket, &id).await, container, "the same container, and no other");
    // Whoever ends first takes nothing from the other.
    let loser = if std::ptr::eq(winner.0, &raw const one) { &two } else { &one };
    loser.close(std::time::Duration::from_secs(5)).await;
    let done: BayResult<_> = winner.0.exec_python(&owner, &id, python("x + 2")).await;
    assert!(done.unwrap().output.contains("43"));
    winner.0.delete_sandbox(&owner, &id).await.unwrap();
    assert_eq!(of(&socket, &id).await, Vec::<String>::new());
    winner.0.close(std::time::Duration::from_secs(5)).await;
    assert_eq!(std::fs::read_dir(dir.path().join("run")).map_or(0, Iterator::count), 0);
    drop(store);
}
