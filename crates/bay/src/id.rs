//! New ids. Their forms are in `cove-core`; the randomness is here.

use cove_api::{BayError, ErrorCode};
use cove_core::PrefixedId;

use crate::Answer;

/// A new id. Fails only where the system has no randomness to give.
pub(crate) fn new_id<T: PrefixedId>() -> Result<T, getrandom::Error> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes)?;
    Ok(T::from_random(bytes))
}

/// The same for a verb.
pub(crate) fn fresh<T: PrefixedId>() -> Answer<T> {
    new_id().map_err(|error| no_randomness(&error))
}

/// A name for what clients never name: a Bay, a container.
pub(crate) fn fresh_name(kind: &str) -> Answer<String> {
    let chance = getrandom::u64().map_err(|error| no_randomness(&error))? >> 16;
    Ok(format!("{kind}-{chance:012x}"))
}

fn no_randomness(error: &getrandom::Error) -> BayError {
    BayError::new(ErrorCode::InternalError, format!("the system has no randomness: {error}"))
}
