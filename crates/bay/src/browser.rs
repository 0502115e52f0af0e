//! The browser by command.

use cove_api::{
    BrowserBatchRequest, BrowserBatchResult, BrowserExecRequest, BrowserExecResult, BrowserSkillRequest,
    BrowserSkillResult, BrowserTrace, ClickRequest, FillRequest, NavigateRequest, ScreenshotRequest, SnapshotRequest,
};

use crate::{Answer, Bay, Owner};

impl Bay {
    /// Runs one command.
    pub async fn exec_browser(
        &self,
        owner: &Owner,
        id: &str,
        request: BrowserExecRequest,
    ) -> Answer<BrowserExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Runs several commands; one entry in the history.
    pub async fn exec_browser_batch(
        &self,
        owner: &Owner,
        id: &str,
        request: BrowserBatchRequest,
    ) -> Answer<BrowserBatchResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Opens an address.
    pub async fn browser_navigate(
        &self,
        owner: &Owner,
        id: &str,
        request: NavigateRequest,
    ) -> Answer<BrowserExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Says what is on the page.
    pub async fn browser_snapshot(
        &self,
        owner: &Owner,
        id: &str,
        request: SnapshotRequest,
    ) -> Answer<BrowserExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Clicks.
    pub async fn browser_click(&self, owner: &Owner, id: &str, request: ClickRequest) -> Answer<BrowserExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Fills in.
    pub async fn browser_fill(&self, owner: &Owner, id: &str, request: FillRequest) -> Answer<BrowserExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Takes a picture into the workspace.
    pub async fn browser_screenshot(
        &self,
        owner: &Owner,
        id: &str,
        request: ScreenshotRequest,
    ) -> Answer<BrowserExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Replays the active release of a skill.
    pub async fn run_browser_skill(
        &self,
        owner: &Owner,
        id: &str,
        skill_key: &str,
        request: BrowserSkillRequest,
    ) -> Answer<BrowserSkillResult> {
        let _ = (owner, id, skill_key, request);
        Err(crate::bay::unbuilt())
    }

    /// A trace that was kept.
    pub async fn browser_trace(&self, owner: &Owner, id: &str, trace_ref: &str) -> Answer<BrowserTrace> {
        let _ = (owner, id, trace_ref);
        Err(crate::bay::unbuilt())
    }
}
