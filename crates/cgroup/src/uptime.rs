//! The machine's uptime: the clock that leases are counted by.
//!
//! All processes of a machine read the same one, nobody can set it, and it goes on while a process is frozen and while
//! the machine sleeps: whoever wakes finds its lease over.

use std::io;

/// Milliseconds since the machine was started.
pub fn uptime_ms() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/uptime").map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("/proc/uptime: {error}; a whole /proc is needed, not one with `subset=pid`"),
        )
    })?;
    read(&text).ok_or_else(|| io::Error::other(format!("/proc/uptime cannot be read: {text:?}")))
}

fn read(text: &str) -> Option<u64> {
    let (seconds, rest) = text.split_whitespace().next()?.split_once('.')?;
    let hundredths: u64 = rest.get(..2)?.parse().ok()?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(hundredths * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read() {
        assert_eq!(read("350735.47 234388.90\n"), Some(350_735_470));
        assert_eq!(read("0.05 0.00"), Some(50));
        for wrong in ["", "12", "x.00 1", "1.2"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        let first = uptime_ms().unwrap();
        assert!(first > 0 && uptime_ms().unwrap() >= first);
    }
}
