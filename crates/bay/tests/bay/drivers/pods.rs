//! Pods of a cluster, and its bad days: no room, a quota, a node without the image, no rights. What all drivers have in common is in
//! [`lives`](super::lives), the API server's bad days in [`pods_api`](super::pods_api), those of nodes in
//! [`pods_nodes`](super::pods_nodes).

use std::net::SocketAddr;

use cove_api::ErrorCode;
use cove_bay::Bay;
use cove_config::ResourceConfig;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::ground::{Ground, kubectl, named};
use super::pods_api::kubeconfig;
use super::{lives, small};
use crate::support::{config, harbour_with, until};

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

/// Quotas of the cluster: for volumes when a sandbox is made, for Pods at its first call. A sandbox that is there goes on.
#[tokio::test]
async fn a_quota_of_the_cluster_is_told_as_one() {
    let Some(Ground::Pods(namespace)) = Ground::pods() else { return };
    let own = format!("{namespace}-quota");
    kubectl(&["create", "namespace", &own], None).await;
    let quota = "--hard=pods=1,persistentvolumeclaims=2";
    kubectl(&["create", "quota", "q", "-n", &own, quota], None).await;
    let ready = || async {
        let words = ["get", "quota", "q", "-n", &own, "-o", "jsonpath={.status.hard.pods}"];
        kubectl(&words, None).await == "1"
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
    let (one, two) = (harbour.create_of("p").await.id, harbour.create_of("p").await.id);
    let wish = cove_api::CreateSandbox { profile: "p".to_owned(), ..cove_api::CreateSandbox::default() };
    let volumes = harbour.bay.create_sandbox(&harbour.owner, wish, None).await.unwrap_err();
    // No more volumes may be made, and it needs none.
    assert_eq!(harbour.out(&one, "echo on").await, "on");
    let pods = harbour.shell(&two, "true").await.unwrap_err();
    for told in [volumes, pods] {
        let cause = &told.details["driver_cause"];
        assert_eq!((told.code, cause), (ErrorCode::ShipError, &"cluster_quota".into()), "{told}");
        assert!(told.message.contains("quota of the namespace"), "{told}");
    }
    assert_eq!(ground.of(&two).await, Vec::<String>::new());
    for id in [&one, &two] {
        harbour.bay.delete_sandbox(&harbour.owner, id).await.unwrap();
        assert_eq!(ground.of(id).await, Vec::<String>::new());
    }
    harbour.close().await;
    kubectl(&["delete", "namespace", &own, "--wait=false"], None).await;
}

/// A cluster that is not there or too old, and an account without the rights of the Role: Bay does not start, and says what to do.
#[tokio::test]
async fn no_cluster_an_old_one_or_no_rights_stops_the_start_with_a_reason() {
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
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    kubeconfig(&file, listener.local_addr().unwrap());
    let old = tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let _ = client.read(&mut [0; 4096]).await;
            let version = json!({
                "major": "1", "minor": "19", "gitVersion": "v1.19.0", "gitCommit": "", "gitTreeState": "", "buildDate": "",
                "goVersion": "", "compiler": "", "platform": "",
            });
            let body = version.to_string();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
            let _ = client.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).await;
        }
    });
    let told = refused(&|config| config.driver.k8s.kubeconfig = Some(file.clone())).await;
    assert!(told.contains("1.19") && told.contains("1.20 or newer"), "{told}");
    old.abort();
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
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(wrong.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(answer, b"", "{wrong:?}");
    }
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}
