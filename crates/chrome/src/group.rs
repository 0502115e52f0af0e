//! A browser's process group: ended at once, and known to be gone.
//!
//! When a browser's first process dies, the others belong to the machine's first process, and some of those never
//! reap what they inherit (a container without an init). A dead process holds nothing; only the living are waited for.

use std::time::Duration;

use cove_walls::{Stat, process};
use rustix::process::{Pid, test_kill_process_group};

/// The longest pause between two looks.
const LOOK: Duration = Duration::from_millis(40);

/// Waits until no process of the group is alive, and no longer than `patience`.
pub(crate) async fn gone(leader: u32, patience: Duration) {
    let gone = async {
        let mut pause = Duration::from_millis(5);
        while is_there(leader) && has_living(leader) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK);
        }
    };
    let _ = tokio::time::timeout(patience, gone).await;
}

/// Whether the group has any process, dead ones too: this asks the kernel only once.
fn is_there(leader: u32) -> bool {
    Pid::from_raw(leader.cast_signed()).is_some_and(|leader| test_kill_process_group(leader).is_ok())
}

fn has_living(leader: u32) -> bool {
    let Ok(mut all) = process::all() else { return true };
    all.any(|pid| Stat::of(pid).is_some_and(|stat| is_living_member(&stat, leader)))
}

fn is_living_member(stat: &Stat, leader: u32) -> bool {
    stat.is_dead() == Some(false) && stat.group() == Some(leader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dead_are_not_members() {
        for (stat, expected) in [
            ("9 (chrome) S 1 7 7 0", true),
            ("9 (a) b) R 1 7 7 0", true),
            ("9 (chrome) Z 1 7 7 0", false),
            ("9 (chrome) X 1 7 7 0", false),
            ("9 (chrome) S 1 8 7 0", false),
        ] {
            assert_eq!(is_living_member(&Stat::parse(stat).unwrap(), 7), expected, "{stat}");
        }
    }

    /// A child that nobody buries, as under a first process that does not.
    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "the child is ended and waited for below")]
    async fn a_group_that_nobody_reaps_is_gone() {
        use std::os::unix::process::CommandExt;
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).process_group(0).spawn().unwrap();
        assert!(has_living(child.id()));
        process::kill_group(child.id());
        let began = std::time::Instant::now();
        gone(child.id(), Duration::from_secs(60)).await;
        assert!(is_there(child.id()) && !has_living(child.id()), "it was to have ended and not be reaped");
        assert!(began.elapsed() < Duration::from_secs(30));
        child.wait().unwrap();
        assert!(!is_there(child.id()));
    }
}
