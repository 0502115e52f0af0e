//! How much a tool may answer: whole lines, up to a number of lines and bytes.

use serde::Serialize;

/// Lines of one answer.
pub(crate) const MAX_LINES: u64 = 2000;
/// Bytes of one answer: what a model reads without losing the thread, and the figure its users know (50.0KB).
pub(crate) const MAX_BYTES: usize = 51_200;

/// Why an answer ends before the text does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TruncatedBy {
    /// The limit of lines.
    Lines,
    /// The limit of bytes.
    Bytes,
}

/// `details.truncation`: how much there is and how much of it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Truncation {
    /// Whether anything is missing.
    pub(crate) truncated: bool,
    /// Which limit was reached.
    pub(crate) truncated_by: Option<TruncatedBy>,
    /// Lines in all; `None` for a file too big to be counted for its first lines.
    pub(crate) total_lines: Option<u64>,
    /// Bytes in all.
    pub(crate) total_bytes: u64,
    /// Lines shown.
    pub(crate) output_lines: u64,
    /// Bytes shown.
    pub(crate) output_bytes: u64,
    /// Whether not even one line fits.
    pub(crate) first_line_exceeds_limit: bool,
    /// The limit of lines.
    pub(crate) max_lines: u64,
    /// The limit of bytes.
    pub(crate) max_bytes: u64,
}

/// `NB`, `N.NKB`, `N.NMB`.
pub(crate) fn format_size(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
    let tenths = |unit: u64| format!("{:.1}", bytes as f64 / unit as f64);
    match bytes {
        0..1024 => format!("{bytes}B"),
        1024..1_048_576 => format!("{}KB", tenths(1024)),
        _ => format!("{}MB", tenths(1_048_576)),
    }
}

/// Joins lines until the next would cross the limit of bytes; says how many are in.
pub(crate) fn join_lines<S: AsRef<str>>(lines: &[S]) -> (String, usize) {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let line = line.as_ref();
        if text.len() + line.len() + usize::from(index > 0) > MAX_BYTES {
            return (text, index);
        }
        if index > 0 {
            text.push('\n');
        }
        text.push_str(line);
    }
    (text, lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_the_contract_says() {
        for (bytes, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0KB"),
            (51_200, "50.0KB"),
            (1_048_575, "1024.0KB"),
            (1_048_576, "1.0MB"),
            (1 << 30, "1024.0MB"),
        ] {
            assert_eq!(format_size(bytes), text);
        }
    }
}
