//! Whether anybody in a sandbox has run since the last look: if nobody has, nobody holds more than before.
//!
//! The kernel says to the nanosecond how long each process has run. Who is made was made by somebody who ran for it: so the
//! clocks of those who were there tell about those who have come since.

use cove_walls::process::{children, run_time};

/// Where there are more processes, it is looked at all of them each time.
const MOST: usize = 64;

/// The processes of a sandbox as they are known outside, with how long each had run.
#[derive(Debug, Default)]
pub(super) struct Clocks(Vec<(u32, u64)>);

/// What one walk over the init and whoever descends from it has found.
#[derive(Debug)]
pub(super) struct Walk {
    /// The init's own children.
    pub(super) children: Vec<u32>,
    /// `None` where there are too many, or they come and go meanwhile.
    pub(super) clocks: Option<Clocks>,
}

impl Walk {
    /// Walks over all of them.
    pub(super) fn from(init: u32) -> Self {
        // The clock first: whoever is made after its reading moves it.
        let own = run_time(init).ok();
        let children = children(init).unwrap_or_default();
        let clocks = own.and_then(|own| Clocks::read(vec![(init, own)], children.clone()));
        Self { children, clocks }
    }
}

impl Clocks {
    fn read(mut clocks: Vec<(u32, u64)>, mut next: Vec<u32>) -> Option<Self> {
        while let Some(pid) = next.pop() {
            if clocks.len() == MOST {
                return None;
            }
            clocks.push((pid, run_time(pid).ok()?));
            next.extend(children(pid).ok()?);
        }
        Some(Self(clocks))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether all of them are there still and none has run.
    pub(super) fn stand_still(&self) -> bool {
        self.0.iter().all(|(pid, before)| run_time(*pid).is_ok_and(|now| now == *before))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the child is waited for below")]
    fn who_runs_moves_a_clock_and_so_does_who_comes_and_who_goes() {
        let mut sleeper = Command::new("sh")
            .args(["-c", "echo up; read line; sleep 1000 & echo made; read line; kill $!"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut to, mut from) = (sleeper.stdin.take().unwrap(), sleeper.stdout.take().unwrap());
        let mut word = [0; 5];
        // It may still be on its way to sleep when its word is read.
        let settled = |count| {
            let begin = std::time::Instant::now();
            loop {
                let clocks = Walk::from(sleeper.id()).clocks.unwrap();
                if clocks.count() == count && clocks.stand_still() && clocks.stand_still() {
                    return clocks;
                }
                assert!(begin.elapsed().as_secs() < 20, "{clocks:?}");
            }
        };
        from.read_exact(&mut word[..3]).unwrap();
        let one = settled(1);
        to.write_all(b"\n").unwrap();
        from.read_exact(&mut word).unwrap();
        assert!(!one.stand_still());
        let two = settled(2);
        drop(to);
        sleeper.wait().unwrap();
        assert!(!two.stand_still());
    }
}
