//! Python, shell, JavaScript and the browser. None is tried again once it may have begun.

use std::time::Duration;

use cove_api::{
    BrowserBatchRequest, BrowserBatchResult, BrowserExecRequest, BrowserExecResult, BrowserSkillRequest,
    BrowserSkillResult, BrowserTrace, ClickRequest, FillRequest, JavaScriptExecRequest, JavaScriptExecResult,
    NavigateRequest, PythonExecRequest, PythonExecResult, ScreenshotRequest, ShellExecRequest, ShellExecResult,
    SnapshotRequest, Status, ToolAnswer,
};
use reqwest::Method;

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError};

/// One verb each: its name, its path, what is asked, what is answered.
macro_rules! timed_verbs {
    ($($(#[$doc:meta])* $name:ident($path:literal, $request:ty) -> $answer:ty;)*) => {
        impl Client {
            $($(#[$doc])*
            pub async fn $name(&self, id: &str, request: &$request) -> Result<$answer, ClientError> {
                let path = format!("/v1/sandboxes/{id}/{}", $path);
                self.post(&path, request, Duration::from_secs(request.timeout), Retry::NotBegun).await
            })*
        }
    };
}

timed_verbs! {
    /// Runs Python.
    exec_python("python/exec", PythonExecRequest) -> PythonExecResult;
    /// Runs a command.
    exec_shell("shell/exec", ShellExecRequest) -> ShellExecResult;
    /// Runs JavaScript or TypeScript.
    exec_javascript("javascript/exec", JavaScriptExecRequest) -> JavaScriptExecResult;
    /// Runs a browser command.
    exec_browser("browser/exec", BrowserExecRequest) -> BrowserExecResult;
    /// Runs several browser commands.
    exec_browser_batch("browser/exec_batch", BrowserBatchRequest) -> BrowserBatchResult;
    /// Opens an address.
    browser_navigate("browser/navigate", NavigateRequest) -> BrowserExecResult;
    /// Says what is on the page.
    browser_snapshot("browser/snapshot", SnapshotRequest) -> BrowserExecResult;
    /// Clicks.
    browser_click("browser/click", ClickRequest) -> BrowserExecResult;
    /// Fills in.
    browser_fill("browser/fill", FillRequest) -> BrowserExecResult;
    /// Takes a picture into the workspace.
    browser_screenshot("browser/screenshot", ScreenshotRequest) -> BrowserExecResult;
}

impl Client {
    /// Replays a browser skill.
    pub async fn run_browser_skill(
        &self,
        id: &str,
        skill_key: &str,
        request: &BrowserSkillRequest,
    ) -> Result<BrowserSkillResult, ClientError> {
        let path = format!("/v1/sandboxes/{id}/browser/skills/{skill_key}/run");
        self.post(&path, request, Duration::from_secs(request.timeout), Retry::NotBegun).await
    }

    /// A trace that was kept.
    pub async fn browser_trace(&self, id: &str, trace_ref: &str) -> Result<BrowserTrace, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/browser/traces/{trace_ref}"), &NOTHING).await
    }

    /// Forgets a JavaScript session's state.
    pub async fn reset_javascript(&self, id: &str, session: Option<&str>) -> Result<(), ClientError> {
        let path = format!("/v1/sandboxes/{id}/javascript/reset");
        let query: Vec<_> = session.map(|name| ("session", name)).into_iter().collect();
        self.send(Retry::Always, || self.request(Method::POST, &path).query(&query)).await.map(drop)
    }

    /// Answers a tool call.
    pub async fn answer_tool(&self, id: &str, call_id: &str, answer: &ToolAnswer) -> Result<(), ClientError> {
        let path = format!("/v1/sandboxes/{id}/javascript/tools/{call_id}");
        self.post::<_, Status>(&path, answer, Duration::ZERO, Retry::NotBegun).await.map(drop)
    }
}
