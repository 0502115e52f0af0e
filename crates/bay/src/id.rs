//! New ids and names for a verb, which says so where the system gives no random bytes.

use cove_api::{BayError, ErrorCode};
use cove_core::PrefixedId;

use crate::BayResult;

/// A new id.
pub(crate) fn fresh<T: PrefixedId>() -> BayResult<T> {
    cove_store::new_id().map_err(|error| no_randomness(&error))
}

/// A name for what clients never name: a Bay, a container.
pub(crate) fn fresh_name(kind: &str) -> BayResult<String> {
    let chance = getrandom::u64().map_err(|error| no_randomness(&error))? >> 16;
    Ok(format!("{kind}-{chance:012x}"))
}

fn no_randomness(error: &getrandom::Error) -> BayError {
    BayError::new(ErrorCode::InternalError, format!("the system gave no random bytes for an id: {error}"))
}
