//! What the browser has on disk: its profile, its temporary files, downloads on their way. Weighed while it runs.
//!
//! A page can make a browser write as fast as the disk takes it. One that is past the limit is ended; what lay in its
//! temporary folder goes with it, and a profile that is most of the weight is thrown away (cookies are kept elsewhere).
//! No single file grows past the limit in any case: the kernel holds that.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cove_chrome::Ender;

use crate::gull::Inner;

/// With less, a browser does not even start.
pub(crate) const LEAST_BYTES: u64 = 64 << 20;

/// Shared memory is made of files, too, and a large page needs as much.
const LEAST_FILE_BYTES: u64 = 512 << 20;

/// Between two looks: at rest, and while something grows. A look costs a twentieth of the time at most.
const AT_REST: Duration = Duration::from_millis(200);
const GROWING: Duration = Duration::from_millis(40);
const REST: u32 = 20;

/// From one look to the next; a page that is merely used writes less.
const GROWTH_BYTES: u64 = 2 << 20;

/// More files than that are too many, however small they are.
const MAX_ENTRIES: usize = 100_000;

/// Deeper folders are nobody's honest work.
const MAX_DEPTH: usize = 64;

/// The largest file that a browser with so much disk may write.
pub(crate) fn file_bytes(disk_bytes: u64) -> u64 {
    disk_bytes.max(LEAST_FILE_BYTES)
}

/// The browser that is being weighed.
#[derive(Debug, Clone)]
pub(crate) struct Weighed {
    /// Its temporary folder.
    pub(crate) own: PathBuf,
    pub(crate) ender: Ender,
}

/// Weighs every browser in its turn, for as long as there is a Gull.
pub(crate) async fn keep_small(inner: Weak<Inner>) {
    let Some(mut browsers) = inner.upgrade().map(|strong| strong.weighed.subscribe()) else { return };
    let mut before = 0u64;
    loop {
        let Ok(weighed) = browsers.wait_for(Option::is_some).await.map(|weighed| weighed.clone()) else { return };
        let (Some(weighed), Some(strong)) = (weighed, inner.upgrade()) else { return };
        if weighed.ender.is_gone() {
            drop(strong);
            if browsers.changed().await.is_err() {
                return;
            }
            continue;
        }
        let begin = Instant::now();
        let limit = strong.options.disk_bytes.max(LEAST_BYTES);
        let profile = PathBuf::from(format!("/proc/self/fd/{}/.", strong.browser_state.data.as_raw_fd()));
        let places = [profile, strong.private_folder.path().to_owned(), weighed.own.clone()];
        let looked = tokio::task::spawn_blocking(move || places.map(|place| weigh(&place))).await;
        let Ok([profile, private_folder, own]) = looked else { return };
        let sum = profile.saturating_add(private_folder).saturating_add(own);
        let wait = if sum > before.saturating_add(GROWTH_BYTES) { GROWING } else { AT_REST };
        before = sum;
        if sum > limit {
            let mut said = format!("the browser was ended: its files passed the limit of {limit} bytes");
            if profile > limit / 2 {
                // Done by whoever starts or closes the next browser: nobody uses the profile then.
                strong.profile_is_heavy.store(true, Ordering::Release);
                said.push_str("; what sites had stored is gone, cookies are kept");
            }
            strong.note(said);
            weighed.ender.kill();
            weighed.ender.gone().await;
            strong.weighed.send_if_modified(|now| now.take_if(|now| now.own == weighed.own).is_some());
        }
        drop(strong);
        tokio::time::sleep(wait.max(begin.elapsed() * REST)).await;
    }
}

/// What a folder takes on disk. What cannot be looked at, is too deep or too much counts as more than any limit.
fn weigh(root: &Path) -> u64 {
    let mut entries = 0;
    add_up(root, 0, &mut entries).unwrap_or(u64::MAX)
}

fn add_up(folder: &Path, depth: usize, entries: &mut usize) -> io::Result<u64> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other?,
    };
    if depth > MAX_DEPTH {
        return Err(io::Error::other("too deep"));
    }
    let mut sum = 0u64;
    for entry in listed {
        let entry = entry?;
        *entries += 1;
        if *entries > MAX_ENTRIES {
            return Err(io::Error::other("too many"));
        }
        // Links count as links; what is gone by now counts nothing.
        let Ok(meta) = entry.metadata() else { continue };
        sum = sum.saturating_add(meta.blocks() * 512);
        if meta.is_dir() {
            sum = sum.saturating_add(add_up(&entry.path(), depth + 1, entries)?);
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_weighed_is_too_heavy() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::write(root.join("a"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink("/usr", root.join("link")).unwrap();
        fs::create_dir(root.join("b")).unwrap();
        fs::write(root.join("b/c"), vec![1; 1 << 20]).unwrap();
        let bytes = weigh(root);
        assert!((2 << 20..3 << 20).contains(&bytes), "{bytes}");
        assert_eq!(weigh(&root.join("nothing")), 0);
        let mut deep = root.join("d");
        for _ in 0..70 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(weigh(root), u64::MAX);
        assert_eq!((file_bytes(1), file_bytes(1 << 40)), (LEAST_FILE_BYTES, 1 << 40));
    }
}
