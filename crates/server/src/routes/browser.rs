//! The browser by command.

use axum::Json;
use axum::extract::State;
use cove_api::SandboxId;
use cove_api::{
    BrowserBatchRequest, BrowserBatchResult, BrowserExecRequest, BrowserExecResult, BrowserSkillRequest,
    BrowserSkillResult, BrowserTrace, ClickRequest, FillRequest, NavigateRequest, ScreenshotRequest, SnapshotRequest,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Named, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(exec_browser))
        .routes(routes!(exec_browser_batch))
        .routes(routes!(browser_navigate))
        .routes(routes!(browser_snapshot))
        .routes(routes!(browser_click))
        .routes(routes!(browser_fill))
        .routes(routes!(browser_screenshot))
        .routes(routes!(run_browser_skill))
        .routes(routes!(get_browser_trace))
}

/// Run a browser command
///
/// `open https://example.com`, `snapshot -i`, `click @e1`, … The answer contains text of the page: do not trust it.
#[utoipa::path(post, path = "/sandboxes/{id}/browser/exec", tag = "browser", request_body = BrowserExecRequest,
    responses((status = 200, body = BrowserExecResult, description = "The output")))]
async fn exec_browser(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<BrowserExecRequest>,
) -> Reply<Json<BrowserExecResult>> {
    app.run(request.timeout, app.bay.exec_browser(&owner, &id, request)).await.map(Json)
}

/// Run several browser commands
///
/// One after the other, with one entry in the history.
#[utoipa::path(post, path = "/sandboxes/{id}/browser/exec_batch", tag = "browser", request_body = BrowserBatchRequest,
    responses((status = 200, body = BrowserBatchResult, description = "The output of each command")))]
async fn exec_browser_batch(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<BrowserBatchRequest>,
) -> Reply<Json<BrowserBatchResult>> {
    app.run(request.timeout, app.bay.exec_browser_batch(&owner, &id, request)).await.map(Json)
}

/// Open a URL
#[utoipa::path(post, path = "/sandboxes/{id}/browser/navigate", tag = "browser", request_body = NavigateRequest,
    responses((status = 200, body = BrowserExecResult, description = "The output of the browser")))]
async fn browser_navigate(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<NavigateRequest>,
) -> Reply<Json<BrowserExecResult>> {
    app.run(request.timeout, app.bay.browser_navigate(&owner, &id, request)).await.map(Json)
}

/// Get a snapshot of the page
#[utoipa::path(post, path = "/sandboxes/{id}/browser/snapshot", tag = "browser", request_body = SnapshotRequest,
    responses((status = 200, body = BrowserExecResult, description = "The page, with references for click and fill")))]
async fn browser_snapshot(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<SnapshotRequest>,
) -> Reply<Json<BrowserExecResult>> {
    app.run(request.timeout, app.bay.browser_snapshot(&owner, &id, request)).await.map(Json)
}

/// Click
#[utoipa::path(post, path = "/sandboxes/{id}/browser/click", tag = "browser", request_body = ClickRequest,
    responses((status = 200, body = BrowserExecResult, description = "The output of the browser")))]
async fn browser_click(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<ClickRequest>,
) -> Reply<Json<BrowserExecResult>> {
    app.run(request.timeout, app.bay.browser_click(&owner, &id, request)).await.map(Json)
}

/// Fill in a field
#[utoipa::path(post, path = "/sandboxes/{id}/browser/fill", tag = "browser", request_body = FillRequest,
    responses((status = 200, body = BrowserExecResult, description = "The output of the browser")))]
async fn browser_fill(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<FillRequest>,
) -> Reply<Json<BrowserExecResult>> {
    app.run(request.timeout, app.bay.browser_fill(&owner, &id, request)).await.map(Json)
}

/// Take a screenshot
///
/// It is written to the workspace.
#[utoipa::path(post, path = "/sandboxes/{id}/browser/screenshot", tag = "browser", request_body = ScreenshotRequest,
    responses((status = 200, body = BrowserExecResult, description = "Where the picture is")))]
async fn browser_screenshot(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<ScreenshotRequest>,
) -> Reply<Json<BrowserExecResult>> {
    app.run(request.timeout, app.bay.browser_screenshot(&owner, &id, request)).await.map(Json)
}

/// Replay a browser skill
///
/// Runs the commands of its active release.
#[utoipa::path(post, path = "/sandboxes/{id}/browser/skills/{skill_key}/run", tag = "browser",
    request_body = BrowserSkillRequest,
    responses((status = 200, body = BrowserSkillResult, description = "The output of each command")))]
async fn run_browser_skill(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, skill_key)): Named<(SandboxId, String)>,
    Sent(request): Sent<BrowserSkillRequest>,
) -> Reply<Json<BrowserSkillResult>> {
    app.run(request.timeout, app.bay.run_browser_skill(&owner, &id, &skill_key, request)).await.map(Json)
}

/// Get a trace
#[utoipa::path(get, path = "/sandboxes/{id}/browser/traces/{trace_ref}", tag = "browser",
    responses((status = 200, body = BrowserTrace, description = "Every step")))]
async fn get_browser_trace(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, trace_ref)): Named<(SandboxId, String)>,
) -> Reply<Json<BrowserTrace>> {
    app.ask(app.bay.browser_trace(&owner, &id, &trace_ref)).await.map(Json)
}
