//! One contract for every driver: the same calls on a real Bay, with local walls, with containers of a real engine, and with Pods
//! of a real cluster.
//!
//! The engine is the one of `COVE_TEST_DOCKER` (its socket, as `unix:///PATH`) with the image `cove-test`; `scripts/test-docker`
//! provides both. The cluster is the one of `KUBECONFIG` with the namespace `COVE_TEST_KUBERNETES`; see `scripts/test-kubernetes`.
//! Without them the part that needs them says so.

mod bad_days;
mod docker;
mod engine;
mod files;
mod ground;
mod killed;
mod lives;
mod pods;
mod pods_api;
mod pods_browser;
mod pods_nodes;
mod routes;

use std::time::Duration;

use cove_api::{ConnectionVerdict, ErrorCode, EventKind, SandboxStatus, SetNetwork, StopCause, WriteFile};
use cove_config::{Config, DriverKind, ProfileConfig, PullPolicy, ResourceConfig};
use cove_core::NetworkPolicy;
use futures_util::StreamExt as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Harbour, harbour_with, python, shell, until};
use ground::Ground;

/// The engine's socket, where there is one.
#[expect(clippy::print_stdout, reason = "says what was not tried")]
pub(crate) fn engine() -> Option<String> {
    let socket = std::env::var("COVE_TEST_DOCKER").ok().filter(|socket| !socket.is_empty());
    if socket.is_none() {
        println!("NOT TRIED with containers: COVE_TEST_DOCKER names no engine; scripts/test-docker does");
    }
    socket
}

fn with_containers(config: &mut Config, socket: &str) {
    config.driver.kind = DriverKind::Docker;
    config.driver.image_pull_policy = PullPolicy::Never;
    config.driver.docker.socket = Some(socket.to_owned());
    config.driver.docker.ship_image = ground::IMAGE.to_owned();
}

fn small(id: &str) -> ProfileConfig {
    let resources = ResourceConfig { cpus: 1.0, memory: "192m".parse().unwrap() };
    ProfileConfig { id: id.to_owned(), resources: Some(resources), ..ProfileConfig::default() }
}

#[tokio::test]
async fn local_walls_keep_the_contract() {
    contract(None).await;
}

#[tokio::test]
async fn containers_keep_the_contract() {
    let Some(ground) = Ground::docker() else { return };
    contract(Some(&ground)).await;
}

#[tokio::test]
async fn pods_keep_the_contract() {
    let Some(ground) = Ground::pods() else { return };
    contract(Some(&ground)).await;
}

/// What a caller may rely on, whatever a sandbox is made of. `None`: local walls.
async fn contract(ground: Option<&Ground>) {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    tokio::spawn(serve(server));
    let harbour = harbour_with(|config| {
        if let Some(ground) = ground {
            ground.configure(config);
        }
        let open = NetworkPolicy { allow_private: vec![format!("127.0.0.1:{port}")], ..NetworkPolicy::default() };
        let words = [("GREETING".to_owned(), cove_config::EnvValue("a:b=c d".to_owned()))];
        config.profiles = vec![
            ProfileConfig { warm_pool_size: 1, ..small("warm") },
            ProfileConfig { idle_timeout: Some(1), ..small("short") },
            ProfileConfig { env: words.into_iter().collect(), ..small("closed") },
            ProfileConfig { network: Some(open), ..small("open") },
            routes::pair("pair"),
        ];
    })
    .await;
    let id = harbour.create_of("closed").await.id;
    works(&harbour, &id).await;
    is_kept_up(&harbour).await;
    routes::are_kept(&harbour, "pair").await;
    is_confined(&harbour, &id).await;
    is_reached(&harbour, &id).await;
    is_limited(&harbour, &id).await;
    reaches(&harbour, port).await;
    ends(&harbour, &id, ground).await;
    harbour.close().await;
}

async fn works(harbour: &Harbour, id: &cove_api::SandboxId) {
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    assert_eq!(
        harbour.out(id, "pwd; id -un; echo $GREETING; echo $HOME").await,
        "/workspace\nshipyard\na:b=c d\n/workspace"
    );
    assert_eq!(harbour.info(id).await.status, SandboxStatus::Ready);
    assert!(harbour.python(id, "x = 20\nx + 1").await.output.contains("21"));
    assert!(harbour.python(id, "x * 2").await.output.contains("40"));
    let failed = harbour.shell(id, "echo out; echo err >&2; exit 3").await.unwrap();
    assert_eq!((failed.exit_code, failed.output.trim()), (Some(3), "out"));
    bay.write_file(owner, id, WriteFile { path: "a/b.txt".to_owned(), content: "h\u{e4}ll\n".to_owned() })
        .await
        .unwrap();
    assert_eq!(harbour.out(id, "cat a/b.txt; echo more >> a/b.txt; ln -s /etc/passwd way").await, "h\u{e4}ll");
    assert_eq!(bay.read_file(owner, id, "a/b.txt").await.unwrap().content, "h\u{e4}ll\nmore\n");
    assert!(bay.read_file(owner, id, "way").await.is_err(), "a link leads out");
    assert_eq!(bay.read_file(owner, id, "none").await.unwrap_err().code, ErrorCode::FileNotFound);
    let javascript = serde_json::json!({ "code": "return 6 * 7" });
    let done = bay
        .exec_javascript(owner, id, serde_json::from_value::<cove_api::JavaScriptExecRequest>(javascript).unwrap())
        .await
        .unwrap();
    assert!(done.success, "{done:?}");
}

/// The warm pool, the end of idle sessions, the end of a sandbox's time.
async fn is_kept_up(harbour: &Harbour) {
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    until("one is warm", || async { bay.warm_ready("warm").await.unwrap() == 1 }).await;
    let wish = cove_api::CreateSandbox { profile: "warm".to_owned(), ttl: Some(3600), ..Default::default() };
    let claimed = bay.create_sandbox(owner, wish, None).await.unwrap();
    assert_eq!(claimed.status, SandboxStatus::Ready, "it was warm");
    assert_eq!(harbour.out(&claimed.id, "echo warm").await, "warm");
    bay.delete_sandbox(owner, &claimed.id).await.unwrap();
    let id = harbour.create_of("short").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    until("it was idle for long enough", || async {
        bay.run_gc(crate::once::named("idle_session")).await.unwrap();
        harbour.info(&id).await.status == SandboxStatus::Idle
    })
    .await;
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    bay.delete_sandbox(owner, &id).await.unwrap();
    let wish = cove_api::CreateSandbox { profile: "closed".to_owned(), ttl: Some(1), ..Default::default() };
    let mortal = bay.create_sandbox(owner, wish, None).await.unwrap().id;
    until("its time is over", || async {
        bay.run_gc(crate::once::named("expired_sandbox")).await.unwrap();
        bay.sandbox(owner, &mortal).await.is_err_and(|error| error.code == ErrorCode::NotFound)
    })
    .await;
}

/// Root, capabilities, the root folder, the engine's socket, the network.
async fn is_confined(harbour: &Harbour, id: &cove_api::SandboxId) {
    let status =
        harbour.out(id, "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'").await;
    for line in ["CapEff:0000000000000000", "CapBnd:0000000000000000", "NoNewPrivs:1", "Seccomp:2"] {
        assert!(status.lines().any(|seen| seen == line), "{line} in {status}");
    }
    for refused in [
        "touch /x",
        "touch /etc/x",
        "touch /run/cove/x",
        "test -S /var/run/docker.sock",
        "unshare -U true",
        "mount -t tmpfs none /tmp",
        "kill -9 1; kill -STOP 1; false",
        "cat /proc/1/environ",
        "test $(id -u) = 0",
    ] {
        let done = harbour.shell(id, refused).await.unwrap();
        assert!(!done.success, "{refused}: {done:?}");
    }
    let out = "import socket; socket.create_connection(('192.0.2.1', 80), 5)";
    let done = harbour.shell(id, &format!("python3 -c \"{out}\"")).await.unwrap();
    assert!(done.error.unwrap_or_default().contains("unreachable"), "it has no network");
    assert_eq!(harbour.out(id, "echo still").await, "still");
}

/// A program that listens is listed and reached; what does not listen is not.
async fn is_reached(harbour: &Harbour, id: &cove_api::SandboxId) {
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let template = harbour.out(id, "echo $COVE_URL_TEMPLATE").await;
    assert_eq!(template, format!("http://{{port}}-{id}.localhost:8114/"));
    harbour.out(id, "echo hello > greeting; nohup python3 -m http.server 3000 >/dev/null 2>&1 & true").await;
    let listed = async || bay.ports(owner, id).await.unwrap().items;
    until("it listens", || async { !listed().await.is_empty() }).await;
    let found = listed().await;
    assert_eq!((found.len(), found[0].port, &found[0].addresses), (1, 3000, &vec!["0.0.0.0".to_owned()]));
    assert_eq!(found[0].url, template.replace("{port}", "3000"));
    let mut line = bay.open_port(owner, id, 3000).await.unwrap();
    line.write_all(b"GET /greeting HTTP/1.0\r\n\r\n").await.unwrap();
    let mut said = String::new();
    line.read_to_string(&mut said).await.unwrap();
    assert!(said.ends_with("\r\n\r\nhello\n"), "{said}");
    for port in [3999, 8123, 0] {
        assert_eq!(bay.open_port(owner, id, port).await.unwrap_err().code, ErrorCode::PortClosed, "{port}");
    }
    harbour.out(id, "pkill -f '[h]ttp.server'").await;
}

async fn is_limited(harbour: &Harbour, id: &cove_api::SandboxId) {
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    harbour.out(id, "echo kept > /tmp/kept").await;
    let eat = "exec python3 -c 'import time; b = b\"x\" * (260 << 20); time.sleep(20)'";
    let answer = bay.exec_shell(owner, id, shell(eat)).await.unwrap();
    let said = answer.error.clone().unwrap_or_default();
    match answer.stopped.clone() {
        Some(stopped) => {
            assert_eq!((stopped.cause, stopped.limit_bytes), (StopCause::MemoryLimit, 192 << 20));
            assert!(said.contains("memory limit"), "{answer:?}");
        }
        // Where no control group counts memory, one process is refused more than the limit.
        None => assert!(!answer.success && said.contains("MemoryError"), "{answer:?}"),
    }
    assert_eq!(harbour.out(id, "cat /tmp/kept").await, "kept", "the session goes on");
    let late =
        bay.exec_shell(owner, id, cove_api::ShellExecRequest { timeout: 1, ..shell("echo early; sleep 60") }).await;
    let late = late.unwrap();
    assert!(!late.success && late.output.contains("early"), "{late:?}");
    harbour.python(id, "y = 7").await;
    let spin = cove_api::PythonExecRequest { timeout: 1, ..python("while True: pass") };
    let spun = bay.exec_python(owner, id, spin).await.unwrap();
    assert!(!spun.success, "{spun:?}");
    assert!(harbour.python(id, "y").await.output.contains('7'), "an interrupt keeps the state");
    let bomb = "python3 -c 'import os\nfor _ in range(2000):\n  if os.fork() == 0: os.pause() if hasattr(os, \"pause\") else __import__(\"time\").sleep(30)'";
    let bombed = harbour.shell(id, bomb).await.unwrap();
    assert!(!bombed.success, "{bombed:?}");
    until("it works again", || async { harbour.shell(id, "echo on").await.is_ok_and(|done| done.success) }).await;
}

/// Through the proxy, what the profile names and nothing else.
async fn reaches(harbour: &Harbour, port: u16) {
    let id = harbour.create_of("open").await.id;
    let ask = |port: u16| {
        format!(
            "python3 -c \"import socket; s = socket.create_connection(('127.0.0.1', 3128), 10); \
             s.sendall(b'GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); \
             print(s.makefile().read())\""
        )
    };
    assert!(harbour.out(&id, &ask(port)).await.contains("hello from outside"));
    let other = harbour.out(&id, &ask(if port == 9 { 10 } else { 9 })).await;
    assert!(other.contains("403 Forbidden"), "{other}");
    let past = "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80), 5)\"";
    assert!(!harbour.shell(&id, past).await.unwrap().success, "there is a way past the proxy");
    is_closed_and_opened(harbour, &id, port, &ask(port)).await;
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
}

/// The owner closes the network while it runs: at once, for a connection that is open, too, and over the end of a session.
async fn is_closed_and_opened(harbour: &Harbour, id: &cove_api::SandboxId, port: u16, ask: &str) {
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let mut events = bay.events(owner, id, None).await.unwrap();
    let set = async |hosts: Option<Vec<String>>| bay.set_network(owner, id, SetNetwork { allow_hosts: hosts }).await;
    let waits = format!(
        "python3 -c \"import socket; s = socket.create_connection(('127.0.0.1', 3128), 10); \
         s.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n'); print(b' 200 ' in s.recv(99)); \
         open('waits', 'w').close(); print(len(s.recv(1)))\""
    );
    let closing = async {
        until("a connection is open", || async { bay.read_file(owner, id, "waits").await.is_ok() }).await;
        set(Some(Vec::new())).await.unwrap()
    };
    let (said, closed) = tokio::join!(harbour.out(id, &waits), closing);
    assert_eq!(said, "True\n0", "it was closed, and has said nothing");
    assert_eq!(closed.allow_hosts, Vec::<String>::new());
    assert!(harbour.out(id, ask).await.contains("403 Forbidden"));
    let told = bay.sandbox(owner, id).await.unwrap().network.unwrap();
    assert!(told.iter().all(|one| one.allow_hosts.is_empty() && one.allow_private.is_empty()), "{told:?}");
    let log = bay.network(owner, id).await.unwrap().connections;
    let verdicts: Vec<ConnectionVerdict> = log.iter().map(|one| one.verdict).take(2).collect();
    assert_eq!(verdicts, [ConnectionVerdict::Refused, ConnectionVerdict::Closed], "{log:?}");
    let ended = log.iter().find(|one| one.verdict == ConnectionVerdict::Ended).unwrap();
    assert!(ended.host == "127.0.0.1" && ended.port == port && ended.up_bytes > 10 && ended.down_bytes > 10);
    let told = loop {
        let event = events.next().await.unwrap();
        if event.kind == EventKind::Network {
            break event.data;
        }
    };
    assert_eq!((&told["host"], &told["verdict"]), (&"127.0.0.1".into(), &"closed".into()));
    bay.stop_sandbox(owner, id).await.unwrap();
    assert!(harbour.out(id, ask).await.contains("403 Forbidden"), "a new session knows it, too");
    set(Some(vec![format!("127.0.0.1:{port}")])).await.unwrap();
    assert!(harbour.out(id, ask).await.contains("hello from outside"));
    set(None).await.unwrap();
    assert!(harbour.out(id, ask).await.contains("hello from outside"));
    for host in ["127.0.0.1", "169.254.169.254", "localhost", "example.com", "*.example.com"] {
        let refused = set(Some(vec![host.to_owned()])).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Forbidden, "{host}");
    }
}

async fn ends(harbour: &Harbour, id: &cove_api::SandboxId, ground: Option<&Ground>) {
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    harbour.out(id, "echo kept > kept.txt").await;
    bay.stop_sandbox(owner, id).await.unwrap();
    assert_eq!(harbour.info(id).await.status, SandboxStatus::Idle);
    assert_eq!(harbour.out(id, "cat kept.txt").await, "kept");
    assert!(!harbour.python(id, "x").await.success, "a new session remembers nothing");
    let cargo = harbour.info(id).await.cargo_id;
    let folder = harbour.dir.path().join("data/cargos").join(&cargo);
    let is_kept = async || match ground {
        Some(ground @ Ground::Pods(_)) => ground.keeps(cargo.as_str()).await,
        _ => folder.exists(),
    };
    assert!(is_kept().await);
    bay.delete_sandbox(owner, id).await.unwrap();
    bay.delete_sandbox(owner, id).await.unwrap();
    // A cluster takes a claim away when it has seen that no Pod uses it.
    until("the files are gone", || async { !is_kept().await }).await;
}

async fn serve(server: TcpListener) {
    while let Ok((mut client, _)) = server.accept().await {
        tokio::spawn(async move {
            let _ = tokio::time::timeout(Duration::from_secs(5), client.read(&mut [0; 4096])).await;
            let body = "hello from outside";
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = client.write_all(head.as_bytes()).await;
        });
    }
}
