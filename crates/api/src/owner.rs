//! The owner of a request, and the idempotency key of a repeated one.

use std::sync::Arc;

use crate::{BayError, ErrorCode};

/// Whoever a key belongs to. What one owner has, no other can see.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(Arc<str>);

impl Owner {
    /// The owner of this name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `Idempotency-Key`: the same request with the same key does its work once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads a header's value: letters, digits, `_` and `-`, at most 128.
    pub fn parse(text: &str) -> Result<Self, BayError> {
        let fits = (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if fits {
            return Ok(Self(text.to_owned()));
        }
        let message = "`Idempotency-Key` must be 1 to 128 letters, digits, `_` or `-`";
        // Existing clients expect a key that cannot be taken to be a conflict, like one that was used for another request.
        Err(BayError::new(ErrorCode::Conflict, message))
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
