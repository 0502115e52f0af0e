//! Bad days of a cluster's API server, and a Bay that is gone between two of the questions that it asks there.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use cove_api::ErrorCode;
use cove_bay::{Bay, Owner};
use cove_config::Config;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::ground::{Ground, kubectl};
use super::killed::{Step, pass};
use super::small;
use crate::support::{Harbour, PATIENCE, config, harbour_with, shell, until, until_some};

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
pub(super) fn kubeconfig(at: &Path, address: SocketAddr) {
    let text = json!({
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
    /// Answers everything with this status.
    Refuses(u16),
}

/// What an API server that has too much to do says, or one that has lost its store.
async fn refuse(client: &mut TcpStream, status: u16) {
    let _ = client.read(&mut [0; 1 << 16]).await;
    let told =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "a bad day", "code": status});
    let body = told.to_string();
    let head =
        format!("HTTP/1.1 {status} No\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:");
    let _ = client.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).await;
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
                            match now {
                                Mood::Silent => return std::future::pending().await,
                                Mood::Refuses(status) => return refuse(&mut client, status).await,
                                Mood::Well | Mood::Gone => {}
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
async fn an_api_that_is_gone_slow_or_refuses_takes_no_sandbox_with_it() {
    let Some(ground) = Ground::pods() else { return };
    let (mut proxy, api) = plain_api().await;
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
    for bad in [Mood::Gone, Mood::Silent, Mood::Refuses(429), Mood::Refuses(503)] {
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
    serving.abort();
    proxy.kill().await.unwrap();
    harbour.close().await;
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

/// A Bay on this folder that is gone at a step of what it does, and when the cluster has come so far.
async fn gone_at<F>(
    step: Step,
    first: &Config,
    deed: impl FnOnce(Bay) -> F + Send + 'static,
    so_far: impl AsyncFnMut() -> bool,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let (_proxy, api) = plain_api().await;
    let (stopped, mut reached) = mpsc::channel(8);
    let (address, line) = line_until(step, api, stopped).await;
    let mut first = first.clone();
    let file = first.data_dir.as_ref().unwrap().with_extension("kubeconfig");
    kubeconfig(&file, address);
    first.driver.k8s.kubeconfig = Some(file);
    // Everything of this Bay is in here, and gone with it.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.spawn(async move { deed(Bay::open(first).await.unwrap()).await });
    tokio::time::timeout(PATIENCE, reached.recv()).await.expect("it never came to this step").unwrap();
    until("the cluster has come so far", so_far).await;
    runtime.shutdown_background();
    line.abort();
}

/// The next Bay on the same folder.
async fn next_bay(config: &Config) -> Bay {
    until_some("the folder is free", async || Bay::open(config.clone()).await.ok()).await
}

/// A configuration of the one profile `p`.
fn pods_in(dir: &Path, ground: &Ground) -> Config {
    let mut config = config(dir);
    ground.configure(&mut config);
    config.profiles = vec![small("p")];
    config
}

fn wish() -> cove_api::CreateSandbox {
    cove_api::CreateSandbox { profile: "p".to_owned(), ..cove_api::CreateSandbox::default() }
}

#[tokio::test]
async fn a_bay_that_is_gone_while_it_makes_a_sandbox_leaves_nothing_that_is_not_found() {
    let Some(ground) = Ground::pods() else { return };
    let Ground::Pods(namespace) = &ground else { return };
    let (dir, owner) = (tempfile::tempdir().unwrap(), Owner::new("default"));
    let config = pods_in(dir.path(), &ground);
    let bay = Bay::open(config.clone()).await.unwrap();
    let kept = bay.create_sandbox(&owner, wish(), None).await.unwrap();
    bay.close(Duration::from_secs(5)).await;
    drop(bay);
    let claim = format!("cove-{}", kept.cargo_id);
    let words = ["get", "pvc", "-n", namespace, &claim, "-o", "jsonpath={.metadata.labels.cove\\.records}"];
    let records = format!("cove.records={}", kubectl(&words, None).await);
    let claims = async || {
        let listed = kubectl(&["get", "pvc", "-n", namespace, "-l", &records, "-o", "name"], None).await;
        listed.lines().count()
    };
    for asked in [false, true] {
        let step = Step { words: "POST /persistentvolumeclaims?", asked };
        let owner_too = owner.clone();
        let deed = move |bay: Bay| async move {
            let _ = bay.create_sandbox(&owner_too, wish(), None).await;
        };
        gone_at(step, &config, deed, async || claims().await == 1 + usize::from(asked)).await;
        let bay = next_bay(&config).await;
        let listed = bay.list_sandboxes(&owner, cove_api::SandboxQuery::default()).await.unwrap().items;
        assert_eq!(listed.iter().map(|one| &one.id).collect::<Vec<_>>(), [&kept.id], "{step:?}");
        assert_eq!(bay.exec_shell(&owner, &kept.id, shell("echo on")).await.unwrap().output, "on\n");
        // A claim without a sandbox has the label by which the collector takes it away when it is old enough.
        bay.run_gc(crate::once::named("orphan_cargo")).await.unwrap();
        assert_eq!(claims().await, 1 + usize::from(asked), "{step:?}");
        bay.close(Duration::from_secs(5)).await;
    }
    kubectl(&["delete", "pvc", "-n", namespace, "-l", &records, "--wait=false"], None).await;
}

#[tokio::test]
async fn a_bay_that_is_gone_while_it_starts_a_pod_leaves_no_half_of_one() {
    let Some(ground) = Ground::pods() else { return };
    let Ground::Pods(namespace) = &ground else { return };
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
    let config = pods_in(dir.path(), &ground);
    // Before the Pod is made, when it is, and when it runs: no record of the session says that it does.
    for (asked, phases) in [(false, &[""][..]), (true, &["Pending", "Running"][..]), (true, &["Running"][..])] {
        let step = Step { words: "POST /pods?", asked };
        let (call, owner_too) = (id.clone(), owner.clone());
        let deed = move |bay: Bay| async move {
            let _ = bay.exec_shell(&owner_too, &call, shell("true")).await;
        };
        let label = format!("cove.sandbox={id}");
        let so_far = async || {
            let words = ["get", "pod", "-n", namespace, "-l", &label, "-o", "jsonpath={.items[*].status.phase}"];
            phases.contains(&kubectl(&words, None).await.as_str())
        };
        gone_at(step, &config, deed, so_far).await;
        let bay = next_bay(&config).await;
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

#[tokio::test]
async fn a_bay_that_is_gone_while_it_deletes_a_sandbox_leaves_none_of_it() {
    let Some(ground) = Ground::pods() else { return };
    let (dir, owner) = (tempfile::tempdir().unwrap(), Owner::new("default"));
    let config = pods_in(dir.path(), &ground);
    for step in [
        Step { words: "DELETE /pods/", asked: false },
        Step { words: "DELETE /pods/", asked: true },
        Step { words: "DELETE /persistentvolumeclaims/", asked: false },
        Step { words: "DELETE /persistentvolumeclaims/", asked: true },
    ] {
        let (told, mut made) = mpsc::channel(1);
        let owner_too = owner.clone();
        let deed = move |bay: Bay| async move {
            let made = bay.create_sandbox(&owner_too, wish(), None).await.unwrap();
            bay.exec_shell(&owner_too, &made.id, shell("true")).await.unwrap();
            told.send(made.clone()).await.unwrap();
            let _ = bay.delete_sandbox(&owner_too, &made.id).await;
        };
        gone_at(step, &config, deed, async || true).await;
        let made = made.recv().await.unwrap();
        let bay = next_bay(&config).await;
        assert_eq!(bay.sandbox(&owner, &made.id).await.unwrap_err().code, ErrorCode::NotFound, "{step:?}");
        until("the cluster has none of it", || async {
            bay.run_gc(crate::once::named("orphan_container")).await.unwrap();
            bay.run_gc(crate::once::named("orphan_cargo")).await.unwrap();
            ground.of(&made.id).await.is_empty() && !ground.keeps(made.cargo_id.as_str()).await
        })
        .await;
        bay.close(Duration::from_secs(5)).await;
    }
}
