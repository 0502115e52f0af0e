//! Which process group and which session this process belongs to.
//!
//! Either can be led from outside our process namespace (`unshare --pid`, `nsenter`, some build machines); the
//! kernel then names it 0, which the usual wrappers take for impossible.

use cove_walls::Stat;
use rustix::process::Pid;

/// The group this process is in, if its leader can be named here.
pub(crate) fn group() -> Option<Pid> {
    leader(own()?.group())
}

/// The leader of this process's session, if it can be named here.
pub(crate) fn session() -> Option<Pid> {
    leader(own()?.session())
}

fn own() -> Option<Stat> {
    Stat::of(std::process::id())
}

fn leader(number: Option<u32>) -> Option<Pid> {
    Pid::from_raw(number?.cast_signed())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_leader_outside_the_namespace_is_nobody() {
        let leaders = |text: &str| Stat::parse(text).map(|stat| (leader(stat.group()), leader(stat.session())));
        assert_eq!(leaders("7 (co ) ve) R 1 0 0 34816 7 4194304"), Some((None, None)));
        assert_eq!(leaders("7 (cove) R 1 5 3 34816 7 4194304"), Some((Pid::from_raw(5), Pid::from_raw(3))));
        assert_eq!(leaders(""), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the child is waited for below")]
    fn the_kernel_writes_what_is_read_here() {
        let mut cat = std::process::Command::new("cat");
        let child = cat.arg("/proc/self/stat").stdout(Stdio::piped()).process_group(0).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let stat = Stat::parse(&text).unwrap();
        assert_eq!((leader(stat.group()), leader(stat.session())), (Some(pid), session()));
    }
}
