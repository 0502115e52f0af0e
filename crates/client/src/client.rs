//! The transport: one request, its retries, its answer.

use std::time::Duration;

use cove_api::ErrorCode;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ClientError;

/// How often a request is tried that may be tried again.
const TRIES: u32 = 4;
/// Before the second try; doubled before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// However long Bay asks to wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Beyond a verb's own time-out.
const GRACE: Duration = Duration::from_secs(120);

/// What may be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Doing it twice is doing it once.
    Always,
    /// Only what was certainly not begun: nobody was there, or Bay said so.
    NotBegun,
}

/// One Bay, and whoever asks it.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

impl Client {
    /// A client of the Bay at this address.
    pub fn new(base: &str, key: Option<&str>) -> Result<Self, ClientError> {
        let base = base.trim_end_matches('/').to_owned();
        let url = reqwest::Url::parse(&base).map_err(|error| ClientError::Setup(format!("{base}: {error}")))?;
        // Fails only where a provider is there already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .redirect(reqwest::redirect::Policy::none());
        if url.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]")) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| ClientError::Setup(error.to_string()))?;
        Ok(Self { http, base, key: key.map(str::to_owned) })
    }

    /// Where it asks.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Without a body.
    pub(crate) async fn get<Q: Serialize + ?Sized, T: DeserializeOwned>(
        &self,
        path: &str,
        query: &Q,
    ) -> Result<T, ClientError> {
        let response = self.send(Retry::Always, || self.request(Method::GET, path).query(query).timeout(GRACE)).await?;
        self.read(response).await
    }

    /// With a body that says what to do; `own` is how long Bay may work on it.
    pub(crate) async fn post<B: Serialize + ?Sized, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
        own: Duration,
        retry: Retry,
    ) -> Result<T, ClientError> {
        let made = || self.request(Method::POST, path).json(body).timeout(own + GRACE);
        self.read(self.send(retry, made).await?).await
    }

    /// With a body that says how it shall be: twice is once.
    pub(crate) async fn put<B: Serialize + ?Sized, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        let made = || self.request(Method::PUT, path).json(body).timeout(GRACE);
        self.read(self.send(Retry::Always, made).await?).await
    }

    /// With a body and a key that makes it safe to try again.
    pub(crate) async fn post_once<B: Serialize + ?Sized, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        let chance = getrandom::u64().map_err(|error| ClientError::Setup(error.to_string()))?;
        let key = format!("cove-{chance:016x}");
        let made = || self.request(Method::POST, path).header("idempotency-key", &key).json(body).timeout(GRACE);
        self.read(self.send(Retry::Always, made).await?).await
    }

    /// Sends, again where that is safe and helps.
    pub(crate) async fn send(&self, retry: Retry, made: impl Fn() -> RequestBuilder) -> Result<Response, ClientError> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let last = attempt == TRIES;
            match made().send().await {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => {
                    let (status, wait) = (response.status(), retry_after(&response));
                    let url = response.url().to_string();
                    let body = response.bytes().await.unwrap_or_default();
                    let error = ClientError::read(&url, status.as_u16(), &body);
                    if last || !comes_back(retry, status, error.code()) {
                        return Err(error);
                    }
                    tokio::time::sleep(wait.unwrap_or(pause).min(LONGEST_PAUSE)).await;
                }
                Err(error) => {
                    if last || error.is_timeout() || (retry == Retry::NotBegun && !error.is_connect()) {
                        return Err(ClientError::transport(&self.base, &error));
                    }
                    tokio::time::sleep(pause).await;
                }
            }
            pause *= 2;
        }
        Err(ClientError::Setup("not tried".to_owned()))
    }

    async fn read<T: DeserializeOwned>(&self, response: Response) -> Result<T, ClientError> {
        let (url, status) = (response.url().to_string(), response.status().as_u16());
        let body = response.bytes().await.map_err(|error| ClientError::transport(&self.base, &error))?;
        serde_json::from_slice(&body).map_err(|_| ClientError::Odd { url, status })
    }
}

/// Whether a refusal may be another answer a little later.
fn comes_back(retry: Retry, status: StatusCode, code: Option<ErrorCode>) -> bool {
    match code {
        Some(ErrorCode::SessionNotReady | ErrorCode::QuotaExceeded) => true,
        Some(_) => false,
        // Not Bay itself: something in front of it.
        None => retry == Retry::Always && matches!(status.as_u16(), 502..=504),
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let text = response.headers().get(reqwest::header::RETRY_AFTER)?.to_str().ok()?;
    text.parse().ok().map(Duration::from_secs)
}
