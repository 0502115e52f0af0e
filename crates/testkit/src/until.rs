//! Waiting until something is so.
//!
//! For what nobody tells us about: a socket that closes in another process, a process that ends, a file that a guest
//! writes. It is looked at again and again. Where something can be awaited (a channel, a child, an answer), await that.

use std::time::{Duration, Instant};

/// How long a test waits before it fails: far more than anything takes; only a hang takes longer.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The first pause between two looks, and the longest: what is nearly so is seen at once, and what takes long is not
/// kept from happening by those who ask.
const PAUSES: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(100)];

/// Looks that are due.
struct Looks {
    began: Instant,
    pause: Duration,
}

impl Looks {
    fn begin() -> Self {
        Self { began: Instant::now(), pause: PAUSES[0] }
    }

    /// How long to rest before the next look.
    fn next(&mut self, what: &str) -> Duration {
        assert!(self.began.elapsed() < PATIENCE, "waited in vain until {what}");
        let pause = self.pause;
        self.pause = (pause * 2).min(PAUSES[1]);
        pause
    }
}

/// Waits until something is so.
///
/// # Panics
/// When it is not so within [`PATIENCE`].
pub async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    until_some(what, async || so().await.then_some(())).await;
}

/// Waits until there is something, and gives it.
///
/// # Panics
/// When there is nothing within [`PATIENCE`].
pub async fn until_some<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let mut looks = Looks::begin();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(looks.next(what)).await;
    }
}

/// Waits until something is so where nothing else has to go on meanwhile: it keeps its thread.
///
/// # Panics
/// When it is not so within [`PATIENCE`].
#[expect(clippy::disallowed_methods, reason = "the pause between two looks")]
pub fn until_blocking(what: &str, mut so: impl FnMut() -> bool) {
    let mut looks = Looks::begin();
    while !so() {
        std::thread::sleep(looks.next(what));
    }
}
