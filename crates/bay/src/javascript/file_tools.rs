//! The file tools of a run: `read`, `readTool`, `write`, … in the sandbox's own workspace.
//!
//! They go through Bay's own door, so the first call starts the sandbox's cell, and a run that touches no file starts
//! none.

use std::sync::{Arc, Weak};

use cove_core::{SandboxId, ToolCall, ToolError, ToolSpec};
use cove_files::{FileTool, ToolResult};
use serde_json::Value;

use crate::bay::Inner;
use crate::{Bay, Owner};

/// The tools of one sandbox. They hold Bay only weakly: Bay keeps the sessions that keep the tools.
pub(super) fn file_tools(bay: &Bay, owner: &Owner, sandbox_id: &SandboxId) -> Vec<ToolSpec> {
    let tools = FileTool::FOR_CODE.into_iter().flat_map(|tool| {
        let (bay, owner, sandbox_id) = (Arc::downgrade(&bay.inner), owner.clone(), sandbox_id.clone());
        tool.specs(move |call: ToolCall| {
            let (bay, owner, sandbox_id) = (Weak::clone(&bay), owner.clone(), sandbox_id.clone());
            async move { run(bay, &owner, &sandbox_id, tool, call).await }
        })
    });
    tools.collect()
}

async fn run(
    bay: Weak<Inner>,
    owner: &Owner,
    sandbox_id: &SandboxId,
    tool: FileTool,
    call: ToolCall,
) -> Result<Value, ToolError> {
    let inner = bay.upgrade().ok_or_else(|| ToolError::new("the server is shutting down"))?;
    let args = tool.arguments(call.args).map_err(ToolError::from)?;
    let done = Bay { inner }.file_tool(owner, sandbox_id, tool, args).await;
    done.map(ToolResult::for_code).map_err(|error| {
        let code = error.details.get("code").and_then(Value::as_str).unwrap_or(error.code.as_str()).to_owned();
        ToolError { message: error.message, code: Some(code) }
    })
}
