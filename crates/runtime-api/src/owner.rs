//! Whether the owner of a runtime in a container still lives: a file that the owner writes anew again and again.
//!
//! Silence is counted by the runtime's own clock, because a container's idea of the machine's uptime or of the date may be its own.
//! What cannot be read counts as silence.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How many looks fit into the longest silence.
const LOOKS: u32 = 8;

/// The owner's file, and how long it may stay as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerLease {
    silence: Duration,
    path: PathBuf,
}

impl FromStr for OwnerLease {
    type Err = String;

    /// `SECONDS:PATH`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("{text:?} is not SECONDS:PATH");
        let (seconds, path) = text.split_once(':').ok_or_else(wrong)?;
        let seconds: u32 = seconds.parse().map_err(|_| wrong())?;
        if seconds == 0 || path.is_empty() {
            return Err(wrong());
        }
        Ok(Self { silence: Duration::from_secs(seconds.into()), path: PathBuf::from(path) })
    }
}

impl OwnerLease {
    /// Waits until the owner has been silent for too long.
    pub async fn over(&self) {
        let (mut seen, mut heard) = (None, Instant::now());
        loop {
            // First a look, then the clock: one that was frozen itself must not take its own silence for the owner's.
            let now = tokio::fs::read(&self.path).await.ok();
            if now.is_some() && now != seen {
                (seen, heard) = (now, Instant::now());
            } else if heard.elapsed() >= self.silence {
                return;
            }
            tokio::time::sleep(self.silence / LOOKS).await;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_read_or_refused() {
        let lease: OwnerLease = "60:/run/a:b".parse().unwrap();
        assert_eq!((lease.silence, lease.path), (Duration::from_secs(60), PathBuf::from("/run/a:b")));
        for wrong in ["", "60", "0:/a", "x:/a", "60:"] {
            assert!(wrong.parse::<OwnerLease>().is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn it_is_over_after_silence_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("beat");
        let lease = OwnerLease { silence: Duration::from_millis(400), path: path.clone() };
        let began = Instant::now();
        let beats = async {
            for number in 0..5 {
                std::fs::write(&path, number.to_string()).unwrap();
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
            Instant::now()
        };
        let (last, ()) = tokio::join!(beats, lease.over());
        assert!(last > began && began.elapsed() >= Duration::from_millis(600 + 300), "{:?}", began.elapsed());
        OwnerLease { silence: Duration::from_millis(50), path: dir.path().join("none") }.over().await;
    }
}
