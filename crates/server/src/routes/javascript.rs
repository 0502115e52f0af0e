//! JavaScript: one-shot runs, sessions, and tools that the caller answers itself.

use axum::Json;
use axum::extract::State;
use cove_api::SandboxId;
use cove_api::{JavaScriptExecRequest, JavaScriptExecResult, Status, ToolAnswer};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::Caller;
use crate::extract::{Asked, Named, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(exec_javascript))
        .routes(routes!(reset_javascript))
        .routes(routes!(answer_tool))
}

/// How long people may be waited for in one run, altogether.
const PEOPLE_SECS: u64 = 4 * 3600;

/// Which session.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct SessionQuery {
    /// Name of the session; default: the unnamed one.
    session: Option<String>,
}

impl Bounded for SessionQuery {}

/// Run JavaScript or TypeScript
///
/// In the embedded engine or in a headless browser, behind walls. Pictures that the code draws become artifacts.
#[utoipa::path(post, path = "/sandboxes/{id}/javascript/exec", tag = "javascript", request_body = JavaScriptExecRequest,
    responses((status = 200, body = JavaScriptExecResult, description = "The output")))]
async fn exec_javascript(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<JavaScriptExecRequest>,
) -> Reply<Json<JavaScriptExecResult>> {
    // While a person is asked, the code's time stands still.
    let people = if request.tools.iter().any(|tool| tool.ask) { PEOPLE_SECS } else { 0 };
    app.run(request.timeout + people, app.bay.exec_javascript(&owner, &id, request)).await.map(Json)
}

/// Reset a JavaScript session
#[utoipa::path(post, path = "/sandboxes/{id}/javascript/reset", tag = "javascript", params(SessionQuery),
    responses((status = 200, body = Status, description = "Reset")))]
async fn reset_javascript(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<SessionQuery>,
) -> Reply<Json<Status>> {
    app.ask(app.bay.reset_javascript(&owner, &id, query.session.as_deref())).await?;
    Ok(Json(Status::ok()))
}

/// Answer a tool call
///
/// Guest code has called a tool that the caller provides; the call was announced by a `tool_call` event.
#[utoipa::path(post, path = "/sandboxes/{id}/javascript/tools/{call_id}", tag = "javascript", request_body = ToolAnswer,
    responses((status = 200, body = Status, description = "The code continues")))]
async fn answer_tool(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, call_id)): Named<(SandboxId, String)>,
    Sent(answer): Sent<ToolAnswer>,
) -> Reply<Json<Status>> {
    app.ask(app.bay.answer_tool(&owner, &id, &call_id, answer)).await?;
    Ok(Json(Status::ok()))
}
