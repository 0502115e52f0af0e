//! Progress while something takes its time: on a terminal only, and gone when it is done.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::exit::{DIM, PLAIN};

/// What is quicker than this needs no words.
const PATIENCE: Duration = Duration::from_millis(400);
const STEP: Duration = Duration::from_millis(100);

/// Waits for some work and says so.
pub(super) async fn with_progress<T>(what: &str, work: impl Future<Output = T>) -> T {
    let aside = std::io::stderr();
    if !aside.is_terminal() {
        return work.await;
    }
    let mut work = std::pin::pin!(work);
    let began = Instant::now();
    let mut tick = tokio::time::interval_at((began + PATIENCE).into(), STEP);
    let mut shown = false;
    loop {
        tokio::select! {
            done = &mut work => {
                if shown {
                    let _ = write!(anstream::stderr().lock(), "\r\x1b[K");
                }
                return done;
            }
            _ = tick.tick() => {
                shown = true;
                let seconds = began.elapsed().as_secs_f64();
                let _ = write!(anstream::stderr().lock(), "\r\x1b[K{DIM}{what} … {seconds:.1} s{PLAIN}");
            }
        }
    }
}
