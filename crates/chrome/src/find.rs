//! Which binary is the browser.
//!
//! The headless shell comes first, wherever it lies: the same engine in a third of the memory, and a fresh context costs
//! it a fifth of the time. Distributions put shell scripts before their browsers, which add flags of their own and
//! swallow signals; known scripts are passed over in favour of the binary behind them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use cove_workspace::{data_dir, is_program};

/// The variable that names the browser.
pub(crate) const BROWSER_VARIABLE: &str = "COVE_BROWSER";

/// The variable that other tools have for the same.
const USUAL_VARIABLE: &str = "CHROME_PATH";

/// Where a copy of a browser lies in the data folder.
pub const IN_DATA_DIR: &str = "browser";

/// No browser can be had, and how to get one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrowserNotFound {
    /// A path was given, and there is no program.
    #[error(
        "{0} is not a program that can be started; name another browser with --browser or COVE_BROWSER, or install one \
         with `cove setup browser`"
    )]
    NotAProgram(PathBuf),
    /// The only browser here is a snap.
    #[error(
        "{0} belongs to a snap, whose launcher hides the browser's processes and folders from Cove; install another \
         browser with `cove setup browser`"
    )]
    Snap(PathBuf),
    /// Nothing was given and nothing was found.
    #[error(
        "no Chrome or Chromium was found; install one with `cove setup browser`, or name it with --browser or \
         COVE_BROWSER"
    )]
    Nowhere,
}

/// The headless shells of distributions, best first. None of these is a wrapper script.
const SHELLS: &[&str] = &["/usr/lib/chromium/chromium-headless-shell", "/usr/lib64/chromium-browser/headless_shell"];

/// Full browsers, best first. None of these is a wrapper script.
const BROWSERS: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/chromium.org/chromium/chromium",
];

/// What a headless shell's binary is called, and a full browser's.
const SHELL_NAMES: &[&str] = &["chrome-headless-shell", "headless_shell", "chromium-headless-shell"];
const BROWSER_NAMES: &[&str] =
    &["chrome", "google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge"];

/// How deep browsers lie in the caches of Playwright (`chromium-1200/chrome-linux/chrome`) and Puppeteer
/// (`chrome/linux-150.0.1/chrome-linux64/chrome`).
const CACHE_DEPTH: u32 = 3;

/// Folders of a cache that are looked into: more is no cache of browsers.
const MAX_FOLDERS: usize = 2_000;

/// Where browsers may lie.
#[derive(Debug, Default)]
struct Places {
    shells: Vec<PathBuf>,
    browsers: Vec<PathBuf>,
    /// Folders in which other tools, or `cove setup`, keep browsers.
    caches: Vec<PathBuf>,
    /// The folders of `PATH`.
    path: Vec<PathBuf>,
}

impl Places {
    fn of_this_machine(data_dir: Option<&Path>) -> Self {
        let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
        let in_cache = |name: &str| cache.as_ref().map(|cache| cache.join(name));
        let caches = [
            data_dir.map(|folder| folder.join(IN_DATA_DIR)),
            from("PLAYWRIGHT_BROWSERS_PATH"),
            in_cache("ms-playwright"),
            Some("/ms-playwright".into()),
            from("PUPPETEER_CACHE_DIR"),
            in_cache("puppeteer"),
        ];
        let path = env::var_os("PATH").unwrap_or_default();
        Self {
            shells: SHELLS.iter().map(PathBuf::from).collect(),
            browsers: BROWSERS.iter().map(PathBuf::from).collect(),
            caches: caches.into_iter().flatten().filter(|folder| folder.is_absolute()).collect(),
            path: env::split_paths(&path).filter(|folder| folder.is_absolute()).collect(),
        }
    }

    fn search(&self) -> Result<PathBuf, BrowserNotFound> {
        let known = |paths: &[PathBuf]| paths.iter().find(|path| is_program(path)).cloned();
        let cached = |names: &[&str]| self.caches.iter().find_map(|cache| newest(cache, names));
        let mut snap = None;
        let mut in_path = |names: &[&str]| {
            let all = names.iter().flat_map(|name| self.path.iter().map(move |folder| folder.join(name)));
            let (snaps, usable): (Vec<_>, Vec<_>) = all.filter(|path| is_program(path)).partition(|path| is_snap(path));
            snap = snap.take().or_else(|| snaps.into_iter().next());
            usable.into_iter().next()
        };
        known(&self.shells)
            .or_else(|| cached(SHELL_NAMES))
            .or_else(|| in_path(SHELL_NAMES))
            .or_else(|| known(&self.browsers))
            .or_else(|| cached(BROWSER_NAMES))
            .or_else(|| in_path(BROWSER_NAMES))
            .ok_or_else(|| snap.map_or(BrowserNotFound::Nowhere, BrowserNotFound::Snap))
    }
}

/// Finds the browser: the path that was given, else `COVE_BROWSER`, else `CHROME_PATH`; else a headless shell, else a full
/// browser, each in the usual places, in the data folder, in the caches of Playwright and Puppeteer, and in `PATH`.
pub fn find_browser(given: Option<&Path>) -> Result<PathBuf, BrowserNotFound> {
    find_browser_with(given, data_dir().as_deref())
}

/// The same with a data folder that is not the usual one.
pub fn find_browser_with(given: Option<&Path>, data_dir: Option<&Path>) -> Result<PathBuf, BrowserNotFound> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let given = given.map(Path::to_owned).or_else(|| named(BROWSER_VARIABLE)).or_else(|| named(USUAL_VARIABLE));
    match given {
        Some(given) => usable(given),
        None => Places::of_this_machine(data_dir).search(),
    }
}

/// The folder of the libraries that came with a browser, for a machine that has not got them: `lib`, beside it.
pub fn libraries_of(browser: &Path) -> Option<PathBuf> {
    browser.parent().map(|folder| folder.join("lib")).filter(|folder| folder.is_dir())
}

fn usable(given: PathBuf) -> Result<PathBuf, BrowserNotFound> {
    match is_program(&given) {
        false => Err(BrowserNotFound::NotAProgram(given)),
        true if is_snap(&given) => Err(BrowserNotFound::Snap(given)),
        true => Ok(given),
    }
}

/// Whether a program is a snap's launcher, or Ubuntu's script that starts one.
fn is_snap(program: &Path) -> bool {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let is_script = || fs::metadata(&real).is_ok_and(|meta| meta.len() < 64 << 10);
    real.starts_with("/snap")
        || real.ends_with("bin/snap")
        || is_script() && fs::read_to_string(&real).is_ok_and(|text| text.contains("/snap/bin/"))
}

/// The program of one of these names with the highest version in its path, below a cache.
fn newest(cache: &Path, names: &[&str]) -> Option<PathBuf> {
    let mut folders = vec![(cache.to_owned(), 0)];
    let mut found: Vec<PathBuf> = Vec::new();
    let mut next = 0;
    while let Some((folder, depth)) = folders.get(next).cloned() {
        next += 1;
        found.extend(names.iter().map(|name| folder.join(name)).filter(|path| is_program(path)));
        if depth == CACHE_DEPTH || folders.len() > MAX_FOLDERS {
            continue;
        }
        let inside = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(inside.map(|entry| entry.path()).filter(|path| path.is_dir()).map(|path| (path, depth + 1)));
    }
    found.into_iter().max_by_key(|path| versions(path.strip_prefix(cache).unwrap_or(path)))
}

/// The numbers in a path.
fn versions(path: &Path) -> Vec<u64> {
    let text = path.to_string_lossy();
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn put(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn what_was_given_is_taken_or_named() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, program) = (put(folder.path(), "plain", "", 0o644), put(folder.path(), "chromium", "", 0o755));
        assert_eq!(usable(program.clone()), Ok(program));
        assert_eq!(usable(plain.clone()), Err(BrowserNotFound::NotAProgram(plain)));
        let snap = put(folder.path(), "chromium-browser", "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n", 0o755);
        assert_eq!(usable(snap.clone()), Err(BrowserNotFound::Snap(snap)));
    }

    #[test]
    fn a_headless_shell_wins_wherever_it_lies() {
        let top = tempfile::tempdir().unwrap();
        let (cache, bin) = (top.path().join("cache"), top.path().join("bin"));
        let places = |browsers: &[&PathBuf]| Places {
            shells: vec![top.path().join("usr/shell")],
            browsers: browsers.iter().map(|path| (*path).clone()).collect(),
            caches: vec![top.path().join("none"), cache.clone()],
            path: vec![bin.clone()],
        };
        let nowhere = places(&[]).search().unwrap_err();
        assert_eq!(nowhere, BrowserNotFound::Nowhere);
        assert!(nowhere.to_string().contains("`cove setup browser`"), "{nowhere}");

        let snap = put(&bin, "chromium", "#!/bin/sh\nexec /snap/bin/chromium\n", 0o755);
        assert_eq!(places(&[]).search(), Err(BrowserNotFound::Snap(snap)));
        let chrome = put(&bin, "google-chrome", "", 0o755);
        assert_eq!(places(&[]).search(), Ok(chrome));
        let puppeteer = put(&cache, "chrome/linux-99.0.1/chrome-linux64/chrome", "", 0o755);
        assert_eq!(places(&[]).search(), Ok(puppeteer.clone()));
        let newer = put(&cache, "chrome/linux-156.0.8/chrome-linux64/chrome", "", 0o755);
        assert_eq!(places(&[]).search(), Ok(newer));
        assert_eq!(places(&[&puppeteer]).search(), Ok(puppeteer.clone()));
        let shell = put(&cache, "chromium_headless_shell-1200/chrome-linux/headless_shell", "", 0o755);
        put(&cache, "chromium_headless_shell-1300/chrome-linux/headless_shell", "", 0o644);
        assert_eq!(places(&[&puppeteer]).search(), Ok(shell));
        let system = put(top.path(), "usr/shell", "", 0o755);
        assert_eq!(places(&[&puppeteer]).search(), Ok(system));
    }
}
