//! `/fs/tool`: the six file tools of JavaScript sessions, run in here.
//!
//! A session's engine lives behind walls of its own and reaches files only through tools. These belong inside the
//! sandbox: then what a program writes has the right owner, counts against the sandbox's limits, and no process outside
//! ever opens a guest's file.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use cove_files::{FileErrorCode, FileTool, Stop};
use cove_runtime_api::{RefusalCode, ToolRequest};
use serde_json::Value;

use crate::ship::ShipState;
use crate::ship::error::{ApiError, Body};

pub(super) async fn tool(
    State(state): State<ShipState>,
    Body(request): Body<ToolRequest>,
) -> Result<Json<Value>, ApiError> {
    let tool = FileTool::from_name(&request.tool)
        .or_else(|| FileTool::FOR_CODE.into_iter().find(|tool| tool.name() == request.tool));
    let tool = tool.ok_or_else(|| ApiError::validation(format!("there is no tool {:?}", request.tool)))?;
    if request.args.first().and_then(|args| tool.brings(args)).is_some() {
        state.disk.writable()?;
    }
    let files = Arc::clone(&state.files);
    let stop = Stop::default();
    let _cancel = stop.cancel_on_drop();
    let work = tokio::task::spawn_blocking(move || {
        let args = tool.arguments(request.args)?;
        files.call(tool, args, &stop)
    });
    let done = work.await;
    state.disk.wrote();
    match done {
        Ok(Ok(result)) => Ok(Json(result.to_json())),
        Ok(Err(error)) => Err(ApiError::from_tool(refusal_code(error.code), error.message)),
        Err(error) => Err(ApiError::internal(format!("{} was stopped: {error}", tool.name()))),
    }
}

/// The runtime's code for a tool's.
fn refusal_code(code: FileErrorCode) -> RefusalCode {
    match code {
        FileErrorCode::InvalidArgs => RefusalCode::InvalidArgs,
        FileErrorCode::InvalidPath => RefusalCode::InvalidPath,
        FileErrorCode::FileNotFound => RefusalCode::FileNotFound,
        FileErrorCode::NotADirectory => RefusalCode::NotADirectory,
        FileErrorCode::NotAFile => RefusalCode::NotAFile,
        FileErrorCode::NotUtf8 => RefusalCode::NotUtf8,
        FileErrorCode::NotUnique => RefusalCode::NotUnique,
        FileErrorCode::TextNotFound => RefusalCode::TextNotFound,
        FileErrorCode::NoChange => RefusalCode::NoChange,
        FileErrorCode::OverlappingEdits => RefusalCode::OverlappingEdits,
        FileErrorCode::OffsetBeyondEnd => RefusalCode::OffsetBeyondEnd,
        FileErrorCode::Conflict => RefusalCode::Conflict,
        FileErrorCode::PermissionDenied => RefusalCode::PermissionDenied,
        FileErrorCode::QuotaExceeded => RefusalCode::QuotaExceeded,
        FileErrorCode::FileTooLarge => RefusalCode::FileTooLarge,
        FileErrorCode::Timeout => RefusalCode::Timeout,
        FileErrorCode::IoError => RefusalCode::IoError,
    }
}
