//! Makes room in a group that was given to us (systemd's `Delegate=yes`): version 2 divides a group only while no process
//! is in it, so the one process there, ourselves, moves down into a group of its own.
//!
//! That is how an ordinary user gets limits that the kernel enforces. Where others are in the group it is not ours to
//! rearrange, and nothing is done.

use std::fs;
use std::io;
use std::path::Path;

use crate::controller::Controller;
use crate::hierarchy::{Here, MAIN, Version};

/// Called once, before any other process or thread is started. Says whether groups can be made below ours from now on.
pub fn settle() -> bool {
    let here = Here::look();
    let Some(place) = here.find(Controller::Memory.name()) else { return false };
    let Some(own) = place.parents.first() else { return false };
    if place.version == Version::One {
        return true;
    }
    let controllers: Vec<_> = Controller::ALL.iter().map(|controller| controller.name()).collect();
    settle_in(own, std::process::id(), &controllers).is_ok()
}

/// Moves `pid` out of the way and has those controllers handed down that the group itself has.
fn settle_in(group: &Path, pid: u32, controllers: &[&str]) -> io::Result<()> {
    let read = |name: &str| fs::read_to_string(group.join(name));
    let has = |list: &str, name: &str| list.split_whitespace().any(|word| word == name);
    let (offered, handed) = (read("cgroup.controllers")?, read("cgroup.subtree_control")?);
    let missing: Vec<_> = controllers
        .iter()
        .filter(|name| has(&offered, name) && !has(&handed, name))
        .map(|name| format!("+{name}"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if read("cgroup.procs")?.lines().any(|line| line.parse() != Ok(pid)) {
        return Err(io::Error::other("other processes are in this control group"));
    }
    let main = group.join(MAIN);
    match fs::create_dir(&main) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => fs::write(main.join("cgroup.procs"), pid.to_string())?,
    }
    let settled = fs::write(group.join("cgroup.subtree_control"), missing.join(" "));
    if settled.is_err() {
        let _ = fs::write(group.join("cgroup.procs"), pid.to_string());
        let _ = fs::remove_dir(&main);
    }
    settled
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program in the group, ended with the test.
    struct Somebody(std::process::Child);

    impl Drop for Somebody {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// With the kernel's own version 2, whichever controller it has to give.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test's child, killed when the test ends")]
    fn a_group_of_our_own_is_divided_and_others_is_left_alone() {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 ")).and_then(|line| line.split(' ').nth(4));
        let root = mount.map(Path::new);
        let group = root.map(|root| root.join(format!("cove-test-settle-{}", std::process::id())));
        let Some(group) = group.filter(|group| fs::create_dir(group).is_ok()) else {
            println!("NOT TRIED: no group of version 2 can be made here");
            return;
        };
        let sleep = || Somebody(std::process::Command::new("sleep").arg("60").spawn().unwrap());
        let (ours, other) = (sleep(), sleep());
        let join = |who: &Somebody, dir: &Path| fs::write(dir.join("cgroup.procs"), who.0.id().to_string()).unwrap();
        let offered = fs::read_to_string(group.join("cgroup.controllers")).unwrap();
        let names: Vec<&str> = offered.split_whitespace().collect();
        let outcome = std::panic::catch_unwind(|| {
            join(&ours, &group);
            join(&other, &group);
            if names.is_empty() {
                println!("NOT TRIED: this kernel's version 2 has no controller to hand down to {}", group.display());
                return;
            }
            assert!(settle_in(&group, ours.0.id(), &names).is_err(), "others are in it");
            assert!(!group.join(MAIN).exists());
            join(&other, root.unwrap());
            settle_in(&group, ours.0.id(), &names).unwrap();
            settle_in(&group, ours.0.id(), &names).unwrap();
            let handed = fs::read_to_string(group.join("cgroup.subtree_control")).unwrap();
            assert_eq!(handed.split_whitespace().count(), names.len(), "{handed}");
            let members = fs::read_to_string(group.join(MAIN).join("cgroup.procs")).unwrap();
            assert_eq!(members.trim(), ours.0.id().to_string());
        });
        drop((ours, other));
        crate::remove(&[group.join(MAIN), group]);
        outcome.unwrap();
    }
}
