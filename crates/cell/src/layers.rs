//! Folders of the machine that guests read, each through a layer of the sandbox's own.
//!
//! A bind mount would hand out the machine's own inodes: with `inotify` a guest could see which programs its neighbours
//! and the machine start, with `flock` hold them up, and two sandboxes could signal each other. Through an overlay that
//! nobody else has, watches and locks are on inodes of that overlay, and nothing passes to those below.
//! Where the kernel refuses an overlay the folder is bound as it is, and [`Layers::finish`] says so: then watches and
//! `flock` are refused altogether (see `seccomp`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive};
use rustix::process::chdir;

use super::root::{OLD, READ_ONLY, SCAFFOLD, bar, during};

/// An overlay without a writable layer needs two to read; this one is empty.
const EMPTY: &str = "/.build/none";

/// What has been made visible, and how.
#[derive(Debug)]
pub(super) struct Layers {
    /// Whether layers are wanted at all.
    own: bool,
    /// Where something is mounted on the machine.
    mounted: Vec<PathBuf>,
    /// What is the machine's own after all, and why.
    shared: Vec<String>,
    /// How many overlays stand on the scaffold, for parts of them to be taken.
    aside: usize,
}

impl Layers {
    /// To be called before the roots are swapped: afterwards nobody can say any more what is mounted where.
    pub(super) fn new(own: bool) -> Self {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let place = |line: &str| line.split(' ').nth(4).map(|text| PathBuf::from(unescape(text)));
        Self { own, mounted: table.lines().filter_map(place).collect(), shared: Vec::new(), aside: 0 }
    }

    /// A folder of the machine at a place of ours, to read.
    pub(super) fn folder(&mut self, host: &Path, inside: &str) -> io::Result<()> {
        during(inside, fs::create_dir_all(inside))?;
        let from = format!("{OLD}{}", host.display());
        match self.own_layers(host, &from, inside) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.shared.push(format!("{inside} ({error})"));
                during(inside, mount_bind_recursive(from.as_str(), inside))?;
                bar(inside, READ_ONLY, true)
            }
        }
    }

    fn own_layers(&self, host: &Path, from: &str, inside: &str) -> io::Result<()> {
        self.overlay(from, inside)?;
        // An overlay shows one file system; what is mounted below it on the machine gets a layer of its own.
        for place in self.mounted.iter().filter(|place| *place != host) {
            let Ok(below) = place.strip_prefix(host) else { continue };
            let (from, inside) = (format!("{OLD}{}", place.display()), Path::new(inside).join(below));
            // Hidden by another mount, or a single file: not worth more than not being there.
            if inside.is_dir() && Path::new(&from).is_dir() {
                self.overlay(&from, &inside.display().to_string())?;
            }
        }
        Ok(())
    }

    /// Some folders below one of the machine's, each at the same place of ours.
    pub(super) fn parts(&mut self, host: &str, names: &[&str]) -> io::Result<()> {
        let there = |name: &&&str| Path::new(&format!("{OLD}{host}/{name}")).is_dir();
        let names: Vec<_> = names.iter().filter(there).collect();
        let aside = self.overlay_aside(&format!("{OLD}{host}"));
        for name in names {
            let inside = format!("{host}/{name}");
            let Ok(aside) = &aside else {
                self.folder(Path::new(&inside), &inside)?;
                continue;
            };
            during(&inside, fs::create_dir_all(&inside))?;
            during(&inside, mount_bind(format!("{aside}/{name}").as_str(), inside.as_str()))?;
        }
        Ok(())
    }

    /// One file of the machine at a place of ours, where an empty file is already.
    pub(super) fn file(&mut self, host: &Path, inside: &str) -> io::Result<()> {
        let (Some(folder), Some(name)) = (host.parent(), host.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        match self.overlay_aside(&format!("{OLD}{}", folder.display())) {
            Ok(aside) => during(inside, mount_bind(Path::new(&aside).join(name), inside)),
            Err(error) => {
                self.shared.push(format!("{inside} ({error})"));
                during(inside, mount_bind(format!("{OLD}{}", host.display()).as_str(), inside))?;
                bar(inside, READ_ONLY, false)
            }
        }
    }

    /// An overlay on the scaffold; where.
    fn overlay_aside(&mut self, from: &str) -> io::Result<String> {
        self.aside += 1;
        let aside = format!("{SCAFFOLD}/layer{}", self.aside);
        fs::create_dir(&aside)?;
        self.overlay(from, &aside)?;
        Ok(aside)
    }

    fn overlay(&self, from: &str, inside: &str) -> io::Result<()> {
        if !self.own {
            return Err(io::Error::other("layers are switched off"));
        }
        fs::create_dir_all(EMPTY)?;
        // By the working directory: its path may be long, or have characters that mean something to the file system, and
        // guests can read this text in `/proc/self/mountinfo`.
        chdir(from)?;
        let options = std::ffi::CString::new(format!("lowerdir=.:{EMPTY},xino=on"))?;
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        let mounted = mount("system", inside, "overlay", flags, options.as_c_str());
        chdir("/")?;
        mounted.map_err(|errno| io::Error::new(errno.kind(), format!("no overlay: {errno}")))
    }

    /// Says what guests share with the machine: nothing, where everything that they
    /// read is a layer of their own.
    pub(super) fn finish(self) -> Vec<String> {
        self.shared
    }
}

/// The kernel writes space, tab, newline and backslash in paths as three octal digits.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => plain.extend(std::iter::once(char::from(byte)).chain(part[3..].chars())),
            None => plain.push_str(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn the_kernels_escapes_are_read() {
        assert_eq!(unescape("/a\\040b\\134c"), "/a b\\c");
        assert_eq!(unescape("/plain"), "/plain");
    }
}
