//! Console lines as one text, as both contracts hand them out.

use cove_core::RunReport;

/// What ends a log that was longer than its limit.
const TRUNCATED: &str = "...[TRUNCATED]";

/// Joins the kept lines; says at the end when there were more.
pub fn join_logs(report: &RunReport) -> String {
    let mut text = report.logs.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
    if report.logs_truncated {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(TRUNCATED);
    }
    text
}
