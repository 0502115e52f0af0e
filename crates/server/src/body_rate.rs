//! How fast a body must arrive.
//!
//! A body holds a request's slot until it has arrived. A slow sender could hold it for as long as it likes, so the
//! whole body has a time limit, no pause may be too long, and after a grace period it must arrive at a minimum rate.
//! Only time spent waiting for the sender counts: the time that a sandbox takes to start or to write does not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use cove_api::ErrorCode;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::limits;
use crate::options::ServerOptions;

/// One body's rate. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub(crate) struct BodyRate {
    whole: Duration,
    pause: Duration,
    grace: Duration,
    spent: Arc<Mutex<Spent>>,
}

#[derive(Debug, Default)]
struct Spent {
    waited: Duration,
    bytes: u64,
    late: Option<Late>,
}

/// How a body was too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Late {
    /// It was not there in time.
    Whole(Duration),
    /// It stood still for too long.
    Pause(Duration),
    /// It came too slowly.
    Rate,
}

impl BodyRate {
    /// A JSON body's.
    pub(crate) fn json(options: &ServerOptions) -> Self {
        Self::new(options.body_read, options)
    }

    /// An upload's.
    pub(crate) fn upload(options: &ServerOptions) -> Self {
        Self::new(options.upload_wait, options)
    }

    fn new(whole: Duration, options: &ServerOptions) -> Self {
        Self { whole, pause: options.body_read, grace: options.body_grace, spent: Arc::default() }
    }

    /// Waits for something of the body.
    pub(crate) async fn wait<T>(&self, coming: impl Future<Output = T>) -> Result<T, Late> {
        let (limit, late) = self.limit();
        let began = Instant::now();
        let done = tokio::time::timeout(limit, coming).await;
        let mut spent = self.spent();
        spent.waited += began.elapsed();
        done.map_err(|_| {
            spent.late = Some(late);
            late
        })
    }

    /// So many bytes have come.
    pub(crate) fn count(&self, bytes: usize) {
        self.spent().bytes += bytes as u64;
    }

    /// Why it was given up, if it was.
    pub(crate) fn late(&self) -> Option<Late> {
        self.spent().late
    }

    /// How long the next piece may take, and what it is if it takes longer.
    fn limit(&self) -> (Duration, Late) {
        let spent = self.spent();
        let earned = Duration::from_millis(spent.bytes.saturating_mul(1_000) / limits::BODY_RATE);
        let whole = (self.whole.saturating_sub(spent.waited), Late::Whole(self.whole));
        let pause = (self.pause, Late::Pause(self.pause));
        let rate = (self.grace.saturating_add(earned).saturating_sub(spent.waited), Late::Rate);
        [whole, pause, rate].into_iter().min_by_key(|(limit, _)| *limit).unwrap_or(whole)
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Late> for Failure {
    fn from(late: Late) -> Self {
        let message = match late {
            Late::Whole(limit) => format!("the body did not arrive within {} s", limit.as_secs_f64()),
            Late::Pause(pause) => format!("no data of the body arrived for {} s", pause.as_secs_f64()),
            Late::Rate => format!("the body arrived at less than {} bytes per second", limits::BODY_RATE),
        };
        Self::with_status(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(change: impl FnOnce(&mut ServerOptions)) -> BodyRate {
        let mut options = ServerOptions::new(Vec::new());
        change(&mut options);
        BodyRate::upload(&options)
    }

    /// What a sender is late by, after so many bytes and so long a wait.
    fn check(rate: &BodyRate, bytes: u64, waited_secs: u64, limit_secs: u64, late: Late) {
        *rate.spent() = Spent { waited: Duration::from_secs(waited_secs), bytes, late: None };
        assert_eq!(rate.limit(), (Duration::from_secs(limit_secs), late), "{bytes} bytes in {waited_secs} s");
    }

    #[test]
    fn who_trickles_is_told_and_who_is_merely_slow_is_not() {
        let usual = rate(|_| {});
        check(&usual, 0, 0, 10, Late::Rate);
        // One byte in five seconds; a kibibyte a second; as much as comes at once, and then nothing.
        check(&usual, 1, 10, 0, Late::Rate);
        check(&usual, 5_000 << 10, 5_000, 10, Late::Rate);
        check(&usual, 1 << 30, 1, 60, Late::Pause(limits::BODY_READ));
        let short = rate(|options| options.upload_wait = Duration::from_secs(9));
        check(&short, 1 << 30, 5, 4, Late::Whole(Duration::from_secs(9)));
        check(&short, 1 << 30, 50, 0, Late::Whole(Duration::from_secs(9)));
    }

    #[tokio::test]
    async fn what_is_late_is_remembered() {
        let rate = rate(|options| options.body_grace = Duration::ZERO);
        assert_eq!(rate.wait(std::future::ready(1)).await, Ok(1), "what is there is taken");
        assert_eq!(rate.wait(std::future::pending::<()>()).await, Err(Late::Rate));
        assert_eq!(rate.late(), Some(Late::Rate));
    }
}
