//! The program's own code in large pages, for a zygote from which many children are forked.
//!
//! Code is a file's pages, and a fork does not hand those on: every child meets them again, sixty faults before it has run
//! a line. A copy of the code in pages of 2 MiB is handed on with one entry each. The copy is made before any wall stands
//! and before any guest exists, is never writable and executable at once, and where it cannot be made nothing changes.

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

/// Where the code lies that this very function is part of.
fn own_code(maps: &str) -> Option<(usize, usize)> {
    let here = own_code as *const () as usize;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
        (rest.starts_with("r-xp") && (start..end).contains(&here)).then_some((start, end))
    })
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
}
