//! The network: closed unless a policy opens it, and then only as far as the policy says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

mod world;

use std::net::SocketAddr;

use cove_core::{NetworkPolicy, SessionOptions};
use cove_testkit::Site;
use serde_json::json;
use tokio::net::UdpSocket;
use world::{body, finished, world};

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
            // That nothing is sent has no event: a request for candidates is given its time.
            await new Promise(r => setTimeout(r, 300));
        }});
        return (await Promise.all(tries)).length"#,
        port = address.port(),
    )
}

#[tokio::test]
async fn a_closed_network_is_closed_for_everything() {
    let world = world(1);
    let site = Site::open("hello");
    let address = site.address();
    let stun = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let code = every_way(address, stun.local_addr().unwrap());
    assert!(world.value(&code).await.as_u64().unwrap() > 20);
    assert_eq!(site.visits(), 0, "the host's own network was reached");
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
    let site = Site::open("hello");
    let address = site.address();
    let other_site = Site::open("hello");
    let other = other_site.address();
    let stun = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let open = |hosts: &[String], private: &[String]| SessionOptions {
        network: NetworkPolicy {
            allow_hosts: hosts.to_vec(),
            allow_private: private.to_vec(),
            ..NetworkPolicy::default()
        },
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
    assert_eq!(site.visits(), 1);
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
    assert_eq!(other_site.visits(), 0, "a host that is not named was reached");
    assert!(stun.try_recv(&mut [0; 64]).is_err(), "a datagram came through");

    // A name that leads to this machine is allowed by name and closed by its address: a rebinding name gains nothing.
    let by_name = format!("localhost:{}", address.port());
    let mut session = world.open(open(&["localhost".to_owned()], &[])).await;
    let before = site.visits();
    let answer = finished(session.run(&fetch(&by_name)).await, "rebinding").value;
    assert!(answer == "TypeError" || answer == "", "{answer}");
    assert_eq!(site.visits(), before);
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
