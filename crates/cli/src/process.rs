//! Which process group and which session this process belongs to.
//!
//! Either can be led from outside our process namespace (`unshare --pid`, `nsenter`, some build machines); the
//! kernel then names it 0, which the usual wrappers take for impossible.

use rustix::process::Pid;

/// The group this process is in, if its leader can be named here.
pub(crate) fn group() -> Option<Pid> {
    membership().0
}

/// The leader of this process's session, if it can be named here.
pub(crate) fn session() -> Option<Pid> {
    membership().1
}

fn membership() -> (Option<Pid>, Option<Pid>) {
    std::fs::read_to_string("/proc/self/stat").map(|stat| parse(&stat)).unwrap_or_default()
}

/// `pid (name) state parent group session …`; the name may hold spaces and brackets of its own.
fn parse(stat: &str) -> (Option<Pid>, Option<Pid>) {
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut numbers = after_name.split_whitespace().skip(2).map(|word| word.parse().ok().and_then(Pid::from_raw));
    (numbers.next().flatten(), numbers.next().flatten())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_leader_outside_the_namespace_is_nobody() {
        assert_eq!(parse("7 (co ) ve) R 1 0 0 34816 7 4194304"), (None, None));
        assert_eq!(parse("7 (cove) R 1 5 3 34816 7 4194304"), (Pid::from_raw(5), Pid::from_raw(3)));
        assert_eq!(parse(""), (None, None));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the child is waited for below")]
    fn the_kernel_writes_what_is_read_here() {
        let mut cat = std::process::Command::new("cat");
        let child = cat.arg("/proc/self/stat").stdout(Stdio::piped()).process_group(0).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let stat = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!(parse(&stat), (Some(pid), session()));
    }
}
