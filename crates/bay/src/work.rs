//! Python and the shell.

use cove_api::{PythonExecRequest, PythonExecResult, ShellExecRequest, ShellExecResult};

use crate::{Answer, Bay, Owner};

impl Bay {
    /// Runs Python in the sandbox's interpreter.
    pub async fn exec_python(&self, owner: &Owner, id: &str, request: PythonExecRequest) -> Answer<PythonExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }

    /// Runs a command.
    pub async fn exec_shell(&self, owner: &Owner, id: &str, request: ShellExecRequest) -> Answer<ShellExecResult> {
        let _ = (owner, id, request);
        Err(crate::bay::unbuilt())
    }
}
