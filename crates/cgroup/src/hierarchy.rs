//! Where a controller's groups can be made: what `/proc` says of mounts and of ourselves.

use std::fs;
use std::path::{Path, PathBuf};

use crate::LimitedBy;

/// Which of the two interfaces a hierarchy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

impl Version {
    pub(crate) fn limited_by(self) -> LimitedBy {
        match self {
            Self::One => LimitedBy::CgroupV1,
            Self::Two => LimitedBy::CgroupV2,
        }
    }
}

/// Where groups of one controller can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub(crate) version: Version,
    /// Our own group, then the root of the hierarchy.
    pub(crate) parents: Vec<PathBuf>,
}

/// The group that a process moves to, so that the group it was started in can be divided. See [`settle`](crate::settle).
pub(crate) const MAIN: &str = "cove-main";

/// What `/proc` says, read once.
#[derive(Debug)]
pub(crate) struct Here {
    own: String,
    mounts: String,
}

impl Here {
    pub(crate) fn look() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self { own: read("/proc/self/cgroup"), mounts: read("/proc/self/mountinfo") }
    }

    pub(crate) fn find(&self, controller: &str) -> Option<Hierarchy> {
        find(controller, &self.own, &self.mounts)
    }
}

/// Where the controller is mounted and where in its hierarchy we are.
pub(crate) fn find(controller: &str, own: &str, mounts: &str) -> Option<Hierarchy> {
    // A controller that a version-1 hierarchy uses cannot be had in version 2, so version 1 is asked first.
    let versions = [(Version::One, "cgroup"), (Version::Two, "cgroup2")];
    versions.into_iter().find_map(|(version, kind)| {
        let (root, point) = mounts.lines().find_map(|line| mount_of(line, kind, controller))?;
        if version == Version::Two {
            let offered = fs::read_to_string(Path::new(point).join("cgroup.controllers")).unwrap_or_default();
            if !offered.split_whitespace().any(|word| word == controller) {
                return None;
            }
        }
        let path = own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (names, path) = (fields.next()?, fields.next()?);
            let here = match version {
                Version::One => names.split(',').any(|name| name == controller),
                Version::Two => names.is_empty(),
            };
            here.then_some(path)
        })?;
        let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or("").trim_start_matches('/');
        let own = Path::new(point).join(below);
        let mut parents = vec![own.clone()];
        if let (Some(above), true) = (own.parent(), own.file_name().is_some_and(|name| name == MAIN)) {
            // We have moved ourselves out of the way: the group above is ours to divide.
            parents.insert(0, above.to_owned());
        }
        if !below.is_empty() {
            parents.push(PathBuf::from(point));
        }
        Some(Hierarchy { version, parents })
    })
}

/// Root and mount point of a line of `mountinfo`, if it is the hierarchy that is looked for.
fn mount_of<'a>(line: &'a str, kind: &str, controller: &str) -> Option<(&'a str, &'a str)> {
    let (front, back) = line.split_once(" - ")?;
    let mut back = back.split(' ');
    let (this, options) = (back.next()?, back.nth(1)?);
    if this != kind || kind == "cgroup" && !options.split(',').any(|option| option == controller) {
        return None;
    }
    let mut front = front.split(' ').skip(3);
    Some((front.next()?, front.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
30 20 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
31 20 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
32 20 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

    #[test]
    fn groups_are_made_below_our_own() {
        let own = "8:pids:/\n4:memory:/a/b\n1:cpu:/\n0::/";
        let place = find("memory", own, HYBRID).unwrap();
        assert_eq!(place.version, Version::One);
        let paths: Vec<_> = place.parents.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(paths, ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory"]);
        assert_eq!(find("cpu", own, HYBRID).unwrap().parents.len(), 1);
        // Neither mounted in version 1 nor offered by version 2.
        assert_eq!(find("pids", own, HYBRID), None);
        assert_eq!(find("memory", own, ""), None);
    }
}
