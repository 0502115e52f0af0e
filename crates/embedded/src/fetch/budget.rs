//! How much of the host's memory the bodies of one session may take up, all together.
//!
//! A limit per body is not enough: sixteen of them at once are sixteen times that. What a session has under way never
//! exceeds half of the memory that the session itself may use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The budget of one session.
pub(super) struct BodyBudget {
    left_bytes: AtomicU64,
}

/// What one body takes of it; given back when the body is on its way to the guest, or dropped.
pub(super) struct BudgetShare {
    budget: Arc<BodyBudget>,
    bytes: u64,
}

impl BodyBudget {
    pub(super) fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self { left_bytes: AtomicU64::new(bytes) })
    }

    pub(super) fn share(self: &Arc<Self>) -> BudgetShare {
        BudgetShare { budget: Arc::clone(self), bytes: 0 }
    }
}

impl BudgetShare {
    /// Takes more; `false` when there is no more.
    pub(super) fn grow(&mut self, bytes: u64) -> bool {
        let took =
            self.budget.left_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        if took.is_ok() {
            self.bytes += bytes;
        }
        took.is_ok()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.budget.left_bytes.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_given_back() {
        let budget = BodyBudget::new(10);
        let (mut first, mut second) = (budget.share(), budget.share());
        assert!(first.grow(6) && second.grow(4));
        assert!(!first.grow(1));
        drop(second);
        assert!(first.grow(4));
        assert_eq!(first.bytes(), 10);
    }
}
