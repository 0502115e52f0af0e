//! Pods of a cluster, and its bad days: no room, a quota, a node without the image, an API server that is slow, refuses or is gone, and
//! a Bay that is gone between two steps. What all drivers have in common is in [`lives`](super::lives).

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use cove_api::ErrorCode;
use cove_bay::Bay;
use cove_config::ResourceConfig;
use tokio::io::{AsyncBufReadExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::ground::{Ground, kubectl, named};
use super::killed::{Step, pass, start_one};
use super::{lives, small};
use crate::support::{Harbour, config, harbour_with, shell, until};

#[tokio::test]
async fn an_image_that_is_missing_is_named_with_the_next_step() {
    let Some(ground) = Ground::pods() else { return };
    lives::an_image_is_missing(&ground).await;
}

#[tokio::test]
async fn a_pod_that_is_deleted_from_outside_is_remade() {
    let Some(ground) = Ground::pods() else { return };
    let (harbour, id) = lives::it_dies_and_is_remade(&ground).await;
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(ground.of(&id).await, Vec::<String>::new());
    harbour.close().await;
}

#[tokio::test]
async fn the_next_bay_goes_on_with_what_runs() {
    let Some(ground) = Ground::pods() else { return };
    lives::the_next_bay_goes_on(&ground).await;
}

#[tokio::test]
async fn a_pod_ends_when_its_bay_is_gone_for_good() {
    let Some(ground) = Ground::pods() else { return };
    lives::it_ends_when_its_bay_is_gone_for_good(&ground).await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_taken_in_one_sandbox_only() {
    let Some(ground) = Ground::pods() else { return };
    lives::a_port_is_taken(&ground).await;
}

#[tokio::test]
async fn a_full_volume_and_full_memory_lose_no_file() {
    let Some(ground) = Ground::pods() else { return };
    lives::a_volume_and_memory_are_full(&ground).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_bays_that_want_one_pod_one_gets_it() {
    let Some(ground) = Ground::pods() else { return };
    lives::two_bays_want_one_container(&ground).await;
}

/// More than any node has: the words are the user's, and no Pod waits for a node that never comes.
#[tokio::test]
async fn a_sandbox_without_a_node_is_told_so() {
    let Some(ground) = Ground::pods() else { return };
    let harbour = harbour_with(|config| {
        ground.configure(config);
        config.driver.k8s.start_seconds = 5;
        config.driver.k8s.cpu_request_percent = 100;
        let mut profile = small("p");
        profile.resources = Some(ResourceConfig { cpus: 900.0, memory: "192m".parse().unwrap() });
        config.profiles = vec![profile];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    let told = harbour.shell(&id, "true").await.unwrap_err();
    assert_eq!((told.code, &told.details["driver_cause"]), (ErrorCode::ShipError, &"unschedulable".into()), "{told}");
    assert!(told.message.contains("no node"), "{told}");
    until("no Pod waits", || async { ground.of(&id).await.is_empty() }).await;
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}

/// Quotas of the cluster: for Pods at the first call, for volumes when the sandbox is made.
#[tokio::test]
async fn a_quota_of_the_cluster_is_told_as_one() {
    let Some(Ground::Pods(namespace)) = Ground::pods() else { return };
    let own = format!("{namespace}-quota");
    kubectl(&["create", "namespace", &own], None).await;
    let quota = "--hard=pods=0,persistentvolumeclaims=1";
    kubectl(&["create", "quota", "q", "-n", &own, quota], None).await;
    let ready = || async {
        let words = ["get", "quota", "q", "-n", &own, "-o", "jsonpath={.status.hard.pods}"];
        kubectl(&words, None).await == "0"
    };
    until("the quota holds", ready).await;
    let ground = Ground::Pods(own.clone());
    let harbour = harbour_with(|config| {
        ground.configure(config);
        // Bay's own account has no rights there.
        config.driver.k8s.kubeconfig = None;
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    let told = harbour.shell(&id, "true").await.unwrap_err();
    assert_eq!((told.code, &told.details["driver_cause"]), (ErrorCode::ShipError, &"cluster_quota".into()), "{told}");
    assert!(told.message.contains("quota of the namespace"), "{told}");
    let two = harbour.create_of("p").await.id;
    let told = harbour.shell(&two, "true").await.unwrap_err();
    assert_eq!((told.code, &told.details["driver_cause"]), (ErrorCode::ShipError, &"cluster_quota".into()), "{told}");
    for id in [&id, &two] {
        assert_eq!(ground.of(id).await, Vec::<String>::new());
        harbour.bay.delete_sandbox(&harbour.owner, id).await.unwrap();
    }
    harbour.close().await;
    kubectl(&["delete", "namespace", &own, "--wait=false"], None).await;
}

/// A cluster that is not there, and an account without the rights of the Role: Bay does not start, and says what to do.
#[tokio::test]
async fn no_cluster_or_no_rights_stops_the_start_with_a_reason() {
    let Some(ground) = Ground::pods() else { return };
    let dir = tempfile::tempdir().unwrap();
    let refused = async |change: &dyn Fn(&mut cove_config::Config)| {
        let mut config = config(dir.path());
        ground.configure(&mut config);
        change(&mut config);
        Bay::open(config).await.unwrap_err().0
    };
    let file = dir.path().join("kubeconfig");
    kubeconfig(&file, "127.0.0.1:9".parse().unwrap());
    let none = refused(&|config| config.driver.k8s.kubeconfig = Some(file.clone())).await;
    assert!(none.contains("does not answer"), "{none}");
    let none = refused(&|config| config.driver.k8s.kubeconfig = Some(dir.path().join("none"))).await;
    assert!(none.contains("there is no cluster") && none.contains("KUBECONFIG"), "{none}");
    if named("COVE_TEST_BAY_KUBECONFIG").is_some() {
        let told = refused(&|config| config.driver.k8s.namespace = Some("kube-system".to_owned())).await;
        assert!(told.contains("may not") && told.contains("Role of packaging/kubernetes/pods"), "{told}");
    }
}

/// Nobody without the key is answered at a Pod's port, and a guest finds nothing there, nor any other way.
#[tokio::test]
async fn a_pods_port_is_of_no_use_without_the_key() {
    let Some(ground) = Ground::pods() else { return };
    let Ground::Pods(namespace) = &ground else { return };
    let harbour = harbour_with(|config| {
        ground.configure(config);
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    // Names of the node's files, not of what can be used: those of its own network are in /proc.
    let listed = harbour.out(&id, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").await;
    assert_eq!(listed, "lo");
    let token = harbour.out(&id, "ls /var/run/secrets/kubernetes.io 2>/dev/null; env | grep KUBERNETES; true").await;
    assert_eq!(token, "");
    let pod = ground.of(&id).await.remove(0);
    let words = ["get", "pod", "-n", namespace, &pod, "-o", "jsonpath={.status.podIP}"];
    let address = kubectl(&words, None).await;
    let inside = format!("import socket; socket.create_connection(('{address}', 8127), 5)");
    let refused = harbour.shell(&id, &format!("python3 -c \"{inside}\"")).await.unwrap();
    assert!(!refused.success, "{refused:?}");
    let address: SocketAddr = format!("{address}:8127").parse().unwrap();
    for wrong in ["GET /meta HTTP/1.1\r\nHost: x\r\n\r\n", "cove-line/1 00 runtime\n"] {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(wrong.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(answer, b"", "{wrong:?}");
    }
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}

/// `kubectl proxy`: the cluster's API without TLS on this machine, so that a test can stand in between.
#[expect(clippy::disallowed_methods, reason = "ends with the test")]
async fn plain_api() -> (tokio::process::Child, SocketAddr) {
    let program = std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".to_owned());
    let mut command = tokio::process::Command::new(program);
    command.args(["proxy", "--port=0"]).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.next_line().await.unwrap().unwrap();
    let address = said.rsplit(' ').next().unwrap().parse().unwrap();
    (child, address)
}

/// A file that leads to an API without TLS.
fn kubeconfig(at: &Path, address: SocketAddr) {
    let text = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": format!("http://{address}")}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}],
    });
    std::fs::write(at, text.to_string()).unwrap();
}

/// How the API is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Well,
    /// Takes connections and says nothing.
    Silent,
    /// Takes none.
    Gone,
}

/// Between Bay and the API. With each change of mood every connection ends.
async fn relay(api: SocketAddr) -> (SocketAddr, Arc<watch::Sender<Mood>>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mood = Arc::new(watch::Sender::new(Mood::Well));
    let mut seen = mood.subscribe();
    let serving = tokio::spawn(async move {
        let mut all = JoinSet::new();
        loop {
            tokio::select! {
                Ok((mut client, _)) = listener.accept() => match *seen.borrow() {
                    Mood::Gone => drop(client),
                    now => {
                        all.spawn(async move {
                            if now == Mood::Silent {
                                return std::future::pending().await;
                            }
                            let Ok(mut server) = TcpStream::connect(api).await else { return };
                            let _ = copy_bidirectional(&mut client, &mut server).await;
                        });
                    }
                },
                Ok(()) = seen.changed() => all.shutdown().await,
            }
        }
    });
    (address, mood, serving)
}

/// What runs goes on without the API; what needs it is told so, within its time, and works again afterwards.
#[tokio::test]
async fn an_api_that_is_gone_or_slow_takes_no_sandbox_with_it() {
    let Some(ground) = Ground::pods() else { return };
    let (_proxy, api) = plain_api().await;
    let (address, mood, serving) = relay(api).await;
    let harbour = harbour_with(|config| {
        ground.configure(config);
        let file = config.data_dir.as_ref().unwrap().with_extension("kubeconfig");
        kubeconfig(&file, address);
        config.driver.k8s.kubeconfig = Some(file);
        config.profiles = vec![small("p")];
    })
    .await;
    let one = harbour.create_of("p").await.id;
    harbour.python(&one, "x = 5").await;
    let two = harbour.create_of("p").await.id;
    for bad in [Mood::Gone, Mood::Silent] {
        mood.send_replace(bad);
        assert!(harbour.python(&one, "x + 1").await.output.contains('6'), "{bad:?}: what runs needs no API");
        let begun = std::time::Instant::now();
        let told = harbour.shell(&two, "true").await.unwrap_err();
        assert_eq!(told.code, ErrorCode::ShipError, "{bad:?}: {told}");
        assert_eq!(told.details["driver_cause"], "engine_unreachable", "{bad:?}: {told}");
        assert!(begun.elapsed() < Duration::from_secs(40), "{bad:?}: {:?}", begun.elapsed());
        mood.send_replace(Mood::Well);
    }
    until("it starts", || async { harbour.shell(&two, "echo back").await.is_ok_and(|done| done.success) }).await;
    assert!(harbour.python(&one, "x + 1").await.output.contains('6'));
    // An end that nobody saw is noticed: the watch is begun anew.
    mood.send_replace(Mood::Gone);
    ground.kill(&one).await;
    mood.send_replace(Mood::Well);
    until("it works again", || async { harbour.shell(&one, "true").await.is_ok() }).await;
    for id in [one, two] {
        harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
        assert_eq!(ground.of(&id).await, Vec::<String>::new());
    }
    harbour.close().await;
    serving.abort();
}

/// Between Bay and the API, up to a step.
async fn line_until(step: Step, api: SocketAddr, stopped: mpsc::Sender<()>) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(api).await.unwrap();
            tokio::spawn(pass(step, client, server, stopped.clone()));
        }
    });
    (address, serving)
}

#[tokio::test]
async fn a_bay_that_is_gone_between_two_steps_leaves_no_half_of_a_pod() {
    let Some(ground) = Ground::pods() else { return };
    let (_proxy, api) = plain_api().await;
    let harbour = harbour_with(|config| {
        ground.configure(config);
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    let Harbour { bay, dir, owner } = harbour;
    bay.close(Duration::from_secs(5)).await;
    drop(bay);
    for step in [
        Step { words: "POST /persistentvolumeclaims?", asked: false },
        Step { words: "POST /persistentvolumeclaims?", asked: true },
        Step { words: "POST /pods?", asked: false },
        Step { words: "POST /pods?", asked: true },
    ] {
        let (stopped, mut reached) = mpsc::channel(8);
        let (address, line) = line_until(step, api, stopped).await;
        let mut first = config(dir.path());
        ground.configure(&mut first);
        let file = dir.path().join("kubeconfig");
        kubeconfig(&file, address);
        first.driver.k8s.kubeconfig = Some(file);
        first.profiles = vec![small("p")];
        // Everything of this Bay is in here, and gone with it.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(start_one(first, id.clone()));
        reached.recv().await.unwrap();
        runtime.shutdown_background();
        line.abort();
        let mut next = config(dir.path());
        ground.configure(&mut next);
        next.profiles = vec![small("p")];
        let bay = crate::support::until_some("the folder is free", async || Bay::open(next.clone()).await.ok()).await;
        until("the cluster has no half of one", || async {
            bay.run_gc(crate::once::named("orphan_container")).await.unwrap();
            ground.of(&id).await.is_empty()
        })
        .await;
        let done = bay.exec_shell(&owner, &id, shell("cat kept.txt")).await.unwrap();
        assert_eq!(done.output, "kept\n", "{step:?}");
        assert_eq!(ground.of(&id).await.len(), 1, "{step:?}");
        bay.close(Duration::from_secs(5)).await;
        assert_eq!(ground.of(&id).await, Vec::<String>::new(), "{step:?}");
    }
}
