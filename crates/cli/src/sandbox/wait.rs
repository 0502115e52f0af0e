//! Progress while something takes its time: on a terminal only, and gone when it is done.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::terminal::{self, DIM, PLAIN};

/// What is quicker than this needs no words.
const PATIENCE: Duration = Duration::from_millis(400);
const STEP: Duration = Duration::from_millis(100);
/// Empties the line.
const CLEAR: &str = "\r\x1b[K";

/// Whether the line belongs to somebody else now.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Ends the words about progress: what is waited for prints itself.
pub(super) fn make_room() -> std::io::Result<()> {
    if TAKEN.swap(true, Ordering::Relaxed) || !terminal::aside_is_terminal() {
        return Ok(());
    }
    terminal::own_aside(CLEAR)
}

/// Waits for some work and says so.
pub(super) async fn with_progress<T>(what: &str, work: impl Future<Output = T>) -> T {
    if !terminal::aside_is_terminal() {
        return work.await;
    }
    let mut work = std::pin::pin!(work);
    let began = Instant::now();
    let mut tick = tokio::time::interval_at((began + PATIENCE).into(), STEP);
    let mut shown = false;
    loop {
        tokio::select! {
            done = &mut work => {
                if shown && !TAKEN.load(Ordering::Relaxed) {
                    let _ = terminal::own_aside(CLEAR);
                }
                return done;
            }
            _ = tick.tick(), if !TAKEN.load(Ordering::Relaxed) => {
                shown = true;
                let seconds = began.elapsed().as_secs_f64();
                let _ = terminal::own_aside(CLEAR);
                let _ = write!(terminal::aside(), "{DIM}{what} … {seconds:.1} s{PLAIN}");
            }
        }
    }
}
