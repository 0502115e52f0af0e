//! What all owners share, and how much of it one owner may use: requests that are being worked on, memory for their bodies,
//! streams that stay open.
//!
//! An owner that uses all of it would block the server for the others. So each has a share; what exceeds it is refused
//! with a code and a time to retry, and other owners are not affected.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    held: Mutex<HeldShares>,
}

#[derive(Debug, Default)]
struct HeldShares {
    all: usize,
    by: HashMap<Owner, usize>,
}

/// One or some of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Shares>,
    owner: Owner,
    count: AtomicUsize,
}

/// What an answer keeps until the caller has taken it: in the response's extensions on its way out.
#[derive(Debug, Clone)]
pub(crate) struct Kept(#[expect(dead_code, reason = "kept for its end")] pub(crate) Arc<Share>);

/// The memory that a request's body takes: in the request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct BodyMemory(pub(crate) Arc<Share>);

impl Shares {
    pub(crate) fn new(what: &'static str, most: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { what, most, each: each.min(most), held: Mutex::default() })
    }

    /// One for this owner.
    pub(crate) fn take(self: &Arc<Self>, owner: &Owner) -> Result<Kept, Failure> {
        let share = self.none(owner);
        share.add(1)?;
        Ok(Kept(Arc::new(share)))
    }

    /// None yet, for this owner.
    pub(crate) fn none(self: &Arc<Self>, owner: &Owner) -> Share {
        Share { of: Arc::clone(self), owner: owner.clone(), count: AtomicUsize::new(0) }
    }

    fn full(&self, message: String, limit: usize) -> Failure {
        Failure::new(ErrorCode::QuotaExceeded, message).with("limit", limit).with("retry_after_ms", 1_000)
    }

    fn held(&self) -> MutexGuard<'_, HeldShares> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Takes so many more.
    pub(crate) fn add(&self, more: usize) -> Result<(), Failure> {
        let Shares { what, most, each, .. } = &*self.of;
        let mut held = self.of.held();
        if held.all.saturating_add(more) > *most {
            return Err(self.of.full(format!("too many {what} at once"), *most));
        }
        let own = held.by.get(&self.owner).copied().unwrap_or_default();
        if own.saturating_add(more) > *each {
            let message = format!(
                "too many {what} for this owner: {own} at once, the limit is {each}; try again when some have ended"
            );
            return Err(self.of.full(message, *each));
        }
        held.by.insert(self.owner.clone(), own + more);
        held.all += more;
        self.count.fetch_add(more, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let count = *self.count.get_mut();
        let mut held = self.of.held();
        held.all = held.all.saturating_sub(count);
        let left = held.by.get(&self.owner).copied().unwrap_or_default().saturating_sub(count);
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
        assert!(
            refused.code() == ErrorCode::QuotaExceeded
                && refused.message().contains("too many requests for this owner: 2 at once")
        );
        taken.push(shares.take(&ben).unwrap());
        assert!(shares.take(&eve).unwrap_err().message().starts_with("too many requests"));
        taken.remove(0);
        taken.push(shares.take(&eve).unwrap());
        drop(taken);
        let some = shares.none(&ada);
        some.add(1).unwrap();
        assert!(some.add(2).is_err() && some.add(usize::MAX).is_err());
        some.add(1).unwrap();
        drop(some);
        let held = shares.held();
        assert!(held.all == 0 && held.by.is_empty(), "{held:?}");
    }
}
