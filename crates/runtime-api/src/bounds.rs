//! How large and how long things may be between Bay and a runtime. Each limit stands here once, for both ends.

use std::time::Duration;

/// The largest answer that is read: pictures are the largest part of one, and Ship bounds them.
pub(crate) const MAX_ANSWER_BYTES: usize = 96 << 20;

/// The largest refusal that is read, where the answer itself is a stream.
pub(crate) const MAX_REFUSAL_BYTES: usize = 1 << 20;

/// The largest JSON body that Ship reads: code and file contents. Larger files are uploaded.
pub const MAX_BODY_BYTES: usize = 32 << 20;

/// Code and commands; larger ones are files.
pub const MAX_CODE_BYTES: usize = 4 << 20;

/// The most of a text file that is read or edited in one piece; larger files are downloaded, or read by lines.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Names in one listing; the rest is left out, and the answer says so.
pub const MAX_ENTRIES: usize = 10_000;

/// What code or a command gets that does not ask for a time limit.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest that anybody waits for Ship's answer to one request.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// Reads a time limit in seconds, as a request of Ship's has it.
pub fn time_limit(seconds: Option<f64>) -> Result<Duration, OutOfBounds> {
    let Some(seconds) = seconds else { return Ok(DEFAULT_TIMEOUT) };
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if limit.is_zero() || limit > MAX_TIMEOUT { Err(OutOfBounds) } else { Ok(limit) }
}

/// A time limit that nobody can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`timeout` must be more than 0 and at most {} seconds", MAX_TIMEOUT.as_secs())]
pub struct OutOfBounds;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_positive_and_bounded() {
        assert_eq!(time_limit(None), Ok(DEFAULT_TIMEOUT));
        assert_eq!(time_limit(Some(0.25)), Ok(Duration::from_millis(250)));
        assert_eq!(time_limit(Some(3600.0)), Ok(MAX_TIMEOUT));
        for wrong in [0.0, -1.0, 3600.5, f64::NAN, f64::INFINITY] {
            assert_eq!(time_limit(Some(wrong)), Err(OutOfBounds), "{wrong}");
        }
    }
}
