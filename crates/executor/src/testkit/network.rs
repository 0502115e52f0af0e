//! What a network policy opens, and what it leaves closed, with a real server on this machine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cove_core::{NetworkPolicy, RunRequest, SessionOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Suite;

/// A server that counts who comes.
struct Site {
    address: SocketAddr,
    visits: Arc<AtomicUsize>,
}

impl Suite {
    /// A policy opens the hosts and addresses that it names; redirects, other names and other ports lead nowhere else.
    pub fn a_policy_opens_what_it_names(&self) {
        self.runtime.block_on(async {
            let (site, other) = (Site::open().await, Site::open().await);
            let (here, there) = (site.address, other.address);
            let named = here.to_string();
            let in_js = format!(
                "const read = async (url, init) => {{ try {{ const r = await fetch(url, init);
                   return [r.status, await r.text()] }} catch (e) {{ return e.name }} }};
                 const at = 'http://{here}';
                 return [
                   await read(at + '/'), await read(at + '/', {{ method: 'POST', body: 'hi' }}),
                   await read(at + '/to?/'), await read(at + '/to?http://{there}/'),
                   await read(at + '/to?/', {{ redirect: 'error' }}),
                   await read('http://{there}/'), await read('http://localhost:{port}/'), await read('http://[::1]:{port}/'),
                   await read('http://169.254.169.254/'), await read('ftp://{here}/'), await read('http://{here}:1/'),
                   (await fetch(at + '/json')).ok, await (await fetch(at + '/json')).json(),
                   (await fetch(at + '/json')).headers.get('content-type'), (await (await fetch(at + '/')).arrayBuffer()).byteLength,
                 ]",
                port = here.port(),
            );
            let answer = self.with_network(&[&named], &[&named], &in_js).await;
            let expected = json!([
                [200, "GET "], [200, "POST hi"], [200, "GET "], "TypeError", "TypeError", "TypeError", "TypeError",
                "TypeError", "TypeError", "TypeError", "TypeError", true, { "a": [1] }, "application/json", 4
            ]);
            // A browser shows some refusals of its proxy as an answer of that proxy's, without what the site would say.
            let expected = expected.as_array().cloned().unwrap_or_default();
            for (index, (seen, wanted)) in answer.as_array().into_iter().flatten().zip(&expected).enumerate() {
                let refused = wanted == "TypeError" && seen.get(0).and_then(Value::as_u64) >= Some(400);
                assert!(seen == wanted || refused, "{index}: {seen}, not {wanted}, in {answer}");
            }
            assert_eq!(answer.as_array().map(Vec::len), Some(expected.len()), "{answer}");
            assert_eq!(other.visits.load(Ordering::SeqCst), 0, "a host that is not named was reached");

            // A name that leads home is closed by its address, unless that is named as well.
            let before = site.visits.load(Ordering::SeqCst);
            let by_name = format!("return await fetch('http://localhost:{}/').then((r) => r.text(), () => '')", here.port());
            let answer = self.with_network(&["localhost"], &[], &by_name).await;
            assert!(answer != "GET " && site.visits.load(Ordering::SeqCst) == before, "{answer}");
            let answer = self.with_network(&["localhost"], &["127.0.0.1"], &by_name).await;
            assert_eq!(answer, "GET ");
            let answer = self.with_network(&[], &[], &by_name).await;
            assert_eq!(answer, "");
        });
    }

    async fn with_network(&self, hosts: &[&str], private: &[&str], code: &str) -> Value {
        let all = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect();
        let network =
            NetworkPolicy { allow_hosts: all(hosts), allow_private: all(private), ..NetworkPolicy::default() };
        let opened = self.engine.open(SessionOptions { network, ..SessionOptions::one_shot() }).await;
        let mut session = opened.unwrap_or_else(|error| panic!("no session: {error}"));
        let report = session.run(&RunRequest { timeout_ms: 60_000, ..RunRequest::new(code) }).await;
        report.result.unwrap_or_else(|fault| panic!("{code}: {}", fault.message)).value
    }
}

impl Site {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let visits = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&visits);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&count)));
            }
        });
        Self { address, visits }
    }
}

/// `/to?PLACE` sends away, `/json` says some, everything else says the method and the body of the request.
async fn serve(mut stream: TcpStream, visits: Arc<AtomicUsize>) -> Option<()> {
    let mut bytes = Vec::new();
    let (head, mut body) = loop {
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let body = bytes.split_off(at + 4);
            break (String::from_utf8(bytes).ok()?.to_ascii_lowercase(), body);
        }
    };
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
    while body.len() < length.unwrap_or(0) {
        (stream.read_buf(&mut body).await.ok()? > 0).then_some(())?;
    }
    visits.fetch_add(1, Ordering::SeqCst);
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_ascii_uppercase(), words.next()?);
    let (status, more, body) = match path.split_once('?') {
        Some(("/to", place)) => ("302 Found", format!("Location: {place}\r\n"), String::new()),
        _ if path == "/json" => ("200 OK", "Content-Type: application/json\r\n".to_owned(), "{\"a\":[1]}".to_owned()),
        _ => ("200 OK", String::new(), format!("{method} {}", String::from_utf8_lossy(&body))),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\n{more}Access-Control-Allow-Origin: *\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}
