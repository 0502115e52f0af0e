//! TLS, which the tests from outside cannot have: no certificate of theirs is trusted, and that is the point.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use cove_core::NetworkPolicy;

use super::*;

/// A server for `localhost` with a certificate of its own making.
async fn secure_site() -> (u16, CertificateDer<'static>) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret").await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (port, cert.der().clone())
}

fn fetcher(outside: Outside) -> Fetcher {
    let all = |entry: &str| vec![entry.to_owned()];
    let policy = NetworkPolicy {
        allow_hosts: vec!["localhost".into(), "127.0.0.1".into()],
        allow_private: all("127.0.0.1"),
        ..NetworkPolicy::default()
    };
    Fetcher::new(LiveNetwork::new(&policy), 256 << 20, &Arc::new(outside))
}

async fn get(fetcher: &Fetcher, url: String) -> Result<Value, String> {
    let ask = Ask::read(vec![json!({ "url": url, "method": "GET" })])?;
    fetcher.fetch(ask).await.map_err(|failed| failed.sentence)
}

#[tokio::test]
async fn a_certificate_is_checked_and_belongs_to_its_name() {
    let (port, certificate) = secure_site().await;
    let trusting = fetcher(Outside { tls: tls::Client::trusting(certificate), ..Outside::default() });
    let answer = get(&trusting, format!("https://localhost:{port}/")).await.unwrap();
    assert_eq!(answer["body"], bytes_to_json(b"secret"));
    // The same server under another name, and to somebody who knows none of its certificates.
    let other = get(&trusting, format!("https://127.0.0.1:{port}/")).await.unwrap_err();
    assert!(other.starts_with("no secure connection to 127.0.0.1: invalid peer certificate"), "{other}");
    let stranger = get(&fetcher(Outside::default()), format!("https://localhost:{port}/")).await.unwrap_err();
    assert!(stranger.starts_with("no secure connection to localhost: invalid peer certificate"), "{stranger}");
}

/// What a child may send that no honest world does.
#[tokio::test]
async fn a_request_that_no_world_writes_is_refused() {
    let fetcher = fetcher(Outside::default());
    let check = async |request: Value, word: &str| {
        let said = match Ask::read(vec![request.clone()]) {
            Ok(ask) => fetcher.fetch(ask).await.unwrap_err().sentence,
            Err(said) => said,
        };
        assert!(said.contains(word), "{request}: {said}");
    };
    check(json!(null), "cannot be read").await;
    check(json!({"url": 1, "method": "GET"}), "cannot be read").await;
    check(json!({"url": "http://localhost/", "method": "GET\r\nX: y"}), "cannot be used").await;
    check(json!({"url": "http://localhost/", "method": "connect"}), "cannot be used").await;
    check(json!({"url": "http://localhost/", "method": "GET", "headers": [["a\r\nb", "c"]]}), "not a header name")
        .await;
    check(json!({"url": "http://localhost/", "method": "GET", "headers": [["a", "b\r\nc: d"]]}), "cannot be sent")
        .await;
    check(json!({"url": "http://localhost/", "method": "GET", "headers": [["a", "x".repeat(70_000)]]}), "more than")
        .await;
    check(json!({"url": "http://localhost/", "method": "POST", "body": "text"}), "not bytes").await;
    check(json!({"url": format!("http://localhost/{}", "x".repeat(70_000)), "method": "GET"}), "the most is").await;
    check(json!({"url": "unix:/var/run/docker.sock", "method": "GET"}), "not unix:").await;
    check(json!({"url": "http://example.com\\@localhost/", "method": "GET"}), "not on the list").await;
    check(json!({"url": "http://localhost/", "method": "GET", "redirect": "always"}), "cannot be read").await;
    let large = bytes_to_json(&vec![0; 17 << 20]);
    check(json!({"url": "http://localhost/", "method": "POST", "body": large}), "the most is").await;
}
