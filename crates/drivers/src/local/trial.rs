//! Whether a cell can be made on this machine, tried by making one: whoever creates a sandbox is told at once, and not by
//! the first call.

use std::time::Duration;

use cove_cell::{CellError, CellOptions, LocalCell};

use super::LocalDriver;

/// A cell is made in a few hundredths of a second. Nobody waits longer than this for a warning: the first call says it, too.
const TRIAL: Duration = Duration::from_secs(3);

impl LocalDriver {
    /// Makes a cell and ends it, unless it is known that cells can be made.
    pub(super) async fn try_cell(&self) {
        let _turn = self.trial.lock().await;
        if self.lacks.knows_cells() {
            return;
        }
        if let Ok(made) = tokio::time::timeout(TRIAL, self.empty_cell()).await {
            self.lacks.saw_cell(&made);
        }
    }

    async fn empty_cell(&self) -> Result<(), CellError> {
        let mut options = CellOptions::new(&self.program, self.runtime_dir.trial(), self.runtime_dir.sockets());
        options.args = vec!["ship".to_owned()];
        options.control_groups = self.options.control_groups;
        let cell = LocalCell::start(options).await?;
        Ok(cell.kill().await?)
    }
}
