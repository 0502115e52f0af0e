//! Everybody who carries a mark, found in `/proc`, and their end.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use cove_walls::Stat;
use cove_walls::spawn::mark_of;
use rustix::process::{Pid, Signal, kill_process};

use super::Mark;

/// How long the end of a tree is waited for. A fork bomb takes some ten milliseconds; with what else an answer needs,
/// this keeps the promise of deadline + 1 s.
const END_LIMIT: Duration = Duration::from_millis(700);

/// How often a tree that forks faster than we look is stopped before it is killed: who is stopped can neither fork nor
/// make room for others.
const FREEZING_LOOKS: usize = 20;

/// Between two looks, for the kernel to take the dead away.
const PAUSE: Duration = Duration::from_millis(1);

/// Looks of somebody who cannot wait.
const HURRIED_LOOKS: usize = 50;

/// The first thread of a process may have ended while others run: only one that is alone is dead. Who is not there is, too.
fn is_dead(pid: i32) -> bool {
    Stat::of(pid.cast_unsigned()).as_ref().and_then(has_ended).unwrap_or(true)
}

fn has_ended(stat: &Stat) -> Option<bool> {
    let (is_dead, threads) = (stat.is_dead()?, stat.threads()?);
    Some(is_dead && threads <= 1)
}

fn numbered() -> impl Iterator<Item = i32> {
    cove_walls::process::all().into_iter().flatten().map(u32::cast_signed)
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// A number of processes that are to end together.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tree {
    /// Those with this mark.
    Of(Mark),
    /// Those with the mark of any program from the first number to before the second.
    Between(u64, u64),
}

impl Tree {
    /// Sends a signal to everybody in it; who of them was alive.
    ///
    /// Each at once when it is seen: one that forks and ends all the time is another by the end of the look.
    fn meet(self, signal: Signal) -> Vec<i32> {
        let own = |found| match self {
            Self::Of(mark) => mark.owns(found),
            Self::Between(first, next) => super::mark::is_between(found, first, next),
        };
        let members = numbered().filter(|pid| mark_of(*pid).is_some_and(own));
        members.inspect(|pid| send(*pid, signal)).filter(|pid| !is_dead(*pid)).collect()
    }

    /// Ends everybody in it; `false`: somebody is left after [`END_LIMIT`], and is still being ended.
    pub(super) async fn end(self) -> bool {
        let until = Instant::now() + END_LIMIT;
        loop {
            if self.look().await {
                return true;
            }
            if Instant::now() >= until {
                break;
            }
        }
        tokio::spawn(async move { while !self.look().await {} });
        false
    }

    /// Kills whom it finds; `true`: nobody is left.
    ///
    /// Who forks and ends in the middle of a look may hide its child from it, but only if numbers begin anew just then:
    /// so nobody is left when two looks have seen nobody.
    async fn look(self) -> bool {
        let mut stopped = HashSet::new();
        for _ in 0..FREEZING_LOOKS {
            let before = stopped.len();
            stopped.extend(self.meet(Signal::STOP));
            if stopped.len() == before {
                break;
            }
            tokio::task::yield_now().await;
        }
        if self.meet(Signal::KILL).is_empty() && stopped.is_empty() {
            return true;
        }
        tokio::time::sleep(PAUSE).await;
        false
    }

    /// Ends them as far as that goes without waiting.
    pub(super) fn kill_now(self) {
        for _ in 0..HURRIED_LOOKS {
            if self.meet(Signal::KILL).is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_an_end() {
        let stat = |name: &str, state: &str, threads: u32| {
            format!("12 ({name}) {state} 7 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 {threads} 0 99")
        };
        let ended = |text: &str| has_ended(&Stat::parse(text).unwrap());
        assert_eq!(ended(&stat("a) Z 1 (b", "R", 1)), Some(false));
        assert_eq!(ended(&stat("x", "Z", 1)), Some(true));
        assert_eq!(ended(&stat("its first thread has ended", "Z", 2)), Some(false));
        for nonsense in ["1 (a)", "1 (a) S 1 1"] {
            assert_eq!(ended(nonsense), None, "{nonsense:?}");
        }
    }
}
