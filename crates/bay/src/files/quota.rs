//! Whether there is room in a cargo for what comes through Bay.

use std::sync::Arc;
use std::time::Instant;

use super::{full, uncounted};
use crate::sandboxes::driver_fault;
use crate::session::LiveSession;
use crate::{Bay, BayResult};

impl Bay {
    /// How much more the cargo may hold; refused where `coming` bytes do not fit.
    pub(super) async fn check_space(&self, session: &Arc<LiveSession>, coming: u64) -> BayResult<u64> {
        self.may_grow()?;
        let limit = session.cargo_limit_bytes;
        let used = match session.known_bytes() {
            Some(bytes) => bytes,
            None => {
                let begin = Instant::now();
                let weighed = self.inner.driver.cargos().weight(&session.cargo_id, limit).await;
                let weight = weighed.map_err(|error| driver_fault(&error))?;
                if let Some(why) = weight.uncounted {
                    return Err(uncounted(limit, why));
                }
                session.note_bytes(weight.bytes, begin.elapsed());
                weight.bytes
            }
        };
        if used.saturating_add(coming) > limit {
            return Err(full(limit, used));
        }
        Ok(limit - used)
    }
}
