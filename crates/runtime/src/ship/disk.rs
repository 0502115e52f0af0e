//! What Ship knows of the workspace's limit: the supervisor, who counts from outside, tells it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::error::ApiError;
use cove_cell::{DiskNews, EndedByLimit, ExceededLimit};

/// The supervisor's line, and what it said last.
#[derive(Debug, Default)]
pub(crate) struct Disk(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    line: Option<UnixStream>,
    /// The beginning of a message whose end has not come yet.
    rest: Vec<u8>,
    over: Option<EndedByLimit>,
    ended: Option<(Instant, EndedByLimit)>,
}

impl Disk {
    /// Without a line nothing is ever over a limit.
    pub(crate) fn new(line: Option<UnixStream>) -> std::io::Result<Self> {
        if let Some(line) = &line {
            line.set_nonblocking(true)?;
        }
        Ok(Self(Mutex::new(Heard { line, ..Heard::default() })))
    }

    fn hear<T>(&self, answer: impl FnOnce(&Heard) -> T) -> T {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.read();
        answer(&heard)
    }

    /// For which limit programs were ended since then. It was said before they were.
    pub(crate) fn ended_since(&self, begin: Instant) -> Option<EndedByLimit> {
        self.hear(|heard| heard.ended.filter(|(at, _)| *at >= begin).map(|(_, passed)| passed))
    }

    /// Says that Ship itself has written, or is about to.
    pub(crate) fn wrote(&self) {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A full line says it as well.
        let _ = heard.line.as_ref().map(|mut line| line.write(b"w"));
    }

    /// Refuses to write where nothing more may be.
    pub(crate) fn writable(&self) -> Result<(), ApiError> {
        match self.hear(|heard| heard.over) {
            Some(passed) => Err(ApiError::too_many(format!("Nothing was written: {passed}"))),
            None => {
                self.wrote();
                Ok(())
            }
        }
    }
}

impl Heard {
    fn read(&mut self) {
        let Some(mut line) = self.line.as_ref() else { return };
        let mut block = [0; 4096];
        while let Ok(length @ 1..) = line.read(&mut block) {
            self.rest.extend_from_slice(&block[..length]);
        }
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let message: Vec<_> = self.rest.drain(..=end).collect();
            let Ok(news) = serde_json::from_slice::<DiskNews>(&message) else { continue };
            let DiskNews { used_bytes, limit_bytes, over, ended, uncounted: hidden } = news;
            let passed = EndedByLimit { cause: ExceededLimit::DiskLimit, used_bytes, limit_bytes, hidden };
            self.over = over.then_some(passed);
            if ended {
                self.ended = Some((Instant::now(), passed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_last_word_counts() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let disk = Disk::new(Some(theirs)).unwrap();
        let begin = Instant::now();
        assert!(disk.writable().is_ok() && disk.ended_since(begin).is_none());
        let news = DiskNews { used_bytes: 9, limit_bytes: 8, over: true, ended: true, uncounted: None };
        let text = format!("{}\n", serde_json::to_string(&news).unwrap());
        ours.write_all(&text.as_bytes()[..7]).unwrap();
        assert!(disk.writable().is_ok());
        ours.write_all(&text.as_bytes()[7..]).unwrap();
        assert_eq!(disk.writable().unwrap_err().code(), cove_runtime_api::RefusalCode::QuotaExceeded);
        assert_eq!(disk.ended_since(begin).unwrap().used_bytes, 9);
        assert!(disk.ended_since(Instant::now()).is_none());
        let fine = DiskNews { over: false, ended: false, ..news };
        ours.write_all(format!("{}\n", serde_json::to_string(&fine).unwrap()).as_bytes()).unwrap();
        assert!(disk.writable().is_ok());
    }
}
