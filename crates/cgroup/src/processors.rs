//! Whole processors for a sandbox, where no control group deals out their time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many sandboxes of this process use each.
static USED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Some processors, by number. They count as used until this is dropped.
#[derive(Debug)]
pub struct Processors(Vec<usize>);

impl Processors {
    /// As many of these as `cpus` rounds up to, at least one: those that the fewest sandboxes of this process use. Among
    /// equals the first from `start` on.
    pub fn take(allowed: &[usize], cpus: f64, start: usize) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded in the same line")]
        let wanted = (cpus.ceil().max(1.0) as usize).min(allowed.len());
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut order: Vec<usize> =
            allowed.iter().copied().cycle().skip(start % allowed.len().max(1)).take(allowed.len()).collect();
        order.sort_by_key(|number| used.get(number).copied().unwrap_or(0));
        order.truncate(wanted);
        for number in &order {
            *used.entry(*number).or_default() += 1;
        }
        Self(order)
    }

    /// Their numbers.
    pub fn numbers(&self) -> &[usize] {
        &self.0
    }
}

impl Drop for Processors {
    fn drop(&mut self) {
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        for number in &self.0 {
            if let Some(count) = used.get_mut(number) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_get_different_ones() {
        let allowed = [100, 102, 103];
        let first = Processors::take(&allowed, 0.5, 0);
        let second = Processors::take(&allowed, 1.2, 0);
        assert_eq!((first.numbers(), second.numbers()), (&[100][..], &[102, 103][..]));
        drop(second);
        assert_eq!(Processors::take(&allowed, 9.0, 0).numbers().len(), 3);
        assert_eq!(Processors::take(&allowed, 1.0, 5).numbers(), [103]);
        assert_eq!(Processors::take(&[], 1.0, 5).numbers(), [0; 0]);
    }
}
