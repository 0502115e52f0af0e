//! A guest's way to Bay itself: closed, whatever its profile opens; and a way that was missed is a stranger's, not that of
//! somebody on this machine.

use serde_json::{Value, json};

use crate::{Ground, Served};

/// A profile that opens all of this machine, for every runtime; and callers on it need no key.
const OPEN: &str = "  allow_anonymous: true
warm_pool: {enabled: false}
profiles:
  - id: open
    network:
      allow_hosts: [localhost, 127.0.0.1, 127.0.0.2, 0.0.0.0, '::1', '127.1', '2130706433', '0x7f000001']
      allow_private: [127.0.0.1, 127.0.0.2, 0.0.0.0, '::1', '::', '::ffff:127.0.0.1']
    containers: [{name: ship}, {name: gull}]
";

/// What a guest does with its proxy, by hand: a request through it, or anything at all through a tunnel.
const GUEST: &str = r#"
import os, socket, urllib.parse, json, sys
proxy = urllib.parse.urlparse(os.environ["http_proxy"])
def lines(data):
    try:
        s = socket.create_connection((proxy.hostname, proxy.port), 20)
        s.settimeout(20)
        first = None
        for piece in data:
            s.sendall(piece.encode())
            got = b""
            while b"\r\n\r\n" not in got:
                more = s.recv(65536)
                if not more: break
                got += more
            first = got.split(b"\r\n")[0].decode()
            if " 200" not in first: return first
        return first
    except OSError as error:
        return repr(error)
tries, path = json.loads(sys.argv[1]), sys.argv[2]
said = {}
for place in tries:
    host = place.rsplit(":", 1)[0]
    said["GET " + place] = lines([f"GET http://{place}{path} HTTP/1.1\r\nHost: localhost\r\n\r\n"])
    said["1.0 " + place] = lines([f"GET http://{place}{path} HTTP/1.0\r\n\r\n"])
    for name, request in {
        "1.1": f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "1.0": f"GET {path} HTTP/1.0\r\n\r\n",
        "1.0 host": f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n",
        "absolute": f"GET http://localhost{path} HTTP/1.1\r\nHost: localhost\r\n\r\n",
    }.items():
        said[f"tunnel {name} {place}"] = lines([f"CONNECT {place} HTTP/1.1\r\n\r\n", request])
print(json.dumps(said))
"#;

fn port(served: &Served) -> u16 {
    served.url.rsplit(':').next().unwrap().parse().unwrap()
}

/// What each try of a guest's was answered, from each name of this machine.
async fn tried(served: &Served, id: &str, hosts: &[&str], port: u16) -> Vec<(String, String)> {
    let places: Vec<String> = hosts.iter().map(|host| format!("{host}:{port}")).collect();
    let write = json!({ "path": "guest.py", "content": GUEST });
    let (status, body) = served.ask("PUT", &format!("/v1/sandboxes/{id}/filesystem/files"), write).await;
    assert_eq!(status, 200, "{body}");
    let command = format!("python3 guest.py '{}' /v1/profiles", serde_json::to_string(&places).unwrap());
    let said: Value = serde_json::from_str(&served.shell(id, &command).await).unwrap();
    let said = said.as_object().unwrap().iter();
    said.map(|(name, line)| (name.clone(), line.as_str().unwrap_or_default().to_owned())).collect()
}

async fn javascript(served: &Served, id: &str, url: &str) -> String {
    let code = format!("try {{ return String((await fetch('{url}')).status) }} catch (e) {{ return String(e) }}");
    let body = json!({ "code": code, "engine": "embedded" });
    let (status, body) = served.ask("POST", &format!("/v1/sandboxes/{id}/javascript/exec"), body).await;
    assert_eq!(status, 200, "{body}");
    body["data"]["result"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
}

async fn browser(served: &Served, id: &str, url: &str) -> String {
    let body = json!({ "commands": [format!("open {url}"), "get text body"], "stop_on_error": false, "timeout": 120 });
    let (status, body) = served.ask("POST", &format!("/v1/sandboxes/{id}/browser/exec_batch"), body).await;
    assert_eq!(status, 200, "{body}");
    body.to_string()
}

#[tokio::test]
async fn no_guest_reaches_bay_through_its_own_network() {
    let ground = Ground::new(OPEN);
    let served = ground.serve("data", &[]);
    let own = port(&served);
    // The premise: who is on this machine needs no key.
    let anonymous = served.http.get(format!("{}/v1/profiles", served.url)).send().await.unwrap();
    assert_eq!(anonymous.status(), 200);
    let id = served.create("open").await;

    // And the profile does open this machine: another server on it is reached, as a guest.
    let site = cove_testkit::Site::open("hello");
    let address = site.address();
    for (name, line) in tried(&served, &id, &["127.0.0.1", "localhost"], address.port()).await {
        assert!(line.contains(" 200"), "{name}: {line}");
    }
    assert_eq!(javascript(&served, &id, &format!("http://{address}/")).await, "200");
    assert!(browser(&served, &id, &format!("http://{address}/")).await.contains("hello"));
    for peer in site.visitors() {
        assert!(cove_network::is_guest(peer), "{peer} is not marked");
    }

    // Bay is not, by any name of the machine, by any runtime.
    let hosts = [
        "127.0.0.1",
        "127.0.0.2",
        "localhost",
        "LOCALHOST",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "127.1",
        "2130706433",
        "0x7f000001",
    ];
    let answers = tried(&served, &id, &hosts, own).await;
    assert_eq!(answers.len(), hosts.len() * 6);
    for (name, line) in answers {
        assert!(line.contains(" 403 "), "{name}: {line}");
    }
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1"] {
        let url = format!("http://{host}:{own}/v1/profiles");
        let said = javascript(&served, &id, &url).await;
        // An IPv4 address written as IPv6 is not what the profile has named, either.
        let refused = ["Cove's own address", "is not on the list"];
        assert!(refused.iter().any(|why| said.contains(why)), "{url}: {said}");
    }
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let said = browser(&served, &id, &format!("http://{host}:{own}/v1/profiles")).await;
        assert!(said.contains("Cove's own address") && !said.contains("python-default"), "{host}: {said}");
    }
    served.close();
}

/// A Bay with other records, of which the first knows nothing: guests of the first get there, and are strangers.
#[tokio::test]
async fn a_guest_that_reaches_another_bay_is_a_stranger_there() {
    let (ground, other_ground) = (Ground::new(OPEN), Ground::new(OPEN));
    let served = ground.serve("data", &[]);
    for host in ["127.0.0.1", "::1"] {
        let other = other_ground.serve("data", &["--host", host]);
        let there = port(&other);
        let anonymous = other.http.get(format!("{}/v1/profiles", other.url)).send().await.unwrap();
        assert_eq!(anonymous.status(), 200, "{host}");
        let id = served.create("open").await;
        let name = if host == "::1" { "[::1]" } else { host };
        for (name, line) in tried(&served, &id, &[name], there).await {
            assert!(line.contains(" 401 ") || line.contains(" 400 "), "{name}: {line}");
        }
        let url = format!("http://{name}:{there}");
        for path in ["/v1/profiles", "/metrics"] {
            assert_eq!(javascript(&served, &id, &format!("{url}{path}")).await, "401", "{url}{path}");
        }
        let said = browser(&served, &id, &format!("{url}/v1/profiles")).await;
        assert!(said.contains("unauthorized") && !said.contains("python-default"), "{said}");
        other.close();
    }
    served.close();
}
