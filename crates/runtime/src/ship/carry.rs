//! Bytes in both directions between two streams, for as long as something moves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::watch;

/// What is carried at once.
const BLOCK_BYTES: usize = 16 << 10;

/// Once one side has said its last word, the other may be silent for so long. A side that is gone for good looks just like
/// one that only listens.
const HALF_CLOSED: Duration = Duration::from_secs(60);

/// Copies until both sides have ended, or nothing has moved for `idle`. The end of one direction is passed on, and the other
/// goes on.
pub(super) async fn carry<A, B>(one: A, other: B, idle: Duration)
where
    A: AsyncRead + AsyncWrite,
    B: AsyncRead + AsyncWrite,
{
    let (mut from_one, mut to_one) = tokio::io::split(one);
    let (mut from_other, mut to_other) = tokio::io::split(other);
    let carried = Carried { at: watch::Sender::new(Instant::now()), half: AtomicBool::new(false) };
    let both = async {
        let there = carried.pass(&mut from_one, &mut to_other);
        let back = carried.pass(&mut from_other, &mut to_one);
        tokio::join!(there, back)
    };
    tokio::select! {
        _ = both => {}
        () = carried.silence(idle) => {}
    }
}

/// What has moved.
struct Carried {
    /// When something last did.
    at: watch::Sender<Instant>,
    /// Whether one direction has ended.
    half: AtomicBool,
}

impl Carried {
    async fn pass(&self, from: &mut (impl AsyncRead + Unpin), to: &mut (impl AsyncWrite + Unpin)) {
        let mut block = vec![0; BLOCK_BYTES];
        while let Ok(count @ 1..) = from.read(&mut block).await {
            self.moved();
            let mut rest = block.get(..count).unwrap_or_default();
            while !rest.is_empty() {
                match to.write(rest).await {
                    Ok(wrote @ 1..) => rest = rest.get(wrote..).unwrap_or_default(),
                    _ => return self.ended(),
                }
                self.moved();
            }
            if to.flush().await.is_err() {
                break;
            }
        }
        let _ = to.shutdown().await;
        self.ended();
    }

    fn moved(&self) {
        self.at.send_replace(Instant::now());
    }

    fn ended(&self) {
        self.half.store(true, Ordering::Relaxed);
        self.moved();
    }

    async fn silence(&self, idle: Duration) {
        let mut moved = self.at.subscribe();
        loop {
            let last = *moved.borrow_and_update();
            let limit = if self.half.load(Ordering::Relaxed) { idle.min(HALF_CLOSED) } else { idle };
            if last.elapsed() >= limit {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep_until((last + limit).into()) => {}
                // The sender is this very value.
                _ = moved.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_direction_ends_by_itself() {
        let ((mut near, one), (other, mut far)) = (tokio::io::duplex(8), tokio::io::duplex(8));
        let carrying = tokio::spawn(carry(one, other, Duration::from_secs(60)));
        near.write_all(b"a long question").await.unwrap();
        near.shutdown().await.unwrap();
        let mut heard = String::new();
        far.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "a long question");
        far.write_all(b"a long answer").await.unwrap();
        drop(far);
        heard.clear();
        near.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "a long answer");
        carrying.await.unwrap();
    }

    #[tokio::test]
    async fn silence_ends_it() {
        let ((near, one), (other, far)) = (tokio::io::duplex(8), tokio::io::duplex(8));
        let began = Instant::now();
        carry(one, other, Duration::from_millis(200)).await;
        assert!(began.elapsed() >= Duration::from_millis(200));
        drop((near, far));
    }
}
