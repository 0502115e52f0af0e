//! What children need of the program's and the C library's files, for a zygote from which many are forked.
//!
//! Code is a file's pages, and a fork does not hand those on: every child meets them again, sixty faults before it has run
//! a line. A copy of the code in pages of 2 MiB is handed on with one entry each. The copy is made before any wall stands
//! and before any guest exists, is never writable and executable at once, and where it cannot be made nothing changes.
//!
//! What does not fill a large page (constants, the C library) is handed on in small ones: a fork does copy the entries of
//! a mapping in which this process has a page of its own, and such a page is made by writing a byte over itself.

use std::os::unix::fs::FileExt as _;
use std::ptr;

use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, MREMAP_FIXED, MREMAP_MAYMOVE, PROT_EXEC, PROT_READ, PROT_WRITE};

/// A large page.
const LARGE: usize = 2 << 20;

/// Replaces as much of this program's code as fills whole large pages. `None`: it stays where it is.
pub(crate) fn in_large_pages() -> Option<()> {
    let (start, end) = own_code(&std::fs::read_to_string("/proc/self/maps").ok()?)?;
    let (from, to) = (start.next_multiple_of(LARGE), end & !(LARGE - 1));
    let bytes = to.checked_sub(from).filter(|bytes| *bytes > 0)?;
    // SAFETY: the area is fresh memory of our own. What is copied there is code that nobody changes; what is put in its
    // place has the same bytes at the same addresses, so whoever runs in it notices nothing. There is one thread.
    unsafe {
        let area =
            libc::mmap(ptr::null_mut(), bytes + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if area == MAP_FAILED {
            return None;
        }
        let copy = area.byte_add((area as usize).next_multiple_of(LARGE) - area as usize);
        // Without large pages the copy would cost a fork more than it saves.
        let moved = libc::madvise(copy, bytes, libc::MADV_HUGEPAGE) == 0 && {
            ptr::copy_nonoverlapping(ptr::with_exposed_provenance::<u8>(from), copy.cast::<u8>(), bytes);
            let place = ptr::with_exposed_provenance_mut::<libc::c_void>(from);
            libc::mprotect(copy, bytes, PROT_READ | PROT_EXEC) == 0
                && libc::mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place
        };
        if !moved {
            libc::munmap(area, bytes + LARGE);
            return None;
        }
        // What stood before and behind the copy.
        let before = copy as usize - area as usize;
        if before > 0 {
            libc::munmap(area, before);
        }
        if before < LARGE {
            libc::munmap(copy.byte_add(bytes), LARGE - before);
        }
    }
    Some(())
}

/// Files of this program that its forks will have in view from their first moment.
pub(crate) struct HandedOn(Vec<(usize, usize)>);

impl HandedOn {
    /// Takes what this process can only read or run, before any wall stands. Where it cannot be done nothing changes.
    pub(crate) fn prepare() -> Option<Self> {
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let memory = std::fs::OpenOptions::new().read(true).write(true).open("/proc/self/mem").ok()?;
        let mut fresh = Vec::new();
        for mapping in maps.lines().filter_map(Mapping::parse).filter(|mapping| mapping.of_a_file) {
            let (place, mut byte) = (u64::try_from(mapping.start).ok()?, [0]);
            // Through the file of this process's memory, as a debugger would: the mapping never becomes writable.
            if memory.read_exact_at(&mut byte, place).and_then(|()| memory.write_all_at(&byte, place)).is_ok()
                && mapping.is_as_in_the_file()
            {
                fresh.push((mapping.start, mapping.end - mapping.start));
            }
        }
        Some(Self(fresh))
    }

    /// Forgets which pages were in use: what was needed to start and to build is not what children need. Whoever goes
    /// through the motions of a child next puts the right ones in view.
    pub(crate) fn forget_use(&self) {
        for (start, bytes) in &self.0 {
            // SAFETY: only mappings of a file that nobody has written to (see `is_as_in_the_file`): their pages come
            // back from the file, byte for byte, when they are needed.
            unsafe { libc::madvise(ptr::with_exposed_provenance_mut(*start), *bytes, libc::MADV_DONTNEED) };
        }
    }
}

/// One line of the kernel's list.
struct Mapping {
    start: usize,
    end: usize,
    code: bool,
    offset: u64,
    /// Of a file, private, and not writable.
    of_a_file: bool,
}

impl Mapping {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let rights = words.next()?;
        let offset = u64::from_str_radix(words.next()?, 16).ok()?;
        let file = words.nth(2).unwrap_or_default();
        Some(Self {
            start: usize::from_str_radix(start, 16).ok()?,
            end: usize::from_str_radix(end, 16).ok()?,
            code: rights == "r-xp",
            offset,
            of_a_file: matches!(rights, "r--p" | "r-xp") && file.starts_with('/'),
        })
    }

    /// Code, and what stands before it from the file's first byte on. Not what stands behind it: some of that was
    /// written to by the dynamic linker before it was closed.
    fn is_as_in_the_file(&self) -> bool {
        self.code || self.offset == 0
    }
}

/// Where the code lies that this very function is part of.
fn own_code(maps: &str) -> Option<(usize, usize)> {
    let here = own_code as *const () as usize;
    let mapping =
        maps.lines().filter_map(Mapping::parse).find(|found| found.code && (found.start..found.end).contains(&here))?;
    Some((mapping.start, mapping.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_in_the_kernels_list() {
        let (start, end) = own_code(&std::fs::read_to_string("/proc/self/maps").unwrap()).unwrap();
        assert!(start < end && start % 4096 == 0);
        assert_eq!(own_code("1000-2000 r-xp 00000000 00:00 0\nnoise\n"), None);
    }

    /// What the dynamic linker has written to must never be taken for a copy of the file.
    #[test]
    fn only_pages_that_are_in_the_file_are_forgotten() {
        for (line, of_a_file, as_in_the_file) in [
            ("1000-2000 r--p 00000000 fe:00 12 /lib/x.so", true, true),
            ("2000-3000 r-xp 00001000 fe:00 12 /lib/x.so", true, true),
            ("3000-4000 r--p 00002000 fe:00 12 /lib/x.so", true, false),
            ("4000-5000 rw-p 00003000 fe:00 12 /lib/x.so", false, false),
            ("5000-6000 r-xp 00000000 00:00 0", false, true),
            ("6000-7000 r-xp 00000000 00:00 0          [vdso]", false, true),
            ("7000-8000 r--s 00000000 fe:00 13 /shared", false, true),
        ] {
            let mapping = Mapping::parse(line).unwrap();
            assert_eq!((mapping.of_a_file, mapping.is_as_in_the_file()), (of_a_file, as_in_the_file), "{line}");
        }
    }

    /// Constants and code are the same after their pages were dropped, also where they were written over themselves.
    #[test]
    fn what_is_forgotten_comes_back_the_same() {
        static SENTENCE: &str = "constants lie before the code";
        let handed_on = HandedOn::prepare().unwrap();
        let known = format!("{SENTENCE}, {}", own_code as *const () as usize);
        handed_on.forget_use();
        assert!(!handed_on.0.is_empty());
        assert_eq!(known, format!("{SENTENCE}, {}", own_code as *const () as usize));
        assert!(own_code(&std::fs::read_to_string("/proc/self/maps").unwrap()).is_some());
    }
}
