//! A browser's process group: ended at once, and known to be gone.
//!
//! When a browser's first process dies, the others belong to the machine's first process, and some of those never
//! bury what they inherit (a container without an init). A dead process holds nothing; only the living are waited for.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The longest pause between two looks.
const LOOK: Duration = Duration::from_millis(40);

/// Ends every process of the group.
pub(crate) fn kill_group(leader: u32) {
    if let Some(leader) = Pid::from_raw(leader.cast_signed()) {
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

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
    let Ok(entries) = fs::read_dir("/proc") else { return true };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let stats = numbers.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/stat")).ok());
    stats.into_iter().any(|stat| is_living_member(&stat, leader))
}

/// `pid (name) state parent group …`; the name may hold spaces and brackets of its own.
fn is_living_member(stat: &str, leader: u32) -> bool {
    let Some((_, after_name)) = stat.rsplit_once(')') else { return false };
    let mut fields = after_name.split_ascii_whitespace();
    let is_living = fields.next().is_some_and(|state| !matches!(state, "Z" | "X"));
    is_living && fields.nth(1).and_then(|group| group.parse().ok()) == Some(leader)
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
            ("", false),
        ] {
            assert_eq!(is_living_member(stat, 7), expected, "{stat}");
        }
    }

    /// A child that nobody buries, as under a first process that does not.
    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "the child is ended and waited for below")]
    async fn an_unburied_group_is_gone() {
        use std::os::unix::process::CommandExt;
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).process_group(0).spawn().unwrap();
        assert!(has_living(child.id()));
        kill_group(child.id());
        let began = std::time::Instant::now();
        gone(child.id(), Duration::from_secs(60)).await;
        assert!(is_there(child.id()) && !has_living(child.id()), "it was to be dead and not buried");
        assert!(began.elapsed() < Duration::from_secs(30));
        child.wait().unwrap();
        assert!(!is_there(child.id()));
    }
}
