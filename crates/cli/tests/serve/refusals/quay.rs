//! A server in this very process, so that its deadlines can be short: a Bay whose runtimes never start.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use cove_bay::Bay;
use cove_config::{Config, ProfileConfig};
use cove_server::{KeySpec, Server, ServerOptions};
use futures_util::StreamExt as _;
use reqwest::RequestBuilder;
use serde_json::Value;

use super::{Way, body, names, query};
use crate::asked::path_of;
use crate::{KEY, OTHER, PATIENCE};

pub(crate) struct Quay {
    pub(crate) bay: Bay,
    pub(crate) server: Server,
    http: reqwest::Client,
}

/// A configuration in a folder; whoever would start a container fails at once.
pub(crate) fn config(folder: &Path) -> Config {
    let mut config =
        Config { data_dir: Some(folder.join("data")), runtime_dir: Some(folder.join("run")), ..Config::default() };
    config.driver.local.program = Some("/bin/false".into());
    config.warm_pool.enabled = false;
    config.gc.enabled = false;
    config
}

/// A profile that can do only so much.
pub(crate) fn profile(id: &str, capabilities: &[&str]) -> ProfileConfig {
    let capabilities = serde_json::from_value(serde_json::json!(capabilities)).unwrap();
    ProfileConfig { id: id.to_owned(), capabilities: Some(capabilities), ..ProfileConfig::default() }
}

impl Quay {
    pub(crate) async fn open(config: Config, change: impl FnOnce(&mut ServerOptions)) -> Self {
        let bay = Bay::open(config).await.unwrap();
        let mut options = ServerOptions::new(vec![KeySpec::only(KEY), KeySpec::of("another", OTHER)]);
        options.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        options.grace = Duration::from_secs(5);
        change(&mut options);
        let server = Server::start(bay.clone(), options).await.unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { bay, server, http }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// A request by method and path.
    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("http://{}{path}", self.address());
        self.http.request(method.parse().unwrap(), url)
    }

    /// An operation's request that fits in every respect, without a key.
    pub(crate) fn fitting(&self, operation: &str, sandbox: &str) -> RequestBuilder {
        let names = names(operation, sandbox);
        let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (method, path) = path_of(operation, &names, query(operation));
        let request = self.request(&method, &path);
        match body(operation) {
            _ if operation == "upload_file" => {
                let file = reqwest::multipart::Part::bytes(b"some bytes".as_slice()).file_name("f");
                request.multipart(reqwest::multipart::Form::new().text("path", "a").part("file", file))
            }
            Value::Null => request,
            body => request.json(&body),
        }
    }

    /// Asks every operation of a way at once, changed as the way needs it.
    pub(crate) async fn refuses(
        &self,
        way: &Way,
        sandbox: &str,
        change: impl Fn(&str, RequestBuilder) -> RequestBuilder,
    ) {
        let asked = way.all().map(|operation| {
            let request = change(operation, self.fitting(operation, sandbox).bearer_auth(KEY));
            async move { (operation, answer(request).await) }
        });
        // A few at a time: what is slow here is slow for each.
        let answers: Vec<_> = futures_util::stream::iter(asked).buffer_unordered(16).collect().await;
        for (operation, answer) in answers {
            refused(operation, &answer, way);
        }
    }

    pub(crate) async fn create(&self, wish: Value) -> String {
        let request = self.request("POST", "/v1/sandboxes").bearer_auth(KEY).json(&wish);
        let (status, made) = answer(request).await;
        assert_eq!(status, 201, "{made}");
        made["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn close(self) {
        self.server.close().await;
    }
}

/// Status and body. A stream of events that opened is not read to its end: it has none.
pub(crate) async fn answer(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    assert!(response.headers().contains_key("x-request-id"));
    let status = response.status().as_u16();
    let stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
    (status, if stream { Value::Null } else { response.json().await.unwrap_or_default() })
}

/// Holds an answer against what is expected of it, down to its last field.
pub(crate) fn refused(operation: &str, (status, body): &(u16, Value), way: &Way) {
    assert_eq!(*status, way.status, "{operation}: {body}");
    if way.code.is_empty() {
        let problem = &body["detail"][0];
        assert!(
            problem["loc"].is_array() && problem["msg"].is_string() && problem["type"].is_string(),
            "{operation}: {body}"
        );
        return;
    }
    let error = &body["error"];
    assert_eq!(error["code"], way.code, "{operation}: {body}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{operation}: {body}");
    assert!(error["request_id"].as_str().is_some_and(|id| !id.is_empty()), "{operation}: {body}");
    match way.code {
        "session_not_ready" => assert!(error["details"]["retry_after_ms"].is_u64(), "{operation}: {body}"),
        "capability_not_supported" => {
            assert!(error["details"]["capability"].is_string() && error["details"]["available"].is_array());
        }
        "invalid_path" => assert!(error["details"]["reason"].is_string(), "{operation}: {body}"),
        _ => {}
    }
}
