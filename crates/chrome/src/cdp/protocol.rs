//! The calls and events that Cove uses, with their shapes. Fields that it does not read are not named.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::client::{CdpError, Client};

/// Calls the browser itself.
pub(crate) async fn call_browser<T: DeserializeOwned>(
    client: &Client,
    method: &str,
    params: Value,
    wait: Duration,
) -> Result<T, CdpError> {
    read(method, client.call(None, method, params, wait).await?.get())
}

fn read<T: DeserializeOwned>(method: &str, text: &str) -> Result<T, CdpError> {
    serde_json::from_str(text).map_err(|_| CdpError::Unreadable(method.to_owned()))
}

/// A page that we are attached to.
#[derive(Clone)]
pub(crate) struct CdpSession {
    pub(crate) client: Client,
    pub(crate) id: String,
}

impl CdpSession {
    /// Calls the page and reads the answer.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        wait: Duration,
    ) -> Result<T, CdpError> {
        read(method, self.client.call(Some(&self.id), method, params, wait).await?.get())
    }

    /// Calls the page without waiting.
    pub(crate) fn post(&self, method: &str, params: &Value) -> bool {
        self.client.post(Some(&self.id), method, params)
    }

    /// Calls the page and waits only until the command is on its way.
    pub(crate) async fn send(&self, method: &str, params: Value) -> Result<(), CdpError> {
        self.client.send(Some(&self.id), method, params).await
    }

    /// Lets an intercepted request fail as if the user had pressed Stop: a navigation then leaves the page as it is.
    pub(crate) fn abort_request(&self, request: &str) -> bool {
        self.post("Fetch.failRequest", &json!({ "requestId": request, "errorReason": "Aborted" }))
    }

    /// Answers an intercepted request.
    pub(crate) fn fulfil_request(&self, request: &str, content_type: &str, body: &[u8]) -> bool {
        use base64::Engine as _;
        let params = json!({
            "requestId": request,
            "responseCode": 200,
            "responseHeaders": [
                { "name": "Content-Type", "value": content_type },
                { "name": "Cache-Control", "value": "no-store" },
            ],
            "body": base64::engine::general_purpose::STANDARD.encode(body),
        });
        self.post("Fetch.fulfillRequest", &params)
    }
}

/// The answer of `Runtime.evaluate` and `Runtime.callFunctionOn`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluated {
    pub(crate) result: RemoteObject,
    pub(crate) exception_details: Option<ExceptionDetails>,
}

/// A value in the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemoteObject {
    pub(crate) object_id: Option<String>,
    pub(crate) class_name: Option<String>,
    pub(crate) description: Option<String>,
}

/// What an evaluation threw. Lines and columns count from zero.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExceptionDetails {
    pub(crate) text: String,
    pub(crate) line_number: u32,
    pub(crate) column_number: u32,
    pub(crate) exception: Option<RemoteObject>,
}

/// `Runtime.bindingCalled`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BindingCalled {
    pub(crate) payload: String,
    pub(crate) execution_context_id: i64,
}

/// `Fetch.requestPaused`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestPaused<'a> {
    #[serde(borrow)]
    pub(crate) request_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) request: Request<'a>,
    #[serde(borrow)]
    pub(crate) resource_type: Cow<'a, str>,
}

/// The request that was intercepted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request<'a> {
    #[serde(borrow)]
    pub(crate) url: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) method: Cow<'a, str>,
    #[serde(default)]
    pub(crate) post_data: Option<String>,
}

/// `Page.frameNavigated`
#[derive(Debug, Deserialize)]
pub(crate) struct FrameNavigated<'a> {
    #[serde(borrow)]
    pub(crate) frame: Frame<'a>,
}

/// A frame of a page; the main one has no parent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame<'a> {
    #[serde(borrow, default)]
    pub(crate) parent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) url: Cow<'a, str>,
}
