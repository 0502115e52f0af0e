//! `/ports`: what listens in a sandbox, and connections to it.

use std::time::{Duration, Instant};

use cove_runtime_api::{CallError, ListeningPort, PortTarget, PortsRequest, RefusalCode};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{PATIENCE, Sandbox, sandbox};

async fn ports(sandbox: &Sandbox, known: Option<&[u16]>, wait: f64) -> Vec<ListeningPort> {
    let known = known.map(|ports| {
        ports.iter().map(|port| ListeningPort { port: *port, addresses: vec!["127.0.0.1".parse().unwrap()] }).collect()
    });
    sandbox.ship.call(&PortsRequest { known, wait }, PATIENCE.into()).await.unwrap().items
}

fn numbers(ports: &[ListeningPort]) -> Vec<u16> {
    ports.iter().map(|one| one.port).collect()
}

async fn connected(sandbox: &Sandbox, port: u16, idle: u64) -> Result<TokioIo<hyper::upgrade::Upgraded>, CallError> {
    sandbox.ship.connect().await?.port(PortTarget { port, idle }).await.map(TokioIo::new)
}

async fn refused(sandbox: &Sandbox, port: u16, code: RefusalCode) {
    match connected(sandbox, port, 60).await {
        Err(CallError::Refused(refusal)) => assert_eq!(refusal.code, code, "{port}: {refusal}"),
        other => panic!("port {port}: {:?}", other.map(drop)),
    }
}

/// Starts a program and leaves it running.
async fn start(sandbox: &Sandbox, command: &str) {
    sandbox.ok("/shell/exec", json!({"command": command, "background": true})).await;
}

#[tokio::test]
async fn who_listens_is_noticed_within_a_second_and_reached() {
    let sandbox = sandbox().await;
    assert_eq!(ports(&sandbox, None, 0.0).await, [], "Ship's own port is no guest's");
    let asked = Instant::now();
    assert_eq!(ports(&sandbox, Some(&[]), 0.4).await, []);
    assert!(asked.elapsed() >= Duration::from_millis(400), "an empty list is the answer when the time is over");

    // Told as soon as it listens, and as soon as it does not any more.
    let waiting = async { (ports(&sandbox, Some(&[]), 30.0).await, Instant::now()) };
    let starting = async {
        let server = "import socket,time; s=socket.create_server(('127.0.0.1',3000)); print(time.time(),flush=True); time.sleep(600)";
        start(&sandbox, &format!("python3 -c \"{server}\" > began; true")).await;
    };
    let ((found, told), ()) = tokio::join!(waiting, starting);
    assert_eq!(found, [ListeningPort { port: 3000, addresses: vec!["127.0.0.1".parse().unwrap()] }]);
    let began: f64 = sandbox.out("cat began").await.parse().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let late = now - told.elapsed().as_secs_f64() - began;
    assert!(late < 1.0, "it was told {late} s after it had begun to listen");
    let waiting = async { (ports(&sandbox, Some(&[3000]), 30.0).await, Instant::now()) };
    let ending = async {
        sandbox.out("pkill -f '[c]reate_server'").await;
        Instant::now()
    };
    let ((found, told), ended) = tokio::join!(waiting, ending);
    assert_eq!(found, []);
    assert!(told.saturating_duration_since(ended) < Duration::from_secs(1));

    // On either of the two addresses that are `localhost`, or on all of them.
    for (address, port) in [("127.0.0.1", 3001), ("::1", 3002), ("0.0.0.0", 3003), ("::", 3004)] {
        let serve = format!(
            "import http.server as h; h.ThreadingHTTPServer.address_family=__import__('socket').AF_INET6 if ':' in '{address}' else 2; \
                             h.ThreadingHTTPServer(('{address}',{port}),h.SimpleHTTPRequestHandler).serve_forever()"
        );
        start(&sandbox, &format!("python3 -c \"{serve}\"")).await;
    }
    crate::support::until("all four listen", || async {
        numbers(&ports(&sandbox, None, 0.0).await) == [3001, 3002, 3003, 3004]
    })
    .await;
    sandbox.out("echo hello > greeting").await;
    for port in 3001..=3004 {
        let mut line = connected(&sandbox, port, 60).await.unwrap();
        line.write_all(b"GET /greeting HTTP/1.0\r\n\r\n").await.unwrap();
        let mut said = String::new();
        line.read_to_string(&mut said).await.unwrap();
        assert!(said.ends_with("\r\n\r\nhello\n"), "{port}: {said}");
    }
}

#[tokio::test]
async fn what_nobody_serves_is_refused_and_what_is_silent_ends() {
    let sandbox = sandbox().await;
    refused(&sandbox, 4000, RefusalCode::PortClosed).await;
    // Ship's own port, and none at all.
    refused(&sandbox, 8123, RefusalCode::PortClosed).await;
    refused(&sandbox, 0, RefusalCode::PortClosed).await;
    let (status, answer) = sandbox.get("/ports/connect?port=4000&idle=1").await;
    assert_eq!((status.as_u16(), &answer["error"]["code"]), (422, &json!("validation_error")), "{answer}");
    sandbox.refused("/ports", json!({"wait": 61}), 422, "validation_error").await;
    sandbox.refused("/ports", json!({"wait": -1}), 422, "validation_error").await;

    // One that accepts nobody: the kernel does for it, and nothing is said until the limit ends it.
    let silent = "import socket,time; s=socket.create_server(('127.0.0.1',4001),backlog=1); time.sleep(600)";
    start(&sandbox, &format!("python3 -c \"{silent}\"")).await;
    assert_eq!(numbers(&ports(&sandbox, Some(&[]), 30.0).await), [4001]);
    let mut line = connected(&sandbox, 4001, 1).await.unwrap();
    line.write_all(b"anybody?").await.unwrap();
    let asked = Instant::now();
    assert_eq!(tokio::time::timeout(PATIENCE, line.read(&mut [0; 8])).await.unwrap().unwrap_or(0), 0);
    assert!(asked.elapsed() >= Duration::from_millis(900));

    // Each direction ends by itself: what is asked to its end is answered to its end.
    let count = "import socket; s=socket.create_server(('127.0.0.1',4002)); c,_=s.accept(); n=0\nwhile b:=c.recv(65536): n+=len(b)\nc.sendall(str(n).encode()); c.close()";
    sandbox.ok("/fs/write_file", json!({"path": "count.py", "content": count})).await;
    start(&sandbox, "python3 count.py").await;
    crate::support::until("it listens", || async { numbers(&ports(&sandbox, None, 0.0).await).contains(&4002) }).await;
    let mut line = connected(&sandbox, 4002, 60).await.unwrap();
    line.write_all(&vec![b'x'; 5_000_000]).await.unwrap();
    line.shutdown().await.unwrap();
    let mut said = String::new();
    line.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "5000000");
}
