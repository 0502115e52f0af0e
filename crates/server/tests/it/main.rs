//! The server's door: keys, ids, errors, limits, the document. What is behind it is tried with the whole binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod document;
mod door;
mod near;
mod odd;
mod page;
mod rude;
mod slow;
mod stalled;

use std::net::SocketAddr;
use std::time::Duration;

use cove_bay::Bay;
use cove_config::Config;
use cove_server::{KeySpec, Server, ServerOptions};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

pub(crate) const KEY: &str = "sk-bay-test";
pub(crate) const OTHER: &str = "sk-bay-other";

/// A server on a free port with a Bay of its own in a temporary folder.
pub(crate) struct Place {
    pub(crate) server: Server,
    pub(crate) http: reqwest::Client,
    _folder: tempfile::TempDir,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
        // No verb here needs a container; whoever would start one fails at once.
        config.driver.local.program = Some("/bin/false".into());
        config.warm_pool.enabled = false;
        let bay = Bay::open(config).await.unwrap();
        let mut options = ServerOptions::new(vec![KeySpec::only(KEY), KeySpec::of("other", OTHER)]);
        options.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        options.grace = Duration::from_secs(5);
        change(&mut options);
        let server = Server::start(bay, options).await.unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { server, http, _folder: folder }
    }

    /// A sandbox of the key's.
    pub(crate) async fn sandbox(&self) -> String {
        let made = self.ask("POST", "/v1/sandboxes").send().await.unwrap();
        made.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// A request without a key.
    pub(crate) fn without_key(&self, method: &str, path: &str) -> RequestBuilder {
        let method: Method = method.parse().unwrap();
        self.http.request(method, format!("http://{}{path}", self.server.address()))
    }

    /// A request with the key.
    pub(crate) fn ask(&self, method: &str, path: &str) -> RequestBuilder {
        self.without_key(method, path).bearer_auth(KEY)
    }
}

/// Status and body.
pub(crate) async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    (status, response.json().await.unwrap_or_default())
}
