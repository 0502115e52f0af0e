//! Console lines of one run: whole lines, in time order, up to a limit that the child cannot argue with.

use cove_core::{LogLevel, LogLine, LogSink, beginning_bytes};

/// Keeps lines until the limit.
pub(crate) struct Logs {
    kept: Vec<LogLine>,
    bytes_left: usize,
    truncated: bool,
    levels: Vec<LogLevel>,
    sink: Option<LogSink>,
}

impl Logs {
    pub(crate) fn new(max_bytes: u64, levels: Vec<LogLevel>, sink: Option<LogSink>) -> Self {
        let bytes_left = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        Self { kept: Vec::new(), bytes_left, truncated: false, levels, sink }
    }

    /// Takes a line. The first one that does not fit is left out, and so is everything after it; only a line that
    /// alone is longer than the limit is cut, because nothing at all would be worse.
    pub(crate) fn add(&mut self, mut line: LogLine) {
        if self.truncated || !self.levels.contains(&line.level) {
            return;
        }
        if line.text.len() >= self.bytes_left {
            self.truncated = true;
            if !self.kept.is_empty() {
                return;
            }
            line.text = beginning_bytes(&line.text, self.bytes_left).0.to_owned();
        }
        self.bytes_left = self.bytes_left.saturating_sub(line.text.len() + 1);
        if let Some(sink) = &self.sink {
            sink(&line);
        }
        self.kept.push(line);
    }

    /// The lines, and whether some are missing.
    pub(crate) fn finish(self) -> (Vec<LogLine>, bool) {
        (self.kept, self.truncated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    fn check(max: u64, lines: &[&str], kept: &[&str], truncated: bool) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let sink: LogSink = Arc::new(move |line: &LogLine| ear.lock().unwrap().push(line.text.clone()));
        let mut logs = Logs::new(max, vec![LogLevel::Log], Some(sink));
        for text in lines {
            logs.add(LogLine { level: LogLevel::Log, text: (*text).into() });
            logs.add(LogLine { level: LogLevel::Debug, text: "not kept".into() });
        }
        let (seen, cut) = logs.finish();
        assert_eq!(seen.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), kept);
        assert_eq!(*heard.lock().unwrap(), kept);
        assert_eq!(cut, truncated);
    }

    #[test]
    fn whole_lines_up_to_the_limit() {
        check(8, &["abc", "def"], &["abc", "def"], false);
        check(7, &["abc", "def"], &["abc"], true);
        check(7, &["abc", "defg", "h"], &["abc"], true);
        check(4, &["äöü"], &["äö"], true);
        check(4, &[], &[], false);
    }
}
