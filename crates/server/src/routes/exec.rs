//! Python and the shell.

use axum::Json;
use axum::extract::State;
use cove_api::SandboxId;
use cove_api::{PythonExecRequest, PythonExecResult, ShellExecRequest, ShellExecResult};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Named, Sent};
use crate::failure::Reply;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(exec_python)).routes(routes!(exec_shell))
}

/// Run Python
///
/// State is kept between calls. Failing code is not a failed call: `success` is false, and `error` says why.
#[utoipa::path(post, path = "/sandboxes/{id}/python/exec", tag = "python and shell", request_body = PythonExecRequest,
    responses((status = 200, body = PythonExecResult, description = "The output")))]
async fn exec_python(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<PythonExecRequest>,
) -> Reply<Json<PythonExecResult>> {
    app.run(request.timeout, app.bay.exec_python(&owner, &id, request)).await.map(Json)
}

/// Run a shell command
///
/// A failing command is not a failed call: `success` is false, and `exit_code` has its exit code.
#[utoipa::path(post, path = "/sandboxes/{id}/shell/exec", tag = "python and shell", request_body = ShellExecRequest,
    responses((status = 200, body = ShellExecResult, description = "The output")))]
async fn exec_shell(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(request): Sent<ShellExecRequest>,
) -> Reply<Json<ShellExecResult>> {
    app.run(request.timeout, app.bay.exec_shell(&owner, &id, request)).await.map(Json)
}
