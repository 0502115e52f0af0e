//! `/term/ws`: a terminal over a WebSocket.

use serde::{Deserialize, Serialize};

/// Where a terminal is opened: `?cols=…&rows=…`.
pub const TERMINAL_PATH: &str = "/term/ws";

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TerminalSize {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

impl TerminalSize {
    pub(crate) fn address(self) -> String {
        format!("{TERMINAL_PATH}?cols={}&rows={}", self.cols, self.rows)
    }
}
