//! What happens in a sandbox, as it happens.

use std::pin::Pin;

use cove_api::Event;
use futures_util::Stream;

use crate::{Answer, Bay, Owner};

/// Events of one sandbox; ends with the sandbox or with Bay.
pub type EventStream = Pin<Box<dyn Stream<Item = Event> + Send>>;

impl Bay {
    /// Events after number `after` (`None`: from now on).
    pub async fn events(&self, owner: &Owner, id: &str, after: Option<u64>) -> Answer<EventStream> {
        let _ = (owner, id, after);
        Err(crate::bay::unbuilt())
    }
}
