//! `/term/ws`: a terminal over a WebSocket.

use cove_api::TerminalSize;

/// Where a terminal is opened: `?cols=…&rows=…`.
pub const TERMINAL_PATH: &str = "/term/ws";

/// The address at which a terminal of this size is opened.
pub(crate) fn address(size: TerminalSize) -> String {
    format!("{TERMINAL_PATH}?cols={}&rows={}", size.cols, size.rows)
}
