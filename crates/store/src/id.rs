//! New ids. Their forms are in `cove-core`; the randomness is here.

use cove_core::PrefixedId;

/// A new id. Fails only where the system has no randomness to give.
pub fn new_id<T: PrefixedId>() -> Result<T, getrandom::Error> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes)?;
    Ok(T::from_random(bytes))
}
