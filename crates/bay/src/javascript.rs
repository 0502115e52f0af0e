//! JavaScript: one-shot runs and sessions, in either engine.

use cove_api::{JavaScriptExecRequest, JavaScriptExecResult, ToolAnswer};

use crate::{Answer, Bay, Owner};

impl Bay {
    /// Runs JavaScript or TypeScript.
    pub async fn exec_javascript(
        &self,
        owner: &Owner,
        id: &str,
        request: JavaScriptExecRequest,
    ) -> Answer<JavaScriptExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Forgets a session's state (`None`: the usual one).
    pub async fn reset_javascript(&self, owner: &Owner, id: &str, session: Option<&str>) -> Answer<()> {
        let _ = (owner, id, session);
        Err(crate::bay::unbuilt())
    }

    /// A client's answer to a tool call.
    pub async fn answer_tool(&self, owner: &Owner, id: &str, call_id: &str, answer: ToolAnswer) -> Answer<()> {
        let _ = (owner, id, call_id, answer);
        Err(crate::bay::unbuilt())
    }
}
