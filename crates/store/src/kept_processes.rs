//! Processes that are started again with each session of their sandbox.

use cove_api::{CreateProcess, Moment, SandboxId};

use crate::{Store, StoreResult, ask::ask};

/// Kept processes of one sandbox: as many as run in it at once.
pub const MAX_KEPT_PROCESSES: i64 = 64;

impl Store {
    /// Keeps a process under its name, in place of another one of that name; false where the sandbox has too many.
    pub async fn keep_process(
        &self,
        sandbox_id: &SandboxId,
        name: &str,
        wish: &CreateProcess,
        now: Moment,
    ) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let question = "DELETE FROM kept_processes WHERE sandbox_id = $1 AND name = $2";
        ask(question).text(sandbox_id).text(name).run(&mut *tx).await?;
        let count = "SELECT COUNT(*) AS n FROM kept_processes WHERE sandbox_id = $1";
        if ask(count).text(sandbox_id).number(&mut *tx).await? >= MAX_KEPT_PROCESSES {
            return Ok(false);
        }
        // Texts, numbers and lists of them always serialise.
        let request = serde_json::to_string(wish).unwrap_or_default();
        let question = "INSERT INTO kept_processes (sandbox_id, name, request, created_at) VALUES ($1, $2, $3, $4)";
        ask(question).text(sandbox_id).text(name).text(&request).at(now).run(&mut *tx).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// What is to be started with a session of a sandbox, the oldest first.
    pub async fn kept_processes(&self, sandbox_id: &SandboxId) -> StoreResult<Vec<CreateProcess>> {
        let question = "SELECT request FROM kept_processes WHERE sandbox_id = $1 ORDER BY created_at, name";
        ask(question).text(sandbox_id).each(&self.read, |row| row.json("request")).await
    }

    /// Starts a process no more.
    pub async fn forget_process(&self, sandbox_id: &SandboxId, name: &str) -> StoreResult<()> {
        let question = "DELETE FROM kept_processes WHERE sandbox_id = $1 AND name = $2";
        ask(question).text(sandbox_id).text(name).run(&self.write).await?;
        Ok(())
    }
}
