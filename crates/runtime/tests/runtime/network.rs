//! The way out, for profiles that have one.

use cove_cell::CellNetwork;
use cove_core::NetworkPolicy;
use cove_testkit::Site;

use crate::support::{Sandbox, sandbox_with};

/// The first line and the last of what the proxy answers.
async fn ask(sandbox: &Sandbox, request: &str) -> (String, String) {
    let code = format!(
        "import socket
s = socket.create_connection(('127.0.0.1', 3128), 5); s.settimeout(5)
s.sendall({request:?}.encode())
b = b''
while True:
    part = s.recv(4096)
    b += part
    if not part or b.endswith(b'Established\\r\\n\\r\\n'): break
print(b.decode().splitlines()[0], b.decode().splitlines()[-1], sep='|')"
    );
    let answer = sandbox.python(&code).await;
    assert_eq!(answer["success"], true, "{request}: {answer}");
    let (first, last) = answer["stdout"].as_str().unwrap().trim().split_once('|').unwrap();
    (first.to_owned(), last.to_owned())
}

#[tokio::test]
async fn named_hosts_are_reached_and_no_others() {
    let (welcome, go_away) = (Site::open("welcome"), Site::open("go away"));
    let (open, closed) = (welcome.port(), go_away.port());
    let policy = NetworkPolicy {
        allow_hosts: vec![format!("localhost:{open}"), "open.example".to_owned()],
        allow_private: vec![format!("127.0.0.1:{open}")],
        ..NetworkPolicy::default()
    };
    let sandbox = sandbox_with(|options| options.network = CellNetwork::Proxy(policy)).await;
    let get = |host: &str| format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let tunnel = |host: &str| format!("CONNECT {host} HTTP/1.1\r\n\r\n");
    let (first, last) = ask(&sandbox, &get(&format!("localhost:{open}"))).await;
    assert_eq!((first.as_str(), last.as_str()), ("HTTP/1.1 200 OK", "welcome"));
    let (first, _) = ask(&sandbox, &tunnel(&format!("127.0.0.1:{open}"))).await;
    assert_eq!(first, "HTTP/1.1 200 Connection Established");
    assert!(welcome.visits() >= 1);
    for host in [
        format!("localhost:{closed}"),
        format!("127.0.0.1:{closed}"),
        format!("[::1]:{open}"),
        "169.254.169.254:80".to_owned(),
        "10.0.0.1:80".to_owned(),
        "example.com:443".to_owned(),
        "1.1.1.1:443".to_owned(),
        format!("0.0.0.0:{open}"),
    ] {
        for request in [get(&host), tunnel(&host)] {
            let (first, last) = ask(&sandbox, &request).await;
            assert_eq!(first, "HTTP/1.1 403 Forbidden", "{request}");
            assert!(last.contains("not on the list of opened hosts"), "{last}");
        }
    }
    let (first, _) = ask(&sandbox, "GET / HTTP/1.1\r\n\r\n").await;
    assert_eq!(first, "HTTP/1.1 400 Bad Request");
    assert_eq!(go_away.visits(), 0);
    // Without the proxy there is still nothing.
    let direct = format!("import socket; socket.create_connection(('127.0.0.1', {open}), 1)");
    assert_eq!(sandbox.python(&direct).await["error_name"], "ConnectionRefusedError");
    assert_eq!(sandbox.out("echo $https_proxy $no_proxy").await, "http://127.0.0.1:3128 localhost,127.0.0.1,::1");
    assert_eq!(sandbox.out("curl -s http://127.0.0.1:8123/health | head -c 9").await, "{\"status\"");
}

/// No profile, no way out: not even a proxy that says no.
#[tokio::test]
async fn by_default_there_is_no_way_out() {
    for network in [CellNetwork::None, CellNetwork::Proxy(NetworkPolicy::default())] {
        let closed = sandbox_with(|options| options.network = network).await;
        assert_eq!(closed.out("echo \"$http_proxy\"; ls -A /run").await, "");
        let knock = "import socket; socket.create_connection(('127.0.0.1', 3128), 1)";
        assert_eq!(closed.python(knock).await["error_name"], "ConnectionRefusedError");
    }
}
