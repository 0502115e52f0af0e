//! What all owners share, and how much of it one owner may use: requests that are being worked on, streams that stay
//! open.
//!
//! An owner that uses all of it would block the server for the others. So each has a share; what exceeds it is refused
//! with a code and a time to retry, and other owners are not affected.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_api::ErrorCode;
use cove_bay::Owner;

use crate::failure::Failure;

/// So many of something, of which an owner may have so many.
#[derive(Debug)]
pub(crate) struct Shares {
    /// What it is, in the plural, as a refusal names it.
    what: &'static str,
    most: usize,
    each: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    by: HashMap<Owner, usize>,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Shares>,
    owner: Owner,
}

/// What an answer keeps until the caller has taken it: in the response's extensions on its way out.
#[derive(Debug, Clone)]
pub(crate) struct Kept(#[expect(dead_code, reason = "kept for its end")] pub(crate) Arc<Share>);

impl Shares {
    pub(crate) fn new(what: &'static str, most: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { what, most, each: each.min(most), held: Mutex::default() })
    }

    /// One for this owner.
    pub(crate) fn take(self: &Arc<Self>, owner: &Owner) -> Result<Kept, Failure> {
        let mut held = self.held();
        if held.all >= self.most {
            return Err(self.full(format!("too many {} at once", self.what), self.most));
        }
        let own = held.by.get(owner).copied().unwrap_or_default();
        if own >= self.each {
            let message = format!(
                "this owner has {own} {} at once, which is the limit; try again when some have ended",
                self.what
            );
            return Err(self.full(message, self.each));
        }
        held.by.insert(owner.clone(), own + 1);
        held.all += 1;
        Ok(Kept(Arc::new(Share { of: Arc::clone(self), owner: owner.clone() })))
    }

    fn full(&self, message: String, limit: usize) -> Failure {
        Failure::new(ErrorCode::QuotaExceeded, message).with("limit", limit).with("retry_after_ms", 1_000)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.of.held();
        held.all = held.all.saturating_sub(1);
        let left = held.by.get(&self.owner).copied().unwrap_or_default().saturating_sub(1);
        if left == 0 {
            held.by.remove(&self.owner);
        } else {
            held.by.insert(self.owner.clone(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_has_its_share_and_all_have_no_more_than_there_is() {
        let shares = Shares::new("requests", 3, 2);
        let (ada, ben, eve) = (Owner::new("ada"), Owner::new("ben"), Owner::new("eve"));
        let mut taken = vec![shares.take(&ada).unwrap(), shares.take(&ada).unwrap()];
        let refused = shares.take(&ada).unwrap_err();
        assert!(refused.code() == ErrorCode::QuotaExceeded && refused.message().contains("this owner has 2 requests"));
        taken.push(shares.take(&ben).unwrap());
        assert!(shares.take(&eve).unwrap_err().message().starts_with("too many requests"));
        taken.remove(0);
        taken.push(shares.take(&eve).unwrap());
        drop(taken);
        let held = shares.held();
        assert!(held.all == 0 && held.by.is_empty(), "{held:?}");
    }
}
