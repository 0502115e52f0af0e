//! The network: closed unless a policy opens it, and then only as far as the policy says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

mod world;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cove_core::{NetworkPolicy, SessionOptions};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use world::{body, finished, world};

/// A server on this machine that counts who comes, and answers anyone.
async fn server() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let hits = Arc::new(AtomicUsize::new(0));
    let count = hits.clone();
    tokio::spawn(async move {
        loop {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut head = [0; 4096];
                let _ = stream.read(&mut head).await;
                let answer = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    (address, hits)
}

/// Every way out that a page has, tried at once.
fn every_way(address: SocketAddr, stun: SocketAddr) -> String {
    format!(
        r#"
        const hosts = ['{address}', 'localhost:{port}', '[::1]:{port}', '127.1:{port}', '2130706433:{port}'];
        const tries = [];
        const quiet = (f) => {{ try {{ const p = f(); if (p && p.then) tries.push(p.then(() => 'in', () => 'out')) }} catch {{}} }};
        for (const host of hosts) {{
            quiet(() => fetch(`http://${{host}}/`));
            quiet(() => fetch(`http://${{host}}/`, {{ mode: 'no-cors' }}));
            quiet(() => new Promise((r, e) => {{ const w = new WebSocket(`ws://${{host}}/`); w.onopen = r; w.onerror = e }}));
            quiet(() => new Promise((r, e) => {{ const i = new Image(); i.onload = r; i.onerror = e; i.src = `http://${{host}}/x.png` }}));
            quiet(() => navigator.sendBeacon(`http://${{host}}/`, 'x'));
            quiet(() => new Promise((r, e) => {{ const x = new EventSource(`http://${{host}}/`); x.onopen = r; x.onerror = e }}));
            quiet(() => {{ const f = document.createElement('iframe'); f.src = `http://${{host}}/`; document.body.append(f) }});
            quiet(() => {{ const s = document.createElement('script'); s.src = `http://${{host}}/`; document.body.append(s) }});
            quiet(() => {{ const l = document.createElement('link'); l.rel = 'preconnect'; l.href = `http://${{host}}/`; document.head.append(l) }});
            const code = `fetch('http://${{host}}/').then(() => postMessage('in'), () => postMessage('out'))`;
            quiet(() => new Promise(r => {{ new Worker(URL.createObjectURL(new Blob([code]))).onmessage = e => r(e.data) }}));
        }}
        quiet(async () => {{
            const p = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:{stun}' }}] }});
            p.createDataChannel('x');
            await p.setLocalDescription(await p.createOffer());
            await new Promise(r => setTimeout(r, 300));
        }});
        return (await Promise.all(tries)).length"#,
        port = address.port(),
    )
}

#[tokio::test]
async fn a_closed_network_is_closed_for_everything() {
    let world = world(1);
    let (address, hits) = server().await;
    let stun = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let code = every_way(address, stun.local_addr().unwrap());
    assert!(world.value(&code).await.as_u64().unwrap() > 20);
    assert_eq!(hits.load(Ordering::SeqCst), 0, "the host's own network was reached");
    let mut datagram = [0; 64];
    assert!(stun.try_recv(&mut datagram).is_err(), "a datagram came through");
    // The doors of other sessions lead nowhere for one that has none.
    for door in ["http://door0.cove-proxy.invalid:1080/", "http://door0.cove-proxy.invalid/"] {
        let code =
            format!("try {{ return (await fetch('{door}', {{mode: 'no-cors'}})).type }} catch (e) {{ return e.name }}");
        let answer = world.value(&code).await;
        assert!(answer == "TypeError" || answer == "opaque", "{answer}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_policy_opens_what_it_names() {
    let world = world(0);
    let (address, hits) = server().await;
    let (other, other_hits) = server().await;
    let stun = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let open = |hosts: &[String], private: &[String]| SessionOptions {
        network: NetworkPolicy { allow_hosts: hosts.to_vec(), allow_private: private.to_vec() },
        ..SessionOptions::one_shot()
    };
    let fetch = |host: &str| {
        body(&format!("try {{ return await (await fetch('http://{host}/')).text() }} catch (e) {{ return e.name }}"))
    };
    // Named as address and port: this one, and no other.
    let named = address.to_string();
    let mut session = world.open(open(std::slice::from_ref(&named), std::slice::from_ref(&named))).await;
    let report = session.run(&fetch(&named)).await;
    assert_eq!(finished(report, "named").value, "hello");
    assert_eq!(hits.load(Ordering::SeqCst), 1);
    for closed in [
        other.to_string(),
        format!("localhost:{}", address.port()),
        "169.254.169.254".to_owned(),
        "example.com".to_owned(),
    ] {
        let answer = finished(session.run(&fetch(&closed)).await, &closed).value;
        assert!(answer == "TypeError" || answer == "", "{closed}: {answer}");
    }
    let socket = format!(
        "return await new Promise(r => {{ const w = new WebSocket('ws://{other}/'); w.onopen = () => r('in'); w.onerror = () => r('out') }})"
    );
    assert_eq!(finished(session.run(&body(&socket)).await, "socket").value, "out");
    finished(session.run(&body(&every_way(other, stun.local_addr().unwrap()))).await, "every way");
    assert_eq!(other_hits.load(Ordering::SeqCst), 0, "a host that is not named was reached");
    assert!(stun.try_recv(&mut [0; 64]).is_err(), "a datagram came through");

    // A name that leads to this machine is allowed by name and closed by its address: a rebinding name gains nothing.
    let by_name = format!("localhost:{}", address.port());
    let mut session = world.open(open(&["localhost".to_owned()], &[])).await;
    let before = hits.load(Ordering::SeqCst);
    let answer = finished(session.run(&fetch(&by_name)).await, "rebinding").value;
    assert!(answer == "TypeError" || answer == "", "{answer}");
    assert_eq!(hits.load(Ordering::SeqCst), before);
    // Unless the address is named as well.
    let mut session = world.open(open(&["localhost".to_owned()], &["127.0.0.1".to_owned()])).await;
    assert_eq!(finished(session.run(&fetch(&by_name)).await, "named").value, "hello");
    // Beside them a session without a policy is as closed as ever.
    assert_eq!(
        world.value(&format!("try {{ await fetch('http://{named}/'); return 'in' }} catch {{ return 'out' }}")).await,
        json!("out")
    );
    world.end().await;
}
