//! Which binary is the browser.
//!
//! The headless shell comes first: the same engine in a third of the memory, and a fresh context costs it a fifth of
//! the time. Distributions put shell scripts before their browsers, which add flags of their own and swallow signals;
//! known scripts are passed over in favour of the binary behind them.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The variable that names the browser.
pub(crate) const BROWSER_VARIABLE: &str = "COVE_BROWSER";

/// No browser can be had, and how to get one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrowserNotFound {
    /// A path was given, and there is no program.
    #[error(
        "{0} is not a program that can be started; name another browser with --browser or COVE_BROWSER, or install one \
         with `apt-get install chromium-headless-shell chromium-sandbox`"
    )]
    NotAProgram(PathBuf),
    /// Nothing was given and nothing was found.
    #[error(
        "no Chrome or Chromium was found; install one with \
         `apt-get install chromium-headless-shell chromium-sandbox`, or name it with --browser or COVE_BROWSER"
    )]
    Nowhere,
}

/// Binaries themselves, best first. None of these is a wrapper script.
const PLACES: &[&str] = &[
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/chromium.org/chromium/chromium",
];

/// Names looked for in `PATH` when none of the places has one.
const NAMES: &[&str] =
    &["chromium-headless-shell", "chrome-headless-shell", "headless_shell", "chromium", "google-chrome", "chrome"];

/// Finds the browser: the path that was given, else `COVE_BROWSER`, else the usual places, else `PATH`.
pub fn find_browser(given: Option<&Path>) -> Result<PathBuf, BrowserNotFound> {
    let named = env::var_os(BROWSER_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    search(given.or(named.as_deref()), PLACES, env::var_os("PATH").as_deref())
}

fn search(given: Option<&Path>, places: &[&str], path: Option<&OsStr>) -> Result<PathBuf, BrowserNotFound> {
    if let Some(given) = given {
        return if is_program(given) {
            Ok(given.to_owned())
        } else {
            Err(BrowserNotFound::NotAProgram(given.to_owned()))
        };
    }
    let in_path = || {
        let folders: Vec<PathBuf> = env::split_paths(path?).filter(|folder| folder.is_absolute()).collect();
        NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| is_program(path))
    };
    places.iter().map(PathBuf::from).find(|path| is_program(path)).or_else(in_path).ok_or(BrowserNotFound::Nowhere)
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_first_that_can_be_started_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let (plain, program) = (put("plain", 0o644), put("chromium", 0o755));
        let path = folder.path().as_os_str();
        assert_eq!(search(Some(&program), &[], None), Ok(program.clone()));
        assert_eq!(search(Some(&plain), &[], Some(path)), Err(BrowserNotFound::NotAProgram(plain.clone())));
        assert_eq!(search(None, &[plain.to_str().unwrap()], Some(path)), Ok(program.clone()));
        assert_eq!(search(None, &[program.to_str().unwrap()], None), Ok(program));
        let nowhere = search(None, &[], Some(OsStr::new("relative:/nowhere"))).unwrap_err();
        assert!(nowhere.to_string().contains("apt-get install chromium-headless-shell"), "{nowhere}");
    }
}
