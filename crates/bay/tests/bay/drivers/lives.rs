//! What containers have that outlive their Bay, and what they go through: the same on an engine and on a cluster.

use std::time::Duration;

use cove_api::{ErrorCode, Moment, SandboxStatus};
use cove_bay::{Bay, BayResult};
use cove_config::{Config, DiskLimit, ProfileConfig, Secret};
use cove_core::NetworkPolicy;
use cove_store::{Bounds, Store};
use cove_testkit::Postgres;

use super::ground::Ground;
use super::small;
use crate::support::{Harbour, config, harbour_with, python, until};

/// Works again, on the same files; until then every answer is a refusal that may be tried again.
pub(super) async fn works_again(harbour: &Harbour, id: &cove_api::SandboxId) {
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

/// An image that is missing is named with the next step.
pub(super) async fn an_image_is_missing(ground: &Ground) {
    let harbour = harbour_with(|config| {
        ground.configure(config);
        let mut profile = small("p");
        profile.image = Some("cove-nowhere:1".to_owned());
        config.profiles = vec![profile];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    let told = harbour.shell(&id, "true").await.unwrap_err();
    assert_eq!((told.code, &told.details["driver_cause"]), (ErrorCode::ShipError, &"image_missing".into()), "{told}");
    assert!(told.message.contains("cove-nowhere:1") && told.message.contains("packaging/images/build"), "{told}");
    assert_eq!(harbour.info(&id).await.status, SandboxStatus::Failed);
    assert_eq!(ground.of(&id).await, Vec::<String>::new());
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}

/// Killed, and killed while it works: the next call has a new one on the same files.
pub(super) async fn it_dies_and_is_remade(ground: &Ground) -> (Harbour, cove_api::SandboxId) {
    let harbour = harbour_with(|config| {
        ground.configure(config);
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    ground.kill(&id).await;
    works_again(&harbour, &id).await;
    let working = async {
        until("it runs", || async { harbour.bay.read_file(&harbour.owner, &id, "begun").await.is_ok() }).await;
        ground.kill(&id).await;
    };
    let (broken, ()) = tokio::join!(harbour.shell(&id, "echo > begun; sleep 60"), working);
    assert_eq!(broken.unwrap_err().code, ErrorCode::ShipError);
    works_again(&harbour, &id).await;
    (harbour, id)
}

/// A Bay that is gone without a word leaves its containers; the next one goes on with them, state and all. What it cannot
/// go on with, whichever step of a start it is from, it takes away.
pub(super) async fn the_next_bay_goes_on(ground: &Ground) {
    let change = |config: &mut Config| {
        ground.configure(config);
        config.profiles = vec![small("p"), small("changed")];
    };
    let harbour = harbour_with(change).await;
    let (kept, changed) = (harbour.create_of("p").await.id, harbour.create_of("changed").await.id);
    harbour.python(&kept, "x = 41").await;
    harbour.out(&changed, "echo file > file").await;
    let (first, second) = (ground.of(&kept).await, ground.of(&changed).await);
    assert_eq!((first.len(), second.len()), (1, 1));
    let Harbour { bay, owner, dir } = harbour;
    drop(bay);
    ground.leave_half(&first[0], &kept).await;
    assert_eq!(ground.of(&kept).await.len(), 2);
    let mut next = config(dir.path());
    change(&mut next);
    next.profiles[1].resources = None;
    ground.keep_running(&mut next, true);
    let bay = Bay::open(next.clone()).await.unwrap();
    let harbour = Harbour { bay, owner, dir };
    assert_eq!(harbour.info(&kept).await.status, SandboxStatus::Ready);
    assert!(harbour.python(&kept, "x + 1").await.output.contains("42"), "the state is there");
    assert_eq!(ground.of(&kept).await, first, "the same container, and no half of one");
    // Its profile is another now: it is made anew, on the same files.
    assert_eq!(ground.of(&changed).await, Vec::<String>::new());
    assert_eq!(harbour.out(&changed, "cat file").await, "file");
    // A Bay that ends in good order can leave them as well.
    let Harbour { bay, owner, dir } = harbour;
    bay.close(Duration::from_secs(5)).await;
    drop(bay);
    ground.keep_running(&mut next, false);
    let harbour = Harbour { bay: Bay::open(next).await.unwrap(), owner, dir };
    assert!(harbour.python(&kept, "x + 2").await.output.contains("43"), "the state is there");
    for id in [&kept, &changed] {
        harbour.bay.delete_sandbox(&harbour.owner, id).await.unwrap();
        assert_eq!(ground.of(id).await, Vec::<String>::new());
    }
    harbour.close().await;
}

/// No Bay comes back: the container ends by itself, and its files stay for whoever comes later.
pub(super) async fn it_ends_when_its_bay_is_gone_for_good(ground: &Ground) {
    let change = |config: &mut Config| {
        ground.configure(config);
        ground.outlive(config, 3);
        config.profiles = vec![small("p")];
    };
    let harbour = harbour_with(change).await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt; sleep 300 > /dev/null 2>&1 &").await;
    let container = ground.of(&id).await.remove(0);
    // Longer than it goes on without signs of life: they come.
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(!ground.has_ended(&container).await);
    let Harbour { bay, owner, dir } = harbour;
    drop(bay);
    until("it ends by itself", || async { ground.has_ended(&container).await }).await;
    let mut next = config(dir.path());
    change(&mut next);
    let harbour = Harbour { bay: Bay::open(next).await.unwrap(), owner, dir };
    assert_eq!(ground.of(&id).await, Vec::<String>::new(), "what is left of it is taken away");
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}

/// Ports inside are each sandbox's own: those of this machine and of neighbours may be taken.
pub(super) async fn a_port_is_taken(ground: &Ground) {
    // Whoever has them, they are taken here.
    let _taken = ["127.0.0.1:8123", "127.0.0.1:3128", "127.0.0.1:8000"].map(std::net::TcpListener::bind);
    let harbour = harbour_with(|config| {
        ground.configure(config);
        let open = NetworkPolicy { allow_hosts: vec!["example.org".to_owned()], ..NetworkPolicy::default() };
        config.profiles = vec![ProfileConfig { network: Some(open), ..small("open") }];
    })
    .await;
    let listen = "import socket; kept = socket.create_server(('127.0.0.1', 8000)); kept.getsockname()[1]";
    let ids = [harbour.create_of("open").await.id, harbour.create_of("open").await.id];
    for id in &ids {
        let done = harbour.python(id, listen).await;
        assert!(done.success && done.output.contains("8000"), "{done:?}");
        for port in [8000, 8123, 3128] {
            let again = format!("python3 -c \"import socket; socket.create_server(('127.0.0.1', {port}))\"");
            let refused = harbour.shell(id, &again).await.unwrap();
            assert!(refused.error.as_ref().is_some_and(|said| said.contains("in use")), "{port}: {refused:?}");
        }
        assert_eq!(harbour.out(id, "echo answers").await, "answers");
    }
    for id in &ids {
        harbour.bay.delete_sandbox(&harbour.owner, id).await.unwrap();
    }
    harbour.close().await;
}

/// More than the cargo may hold, and more than the memory holds: whoever did it is told, and goes on with the same files.
pub(super) async fn a_volume_and_memory_are_full(ground: &Ground) {
    let harbour = harbour_with(|config| {
        ground.configure(config);
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

    let wish = cove_api::CreateSandbox { profile: "hard".to_owned(), ..cove_api::CreateSandbox::default() };
    match ground {
        // A file system of its own: the kernel says that it is full, and nothing ends.
        Ground::Docker(_) if rustix::process::geteuid().is_root() => {
            let hard = harbour.create_of("hard").await.id;
            harbour.python(&hard, "y = 6").await;
            let full = harbour.shell(&hard, "echo kept > kept.txt; head -c 40M /dev/zero > big").await.unwrap();
            assert!(full.error.as_ref().is_some_and(|said| said.contains("No space left")), "{full:?}");
            assert!(harbour.python(&hard, "y + 1").await.output.contains('7'), "the session goes on");
            assert_eq!(harbour.out(&hard, "rm big; cat kept.txt").await, "kept");
            harbour.bay.delete_sandbox(&harbour.owner, &hard).await.unwrap();
        }
        Ground::Docker(_) => {}
        Ground::Pods(_) => {
            let told = harbour.bay.create_sandbox(&harbour.owner, wish, None).await.unwrap_err();
            assert_eq!((told.code, &told.details["reason"]), (ErrorCode::Conflict, &"limits_not_enforced".into()));
        }
    }
    assert!(harbour.python(&neighbour, "x + 1").await.output.contains('6'), "a neighbour notices nothing");
    for id in [&id, &neighbour] {
        harbour.bay.delete_sandbox(&harbour.owner, id).await.unwrap();
        assert_eq!(ground.of(id).await, Vec::<String>::new());
    }
    harbour.close().await;
}

/// One Bay is dead, and two others of the same records come at once: one of them goes on with its container, and the other says so.
pub(super) async fn two_bays_want_one_container(ground: &Ground) {
    let server = Postgres::start();
    let change = |config: &mut Config| {
        ground.configure(config);
        config.database.url = Some(Secret::new(server.url()));
        config.profiles = vec![small("p")];
    };
    let Harbour { bay, owner, dir } = harbour_with(change).await;
    let wish = cove_api::CreateSandbox { profile: "p".to_owned(), ..cove_api::CreateSandbox::default() };
    let id = bay.create_sandbox(&owner, wish, None).await.unwrap().id;
    bay.exec_python(&owner, &id, python("x = 41")).await.unwrap();
    let (container, gone) = (ground.of(&id).await, bay.instance_id().to_owned());
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
    assert_eq!(ground.of(&id).await, container, "the same container, and no other");
    // Whoever ends first takes nothing from the other.
    let loser = if std::ptr::eq(winner.0, &raw const one) { &two } else { &one };
    loser.close(Duration::from_secs(5)).await;
    let done: BayResult<_> = winner.0.exec_python(&owner, &id, python("x + 2")).await;
    assert!(done.unwrap().output.contains("43"));
    winner.0.delete_sandbox(&owner, &id).await.unwrap();
    assert_eq!(ground.of(&id).await, Vec::<String>::new());
    winner.0.close(Duration::from_secs(5)).await;
    assert_eq!(std::fs::read_dir(dir.path().join("run")).map_or(0, Iterator::count), 0);
    drop(store);
}
