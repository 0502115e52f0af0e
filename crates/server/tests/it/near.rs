//! Who counts as somebody on this machine: a program that asks this very server, and nobody who was passed on.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use crate::{KEY, Place};

/// The status of a request that is sent as it stands.
fn asked(address: SocketAddr, request: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = String::new();
    let _ = stream.read_to_string(&mut said);
    said.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{request:?}: {said:?}"))
}

fn with(headers: &str) -> String {
    format!("GET /v1/profiles HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_was_passed_on_needs_a_key() {
    let place = Place::with(|options| {
        options.allow_anonymous = true;
        options.cors_origins = vec!["https://app.example".to_owned()];
    })
    .await;
    let address = place.server.address();
    let check = |request: &str, status: u16| assert_eq!(asked(address, request), status, "{request:?}");
    check(&with(""), 200);
    check(&with("Sec-Fetch-Site: none\r\n"), 200);

    // What proxies write, one by one, several of them, and however it is spelled.
    for header in [
        "X-Forwarded-For: 10.0.0.1",
        "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-For:",
        "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-For: 10.0.0.1",
        "x-forwarded-host: a",
        "X-FORWARDED-PROTO: https",
        "X-Forwarded-Port: 443",
        "X-Forwarded-Server: a",
        "X-Forwarded: a",
        "Forwarded: for=127.0.0.1",
        "Via: 1.1 a",
        "X-Real-IP: 127.0.0.1",
        "X-Client-IP: 127.0.0.1",
        "Client-IP: 127.0.0.1",
        "X-Cluster-Client-IP: 127.0.0.1",
        "CF-Connecting-IP: 127.0.0.1",
        "True-Client-IP: 127.0.0.1",
        "Fastly-Client-IP: 127.0.0.1",
        "X-Original-Forwarded-For: 127.0.0.1",
        "X-Envoy-External-Address: 127.0.0.1",
        "Proxy-Connection: keep-alive",
        "Origin: https://app.example",
        "Origin: http://localhost",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        check(&with(&format!("{header}\r\n")), 401);
    }
    // Who says that another Bay has passed it on, and is none, is as far away as before, and no further.
    check(&with("X-Cove-Forwarded: 1\r\n"), 200);
    check(&with("X-Cove-Forwarded: 1\r\nVia: 1.1 a\r\n"), 401);

    // As a proxy speaks that was told nothing; and names of other machines.
    let line = |line: &str, host: &str| format!("{line}\r\n{host}Connection: close\r\n\r\n");
    check(&line("GET /v1/profiles HTTP/1.0", ""), 401);
    check(&line("GET /v1/profiles HTTP/1.0", "Host: localhost\r\n"), 401);
    check(&line("GET /metrics HTTP/1.0", ""), 401);
    check(&line("GET http://localhost/v1/profiles HTTP/1.1", "Host: localhost\r\n"), 401);
    for (host, status) in [
        ("localhost", 200),
        ("LocalHost:1", 200),
        ("127.0.0.1", 200),
        ("127.8.8.8:80", 200),
        ("[::1]:80", 200),
        ("[::ffff:127.0.0.1]", 200),
        ("localhost.evil.example", 401),
        ("evil.example:80", 401),
        ("10.0.0.1", 401),
        ("0.0.0.0", 401),
        ("127.0.0.1.evil.example", 401),
    ] {
        for path in ["/v1/profiles", "/metrics"] {
            check(&line(&format!("GET {path} HTTP/1.1"), &format!("Host: {host}\r\n")), status);
        }
    }
    // With a key all of them are as good as anybody.
    check(&with(&format!("Via: 1.1 a\r\nOrigin: https://app.example\r\nAuthorization: Bearer {KEY}\r\n")), 200);
    place.server.close().await;
}
