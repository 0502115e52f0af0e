//! Ports of sandboxes over HTTP: real programs in real cells, callers with a key, visitors with a link, and guests that do
//! not play by the rules.

use std::time::{Duration, Instant};

use cove_api::EventKind;
use cove_testkit::until;
use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::several::two_bays;
use crate::{Ground, KEY, OTHER, PATIENCE, Served};

const GUEST: &str = include_str!("guest.py");

/// A sandbox with the guest's server on port 3000.
async fn guest(served: &Served) -> String {
    let id = served.create("python-default").await;
    let file = json!({ "path": "guest.py", "content": GUEST });
    assert_eq!(served.ask("PUT", &format!("/v1/sandboxes/{id}/filesystem/files"), file).await.0, 200);
    start(served, &id, 3000).await;
    id
}

async fn start(served: &Served, id: &str, port: u16) {
    served.shell(id, &format!("nohup python3 guest.py {port} > log-{port} 2>&1 & true")).await;
    until("it listens", || async { listed(served, id).await.contains(&port) }).await;
}

async fn listed(served: &Served, id: &str) -> Vec<u16> {
    let (status, body) = served.ask("GET", &format!("/v1/sandboxes/{id}/ports"), Value::Null).await;
    assert_eq!(status, 200, "{body}");
    body["items"].as_array().unwrap().iter().map(|one| one["port"].as_u64().unwrap() as u16).collect()
}

fn place(served: &Served) -> &str {
    served.url.trim_start_matches("http://")
}

fn host(served: &Served, id: &str, port: u16) -> String {
    format!("{port}-{id}.localhost:{}", served.url.rsplit_once(':').unwrap().1)
}

/// A request on a port's own origin, from nobody yet.
fn own(served: &Served, id: &str, port: u16, method: &str, path: &str) -> RequestBuilder {
    named(served, &host(served, id, port), method, path)
}

/// A request to whatever host.
fn named(served: &Served, host: &str, method: &str, path: &str) -> RequestBuilder {
    let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE);
    let http = http.redirect(reqwest::redirect::Policy::none()).build().unwrap();
    http.request(method.parse().unwrap(), format!("{}{path}", served.url)).header("host", host)
}

async fn link(served: &Served, id: &str, port: u16, seconds: u32) -> Value {
    let wish = json!({ "port": port, "seconds": seconds });
    let (status, made) = served.ask("POST", &format!("/v1/sandboxes/{id}/port_links"), wish).await;
    assert_eq!(status, 201, "{made}");
    let url = made["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("http://{}/__cove/open/", host(served, id, port))), "{url}");
    made
}

fn path_of(link: &Value) -> &str {
    let url = link["url"].as_str().unwrap();
    &url[url.find("/__cove/").unwrap()..]
}

/// Opens a link, as a browser does; the cookie that it gives.
async fn visit(served: &Served, id: &str, port: u16, link: &Value) -> String {
    let opened = own(served, id, port, "GET", path_of(link)).send().await.unwrap();
    assert_eq!((opened.status().as_u16(), opened.headers()["location"].to_str().unwrap()), (303, "/"));
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.to_lowercase().contains("domain"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

async fn refused(response: Response, status: u16, code: &str) {
    let got = response.status().as_u16();
    let body: Value = response.json().await.unwrap_or_default();
    assert_eq!((got, body["error"]["code"].as_str().unwrap_or_default()), (status, code), "{body}");
}

/// A caller with a key: the program's own words, and nothing of ours to it or of it to us.
#[tokio::test]
async fn with_a_key_a_program_is_asked_as_if_it_were_here() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = guest(&served).await;
    let at = |path: &str| format!("/v1/sandboxes/{id}/ports/3000{path}");
    let echo = served.request(KEY, "POST", &at("/echo/a%2Fb//c?x=1&y=%20")).header("x-own", "kept");
    let echo = echo.header("cookie", "a=b").header("x-cove-page", "1").body("the body").send().await.unwrap();
    let headers = echo.headers().clone();
    assert_eq!(echo.status(), 200);
    let said = echo.text().await.unwrap();
    let lower = said.to_lowercase();
    assert!(
        said.starts_with("POST /echo/a%2Fb//c?x=1&y=%20 HTTP/1.1\r\n") && said.ends_with("\r\n\r\nthe body"),
        "{said}"
    );
    assert!(lower.contains("host: localhost:3000\r\n") && lower.contains("x-own: kept\r\n"), "{said}");
    assert!(lower.contains(&format!("x-forwarded-prefix: {}\r\n", at(""))), "{said}");
    for secret in [KEY, "authorization", "cookie", "x-cove"] {
        assert!(!lower.contains(secret), "{secret}: {said}");
    }
    for name in ["set-cookie", "clear-site-data", "x-mine", "alt-svc"] {
        assert!(!headers.contains_key(name), "{name}: {headers:?}");
    }
    assert!(headers["x-kept"] == "1" && headers["x-content-type-options"] == "nosniff");
    assert_eq!(headers["content-security-policy"], "sandbox; default-src 'none'");
    // A body without a length, and one of many megabytes: neither is kept anywhere.
    let pieces = futures_util::stream::iter(["a", "b"].map(Ok::<_, std::io::Error>));
    let chunked = served.request(KEY, "POST", &at("/echo")).body(reqwest::Body::wrap_stream(pieces));
    assert!(chunked.send().await.unwrap().text().await.unwrap().ends_with("\r\n\r\nab"));
    let large = served.request(KEY, "POST", &at("/size")).body(vec![0; 40 << 20]).send().await.unwrap();
    assert_eq!(large.text().await.unwrap(), (40 << 20).to_string());
    // A stream, as it is written.
    let mut events = served.request(KEY, "GET", &at("/sse")).send().await.unwrap();
    let mut heard = String::new();
    while !heard.contains("data: 2") {
        heard.push_str(&String::from_utf8_lossy(&events.chunk().await.unwrap().unwrap()));
    }
    drop(events);
    let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let moved = http.get(format!("{}{}", served.url, at("/moved"))).bearer_auth(KEY).send().await.unwrap();
    assert_eq!((moved.status().as_u16(), moved.headers()["location"].to_str().unwrap()), (302, at("/echo").as_str()));
    // A WebSocket.
    let mut socket = open(&served, &at("/ws"), None).await.unwrap();
    socket.send(Message::text("hello")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hello"));
    drop(socket);

    // Whose it is not, what is closed, and what no browser may show as ours.
    refused(served.request("wrong", "GET", &at("/echo")).send().await.unwrap(), 401, "unauthorized").await;
    refused(served.request(OTHER, "GET", &at("/echo")).send().await.unwrap(), 404, "not_found").await;
    let closed = format!("/v1/sandboxes/{id}/ports/3999/");
    refused(served.request(KEY, "GET", &closed).send().await.unwrap(), 502, "port_closed").await;
    for port in ["0", "8123"] {
        let path = format!("/v1/sandboxes/{id}/ports/{port}/");
        refused(served.request(KEY, "GET", &path).send().await.unwrap(), 502, "port_closed").await;
    }
    for kind in ["document", "iframe", "script", "image"] {
        let shown = served.request(KEY, "GET", &at("/echo")).header("sec-fetch-dest", kind);
        refused(shown.send().await.unwrap(), 403, "forbidden").await;
    }
    refused(served.request(KEY, "TRACE", &at("/echo")).send().await.unwrap(), 405, "validation_error").await;
    let asleep = served.create("python-default").await;
    let path = format!("/v1/sandboxes/{asleep}/ports/3000/");
    refused(served.request(KEY, "GET", &path).send().await.unwrap(), 502, "port_closed").await;
    let (_, still) = served.ask("GET", &format!("/v1/sandboxes/{asleep}"), Value::Null).await;
    assert_eq!(still["status"], "idle", "nothing was started");
    served.close();
}

/// Opens a WebSocket at a path of ours, or of a port's own origin.
async fn open(
    served: &Served,
    path: &str,
    visitor: Option<(&str, &str, &str)>,
) -> Result<WebSocketStream<TcpStream>, u16> {
    let mut request = format!("ws://{}{path}", place(served)).into_client_request().unwrap();
    let headers = request.headers_mut();
    match visitor {
        None => drop(headers.insert("authorization", format!("Bearer {KEY}").parse().unwrap())),
        Some((host, cookie, origin)) => {
            headers.insert("host", host.parse().unwrap());
            headers.insert("cookie", cookie.parse().unwrap());
            headers.insert("origin", origin.parse().unwrap());
        }
    }
    let stream = TcpStream::connect(place(served)).await.unwrap();
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

/// Visitors come by a link, to one port, until it ends; their browser speaks for nobody else.
#[tokio::test]
async fn a_link_opens_one_port_until_it_ends() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = guest(&served).await;
    start(&served, &id, 3001).await;
    let made = link(&served, &id, 3000, 600).await;
    let get =
        |port: u16, path: &str, cookie: &str| own(&served, &id, port, "GET", path).header("cookie", cookie.to_owned());
    refused(own(&served, &id, 3000, "GET", "/echo").send().await.unwrap(), 401, "unauthorized").await;
    let cookie = visit(&served, &id, 3000, &made).await;

    let echo = get(3000, "/echo?x", &format!("mine=1; {cookie}; cove-session-1=secret")).send().await.unwrap();
    let headers = echo.headers().clone();
    let said = echo.text().await.unwrap();
    assert!(
        said.starts_with("GET /echo?x HTTP/1.1\r\n") && said.to_lowercase().contains("\r\ncookie: mine=1\r\n"),
        "{said}"
    );
    assert!(said.contains(&format!("ost: {}\r\n", host(&served, &id, 3000))), "{said}");
    assert!(!said.contains(cookie.split_once('=').unwrap().1) && !said.contains("secret"), "{said}");
    let set: Vec<_> = headers.get_all("set-cookie").iter().collect();
    assert_eq!(set, ["a=1; Path=/"], "for this host alone, and none of ours");
    for name in ["clear-site-data", "alt-svc", "content-security-policy", "x-content-type-options", "x-mine"] {
        assert!(!headers.contains_key(name), "{name}: {headers:?}");
    }
    // Nothing of ours is on that origin, and no other port opens with the cookie.
    for path in ["/v1/sandboxes", "/page/session", "/docs", "/health", "/mcp", "/metrics"] {
        assert_eq!(get(3000, path, &cookie).send().await.unwrap().status(), 404, "{path} is the program's");
    }
    refused(get(3000, "/__cove/other", &cookie).send().await.unwrap(), 404, "not_found").await;
    refused(get(3001, "/echo", &cookie).send().await.unwrap(), 404, "not_found").await;
    refused(own(&served, &id, 3001, "GET", path_of(&made)).send().await.unwrap(), 404, "not_found").await;
    let other = served.create("python-default").await;
    refused(own(&served, &other, 3000, "GET", path_of(&made)).send().await.unwrap(), 404, "not_found").await;
    refused(get(3000, "/echo", "cove-port=0123456789abcdef").send().await.unwrap(), 404, "not_found").await;
    // The cookie is no key of ours, on no host.
    let api = served.http.get(format!("{}/v1/sandboxes", served.url)).header("cookie", &cookie);
    refused(api.send().await.unwrap(), 401, "unauthorized").await;
    // A key opens it as well, and is not told.
    let keyed = own(&served, &id, 3000, "GET", "/echo").bearer_auth(KEY).send().await.unwrap();
    assert!(!keyed.text().await.unwrap().contains(KEY));
    refused(own(&served, &id, 3000, "GET", "/echo").bearer_auth(OTHER).send().await.unwrap(), 404, "not_found").await;

    // What another site asks a visitor's browser for, but for a plain visit.
    let from = |lines: &[(&'static str, &'static str)]| {
        lines.iter().fold(get(3000, "/echo", &cookie), |request, (name, value)| request.header(*name, *value))
    };
    for lines in [
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors")][..],
        &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")],
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")],
        &[("origin", "http://evil.example")],
    ] {
        refused(from(lines).send().await.unwrap(), 403, "forbidden").await;
    }
    let visit_of = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    assert_eq!(from(&visit_of).send().await.unwrap().status(), 200);
    let (name, here) = (host(&served, &id, 3000), format!("http://{}", host(&served, &id, 3000)));
    let mut socket = open(&served, "/ws", Some((&name, &cookie, &here))).await.unwrap();
    socket.send(Message::text("x")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("x"));
    assert_eq!(open(&served, "/ws", Some((&name, &cookie, "http://evil.example"))).await.err(), Some(403));
    assert_eq!(open(&served, "/ws", Some((&name, "a=b", &here))).await.err(), Some(401));

    // Revoked: as if it had never been. Expired: gone.
    let gone = format!("/v1/sandboxes/{id}/port_links/{}", made["id"].as_str().unwrap());
    assert_eq!(served.ask("DELETE", &gone, Value::Null).await.0, 204);
    refused(get(3000, "/echo", &cookie).send().await.unwrap(), 404, "not_found").await;
    refused(own(&served, &id, 3000, "GET", path_of(&made)).send().await.unwrap(), 404, "not_found").await;
    let short = link(&served, &id, 3000, 1).await;
    let cookie = visit(&served, &id, 3000, &short).await;
    until("it has expired", || async { get(3000, "/echo", &cookie).send().await.unwrap().status() == 410 }).await;
    refused(get(3000, "/echo", &cookie).send().await.unwrap(), 410, "link_expired").await;
    refused(own(&served, &id, 3000, "GET", path_of(&short)).send().await.unwrap(), 410, "link_expired").await;
    // Names that only look like a port's.
    for wrong in [format!("0-{id}.localhost"), "3000-sandbox-1.localhost".to_owned(), format!("99999-{id}.localhost")] {
        let asked = served.http.get(format!("{}/v1/profiles", served.url)).header("host", wrong).bearer_auth(KEY);
        refused(asked.send().await.unwrap(), 404, "not_found").await;
    }
    // With the sandbox its links are gone.
    let last = link(&served, &id, 3000, 600).await;
    assert_eq!(served.ask("DELETE", &format!("/v1/sandboxes/{id}"), Value::Null).await.0, 204);
    refused(own(&served, &id, 3000, "GET", path_of(&last)).send().await.unwrap(), 404, "not_found").await;
    served.close();
}

/// Guests that break every rule: each is told as what it is, and the server goes on.
#[tokio::test]
async fn no_guest_holds_or_confuses_the_server() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = guest(&served).await;
    let at = |path: &str| format!("/v1/sandboxes/{id}/ports/3000{path}");
    for path in ["/huge", "/many", "/junk", "/two", "/upgraded"] {
        refused(served.request(KEY, "GET", &at(path)).send().await.unwrap(), 502, "port_closed").await;
    }
    // A line that ends as it should not is a line of the guest's own, and is treated as all of them are.
    let split = served.request(KEY, "GET", &at("/split")).send().await.unwrap();
    assert!(split.headers()["x-a"] == "b" && !split.headers().contains_key("set-cookie"), "{split:?}");
    let short = served.request(KEY, "GET", &at("/short")).send().await.unwrap();
    assert!(short.bytes().await.is_err(), "what broke off is not taken for whole");
    // What follows an answer is nobody's.
    for _ in 0..2 {
        assert_eq!(served.request(KEY, "GET", &at("/more")).send().await.unwrap().text().await.unwrap(), "abc");
    }
    // Requests whose length can be read in two ways, and a second one behind: none reaches the program as two.
    for head in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /echo HTTP/1.1\r\n\r\n",
        "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Host: other\r\n\r\n",
    ] {
        let mut line = TcpStream::connect(place(&served)).await.unwrap();
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n{head}",
            at("/echo")
        );
        line.write_all(request.as_bytes()).await.unwrap();
        let mut said = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, line.read_to_end(&mut said)).await.unwrap();
        let said = String::from_utf8_lossy(&said);
        assert!(said.matches("HTTP/1.1 200").count() <= 1, "{head:?}: {said}");
        assert!(!said.contains("0\r\n\r\nGET"), "{head:?}: {said}");
    }
    let upgrade = served.request(KEY, "GET", &at("/echo")).header("connection", "Upgrade, HTTP2-Settings");
    let upgrade = upgrade.header("upgrade", "h2c").header("http2-settings", "AAMAAABkAAQAAP__").send().await.unwrap();
    let said = upgrade.text().await.unwrap().to_lowercase();
    assert!(!said.contains("upgrade") && !said.contains("http2"), "{said}");

    // Endless, and nobody reads it; silent for ever; frozen. When the caller goes, all of it ends inside.
    let connections = "python3 -c \"print(sum(l.split()[3]=='01' and l.split()[1].endswith(':0BB8') for l in open('/proc/net/tcp')))\"";
    let mut kept = Vec::new();
    for path in ["/endless", "/silent", "/endless"] {
        let mut line = TcpStream::connect(place(&served)).await.unwrap();
        let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\n\r\n", at(path));
        line.write_all(request.as_bytes()).await.unwrap();
        kept.push(line);
    }
    until("all three are there", || async { served.shell(&id, connections).await == "3" }).await;
    drop(kept);
    until("none is left", || async { served.shell(&id, connections).await == "0" }).await;
    served.shell(&id, "pkill -STOP -f '[g]uest.py'").await;
    let impatient = reqwest::Client::builder().no_proxy().timeout(Duration::from_millis(500)).build().unwrap();
    let frozen = impatient.get(format!("{}{}", served.url, at("/echo"))).bearer_auth(KEY).send().await;
    assert!(frozen.unwrap_err().is_timeout());
    assert_eq!(served.ask("GET", "/v1/profiles", Value::Null).await.0, 200);
    served.shell(&id, "pkill -CONT -f '[g]uest.py'").await;
    assert_eq!(served.request(KEY, "GET", &at("/echo")).send().await.unwrap().status(), 200);
    // A stream does not keep the server from ending.
    let _events = served.request(KEY, "GET", &at("/sse")).send().await.unwrap();
    served.close();
}

/// Whoever follows a sandbox hears of its ports, and a guest knows where it is reached.
#[tokio::test]
async fn ports_are_told_as_they_open() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    let bay = cove_client::Client::new(&served.url, Some(KEY)).unwrap();
    let mut events = bay.events(&id, None).await.unwrap();
    let mut told = async || loop {
        let event = tokio::time::timeout(PATIENCE, events.next()).await.unwrap().unwrap().unwrap();
        if event.kind == EventKind::Ports {
            return event.data["ports"].clone();
        }
    };
    let template = served.shell(&id, "echo $COVE_URL_TEMPLATE").await;
    assert_eq!(template, format!("http://{{port}}-{id}.localhost:{}/", served.url.rsplit_once(':').unwrap().1));
    let server = "import socket,time; s=socket.create_server(('127.0.0.1',3000)); open('at','w').write(str(time.time())); time.sleep(600)";
    served.shell(&id, &format!("nohup python3 -c \"{server}\" >/dev/null 2>&1 & true")).await;
    let ports = told().await;
    let heard = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let url = template.replace("{port}", "3000");
    assert_eq!(ports, json!([{ "port": 3000, "addresses": ["127.0.0.1"], "url": url }]));
    let began: f64 = served.shell(&id, "cat at").await.parse().unwrap();
    assert!(heard - began < 1.0, "it was heard {} s after it had begun to listen", heard - began);
    served.shell(&id, "pkill -f '[c]reate_server'").await;
    assert_eq!(told().await, json!([]));
    // Again in a session of its own: the end of one is the end of its ports.
    served.shell(&id, &format!("nohup python3 -c \"{server}\" >/dev/null 2>&1 & true")).await;
    assert_eq!(told().await[0]["port"], 3000);
    let asked = Instant::now();
    assert_eq!(served.ask("POST", &format!("/v1/sandboxes/{id}/stop"), Value::Null).await.0, 200);
    assert_eq!(told().await, json!([]));
    assert!(asked.elapsed() < PATIENCE && listed(&served, &id).await.is_empty());
    served.close();
}

/// A connection to a port keeps its session, unless the profile says that it does not.
#[tokio::test]
async fn a_connection_counts_as_use_where_that_is_said() {
    let profile = |id: &str, awake: bool| {
        format!(
            "  - {{ id: {id}, runtime_type: ship, capabilities: [python, shell, filesystem], idle_timeout: 2, ports_keep_awake: {awake} }}\n"
        )
    };
    let ground = Ground::new(&format!(
        "gc: {{interval_seconds: 1}}\nprofiles:\n{}{}",
        profile("awake", true),
        profile("asleep", false)
    ));
    let served = ground.serve("data", &[]);
    let lives = async |profile: &str| {
        let id = served.create(profile).await;
        let file = json!({ "path": "guest.py", "content": GUEST });
        assert_eq!(served.ask("PUT", &format!("/v1/sandboxes/{id}/filesystem/files"), file).await.0, 200);
        served.shell(&id, "nohup python3 guest.py 3000 >/dev/null 2>&1 & true").await;
        // Bytes all the time, for longer than a session may be idle.
        let endless = async {
            let mut socket = loop {
                match open(&served, &format!("/v1/sandboxes/{id}/ports/3000/ws"), None).await {
                    Ok(socket) => break socket,
                    Err(status) => assert_eq!(status, 502),
                }
            };
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(5) {
                if socket.send(Message::text("x")).await.is_err() || !matches!(socket.next().await, Some(Ok(_))) {
                    return false;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            true
        };
        endless.await
    };
    let (awake, asleep) = tokio::join!(lives("awake"), lives("asleep"));
    assert_eq!((awake, asleep), (true, false));
    served.close();
}

/// Where several Bays share the records, each of them leads to a port.
#[tokio::test]
async fn a_port_is_reached_through_another_bay() {
    let (_postgres, _ground, a, b) = two_bays("");
    let id = guest(&a).await;
    let at = format!("/v1/sandboxes/{id}/ports/3000");
    let large = b.request(KEY, "POST", &format!("{at}/size")).body(vec![0; 20 << 20]).send().await.unwrap();
    assert_eq!(large.text().await.unwrap(), (20 << 20).to_string());
    let mut socket = open(&b, &format!("{at}/ws"), None).await.unwrap();
    socket.send(Message::text("through")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("through"));
    assert_eq!(listed(&b, &id).await, [3000]);
    // Its address is that of the Bay that made it; the link is good at each of them.
    let made = link(&a, &id, 3000, 600).await;
    let cookie = visit(&b, &id, 3000, &made).await;
    let echo = own(&b, &id, 3000, "POST", "/echo?x").header("cookie", format!("{cookie}; m=1")).body("b");
    let echo = echo.header("x-cove-port-host", "forged").send().await.unwrap();
    assert_eq!(echo.headers().get_all("set-cookie").iter().collect::<Vec<_>>(), ["a=1; Path=/"]);
    let said = echo.text().await.unwrap();
    assert!(said.starts_with("POST /echo?x HTTP/1.1") && said.to_lowercase().contains("cookie: m=1\r\n"), "{said}");
    assert!(said.contains(&host(&b, &id, 3000)) && said.ends_with("\r\n\r\nb"), "{said}");
    // What only Bays say means nothing from anybody else.
    let forged = b.request(KEY, "GET", "/v1/profiles").header("x-cove-port-host", host(&b, &id, 3000));
    assert_eq!(forged.send().await.unwrap().status(), 200);
    let name = host(&b, &id, 3000);
    let mut socket = open(&b, "/ws", Some((&name, &cookie, &format!("http://{name}")))).await.unwrap();
    socket.send(Message::text("own")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("own"));
    drop(socket);
    // A key is good at each of them, too, and no program sees it.
    let echo = own(&b, &id, 3000, "GET", "/echo").bearer_auth(KEY).send().await.unwrap();
    let said = echo.text().await.unwrap();
    assert!(said.starts_with("GET /echo HTTP/1.1") && !said.contains(KEY), "{said}");
    b.close();
    a.close();
}

/// A configured domain behind a proxy with TLS: links lead there, and its cookie is one for TLS alone.
#[tokio::test]
async fn ports_have_a_domain_that_is_configured() {
    let ground = Ground::new("server:\n  ports_url: 'https://{port}-{id}.ports.example.com/'");
    let served = ground.serve("data", &[]);
    let id = guest(&served).await;
    let name = format!("3000-{id}.ports.example.com");
    let (_, made) = served.ask("POST", &format!("/v1/sandboxes/{id}/port_links"), json!({ "port": 3000 })).await;
    assert!(made["url"].as_str().unwrap().starts_with(&format!("https://{name}/__cove/open/")), "{made}");
    let asked = |path: &str| named(&served, &name, "GET", path);
    let proxied = |path: &str| asked(path).header("x-forwarded-proto", "https").header("x-forwarded-for", "192.0.2.1");
    let opened = proxied(path_of(&made)).send().await.unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(opened.status() == 303 && cookie.ends_with("; Secure"), "{cookie}");
    let plain = asked(path_of(&made)).send().await.unwrap();
    assert!(!plain.headers()["set-cookie"].to_str().unwrap().contains("Secure"));
    let echo = proxied("/echo").header("cookie", cookie.split(';').next().unwrap()).send().await.unwrap();
    let said = echo.text().await.unwrap().to_lowercase();
    assert!(said.contains(&format!("host: {name}\r\n")) && said.contains("x-forwarded-proto: https\r\n"), "{said}");
    assert!(!said.contains("192.0.2.1") && !said.contains("cove-port"), "{said}");
    served.close();
}

/// E2B's clients have a token for the ports of their sandbox, and of no other.
#[tokio::test]
async fn a_sandboxs_own_token_opens_its_ports() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let create = async || {
        let (status, made) = served.ask("POST", "/e2b/sandboxes", json!({})).await;
        assert_eq!(status, 201, "{made}");
        made
    };
    let (made, other) = (create().await, create().await);
    let id = made["sandboxID"].as_str().unwrap();
    let file = json!({ "path": "guest.py", "content": GUEST });
    assert_eq!(served.ask("PUT", &format!("/v1/sandboxes/{id}/filesystem/files"), file).await.0, 200);
    start(&served, id, 3000).await;
    // As its client makes the name.
    let name = format!("3000-{id}.{}", made["domain"].as_str().unwrap());
    assert_eq!(name, host(&served, id, 3000));
    let asked = |token: &str| own(&served, id, 3000, "GET", "/echo").header("e2b-traffic-access-token", token);
    let token = made["trafficAccessToken"].as_str().unwrap();
    let said = asked(token).send().await.unwrap().text().await.unwrap();
    assert!(said.starts_with("GET /echo HTTP/1.1") && !said.contains(token), "{said}");
    for wrong in [other["trafficAccessToken"].as_str().unwrap(), "", "0"] {
        refused(asked(wrong).send().await.unwrap(), 401, "unauthorized").await;
    }
    let bare = own(&served, id, 3000, "GET", "/echo");
    refused(bare.send().await.unwrap(), 401, "unauthorized").await;
    served.close();
}
