//! The collector: ends what is over, finds what was lost.

use cove_api::{GcReport, GcRequest, GcStatus};

use crate::{Answer, Bay};

impl Bay {
    /// Runs its tasks now.
    pub async fn run_gc(&self, request: GcRequest) -> Answer<GcReport> {
        let _ = (request,);
        Err(crate::bay::unbuilt())
    }

    /// What it does and did.
    pub async fn gc_status(&self) -> Answer<GcStatus> {
        Err(crate::bay::unbuilt())
    }
}
