//! The limits of one run, checked once where they come in.
//!
//! Every number has a default with a reason and a bound that cannot be exceeded; no other code checks again whether a
//! limit makes sense.

use serde::{Deserialize, Serialize};

/// What one run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Wall clock for the whole execution, in milliseconds.
    pub timeout_ms: u64,
    /// Loop iterations that a run may make; `None` where only the clock limits.
    pub max_operations: Option<u64>,
    /// Memory of the guest's heap.
    pub memory_bytes: u64,
    /// Console output that is kept.
    pub max_log_bytes: u64,
    /// Length of the source, in characters.
    pub max_code_chars: u64,
    /// Length of the result's JSON, in characters.
    pub max_result_chars: u64,
    /// Pictures that one run may leave behind.
    pub max_images: u32,
}

impl Limits {
    /// One-shot runs: 30 s as the tool's users know it, no step counter.
    pub const ONE_SHOT: Self = Self {
        timeout_ms: 30_000,
        max_operations: None,
        memory_bytes: 256 << 20,
        max_log_bytes: 262_144,
        max_code_chars: 50_000,
        max_result_chars: 200_000,
        max_images: 16,
    };

    /// Executor sessions: 10 s and 50,000 steps per cell, 64 MiB per compartment, as the contract says.
    ///
    /// A cell's source and value may be larger than a one-shot's: a notebook holds its data in the session.
    pub const EXECUTOR: Self = Self {
        timeout_ms: 10_000,
        max_operations: Some(50_000),
        memory_bytes: 64 << 20,
        max_log_bytes: 262_144,
        max_code_chars: 1 << 20,
        max_result_chars: 10 << 20,
        max_images: 16,
    };

    /// A day: longer than any run should be, short enough that a typing error in a unit does not keep a process for ever.
    pub(crate) const MAX_TIMEOUT_MS: u64 = 86_400_000;

    /// Below this the hardened world itself does not fit.
    pub(crate) const MIN_MEMORY_BYTES: u64 = 4 << 20;

    /// Refuses what cannot be kept.
    pub fn checked(self) -> Result<Self, LimitsError> {
        let in_bounds = |name, value: u64, min: u64, max: u64| {
            if (min..=max).contains(&value) { Ok(()) } else { Err(LimitsError { name, value, min, max }) }
        };
        in_bounds("timeout_ms", self.timeout_ms, 1, Self::MAX_TIMEOUT_MS)?;
        in_bounds("max_operations", self.max_operations.unwrap_or(1), 1, u64::MAX >> 12)?;
        in_bounds("memory_bytes", self.memory_bytes, Self::MIN_MEMORY_BYTES, 16 << 30)?;
        in_bounds("max_log_bytes", self.max_log_bytes, 1024, 64 << 20)?;
        in_bounds("max_code_chars", self.max_code_chars, 1, 64 << 20)?;
        in_bounds("max_result_chars", self.max_result_chars, 1, 64 << 20)?;
        Ok(self)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::ONE_SHOT
    }
}

/// A limit outside its bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value}; it must be between {min} and {max}")]
pub struct LimitsError {
    /// Which limit.
    pub name: &'static str,
    /// What was asked for.
    pub value: u64,
    /// The least that is possible.
    pub min: u64,
    /// The most that is possible.
    pub max: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_hold_and_zero_does_not() {
        assert_eq!(Limits::ONE_SHOT.checked(), Ok(Limits::ONE_SHOT));
        assert_eq!(Limits::EXECUTOR.checked(), Ok(Limits::EXECUTOR));
        let refused = Limits { timeout_ms: 0, ..Limits::ONE_SHOT }.checked().unwrap_err();
        assert_eq!(refused.to_string(), "timeout_ms is 0; it must be between 1 and 86400000");
        assert!(Limits { max_operations: Some(0), ..Limits::EXECUTOR }.checked().is_err());
        assert!(Limits { max_log_bytes: 1023, ..Limits::EXECUTOR }.checked().is_err());
    }
}
