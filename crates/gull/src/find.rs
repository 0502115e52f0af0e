//! Which binary is agent-browser.
//!
//! The npm package holds native binaries that need no Node.js; its script `agent-browser` would add 40 ms to every
//! command. So the native one is looked for, also behind a script that is found in `PATH`. Installed without its install
//! script the native one is not executable: where the file is ours, that is put right.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cove_workspace::{data_dir, is_program};

/// The variable that names agent-browser.
pub(crate) const VARIABLE: &str = "COVE_AGENT_BROWSER";

/// The version that Gull's table of commands was written for.
pub const AGENT_BROWSER_VERSION: &str = "0.41.0";

/// Where npm's package lies in a folder that it was installed into.
const IN_PREFIX: &str = "node_modules/agent-browser/bin";

/// The folder for agent-browser in the data folder, and in `.tools` of a project.
const FOLDER: &str = "agent-browser";

/// No agent-browser can be had, and how to get one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentBrowserNotFound {
    /// A path was given, and there is no program.
    #[error("{0} is not a program that can be started; name agent-browser with COVE_AGENT_BROWSER")]
    NotAProgram(PathBuf),
    /// There is one that nobody may execute, and its file is not ours.
    #[error("agent-browser is there and cannot be executed; its owner can change that with `chmod +x {0}`")]
    NotExecutable(PathBuf),
    /// Nothing was given and nothing was found.
    #[error(
        "agent-browser was not found; install it with `cove setup browser`, or name its native binary with \
         COVE_AGENT_BROWSER"
    )]
    Nowhere,
}

/// Where `cove setup` installs npm's package of agent-browser.
pub fn agent_browser_prefix(data_dir: &Path) -> PathBuf {
    data_dir.join(FOLDER)
}

/// Finds agent-browser: the path that was given, else `COVE_AGENT_BROWSER`; else beside this program, in the data folder,
/// in `.tools` of this folder or one above, in `PATH`, or where npm puts global packages.
pub fn find_agent_browser(given: Option<&Path>) -> Result<PathBuf, AgentBrowserNotFound> {
    find_agent_browser_with(given, data_dir().as_deref())
}

/// The same with a data folder that is not the usual one.
pub fn find_agent_browser_with(given: Option<&Path>, data_dir: Option<&Path>) -> Result<PathBuf, AgentBrowserNotFound> {
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(given) = given.map(Path::to_owned).or(named) {
        return if is_program(&given) { Ok(given) } else { Err(AgentBrowserNotFound::NotAProgram(given)) };
    }
    first_usable(candidates(data_dir))
}

/// The first that can be executed, or made so; else the first that cannot.
fn first_usable(paths: impl Iterator<Item = PathBuf>) -> Result<PathBuf, AgentBrowserNotFound> {
    let mut shut = None;
    for path in paths.filter(|path| path.is_file()) {
        if is_program(&path) || make_executable(&path) {
            return Ok(path);
        }
        shut = shut.or(Some(path));
    }
    Err(shut.map_or(AgentBrowserNotFound::Nowhere, AgentBrowserNotFound::NotExecutable))
}

fn candidates(data_dir: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let in_prefix = |prefix: &Path| prefix.join(IN_PREFIX).join(native_name());
    let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let beside = beside.into_iter().flat_map(|folder| [folder.join(native_name()), folder.join("agent-browser")]);
    let own = data_dir.map(agent_browser_prefix);
    let own = own.into_iter().flat_map(move |folder| [in_prefix(&folder), folder.join(native_name())]);
    let here = env::current_dir().unwrap_or_default();
    let projects: Vec<PathBuf> =
        here.ancestors().map(|folder| in_prefix(&folder.join(".tools").join(FOLDER))).collect();
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let path = path.into_iter().map(|folder| folder.join("agent-browser")).filter(|path| is_program(path));
    let global = ["/usr/local/lib", "/usr/lib"].into_iter().map(move |lib| in_prefix(Path::new(lib)));
    beside.chain(own).chain(projects).chain(path.map(|path| behind(&path))).chain(global)
}

/// The native binary beside npm's script, if the program is that script.
fn behind(program: &Path) -> PathBuf {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let native = real.parent().map(|folder| folder.join(native_name())).filter(|path| path.is_file());
    native.unwrap_or(real)
}

/// Makes a file of ours executable for those who may read it; whether it is now.
fn make_executable(path: &Path) -> bool {
    let Ok(meta) = fs::metadata(path) else { return false };
    let mode = meta.permissions().mode();
    meta.uid() == rustix::process::geteuid().as_raw()
        && fs::set_permissions(path, Permissions::from_mode(mode | (mode & 0o444) >> 2)).is_ok()
        && is_program(path)
}

/// The name of the native binary for this machine.
pub fn native_name() -> &'static str {
    if cfg!(target_arch = "aarch64") { "agent-browser-linux-arm64" } else { "agent-browser-linux-x64" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_is_made_executable_and_the_rest_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        assert_eq!(first_usable([folder.path().join("none")].into_iter()), Err(AgentBrowserNotFound::Nowhere));
        let plain = put("plain", 0o640);
        assert_eq!(first_usable([folder.path().join("none"), plain.clone()].into_iter()), Ok(plain.clone()));
        assert_eq!(fs::metadata(&plain).unwrap().permissions().mode() & 0o777, 0o750);
        if rustix::process::geteuid().is_root() {
            let (others, program) = (put("others", 0o644), put("program", 0o755));
            std::os::unix::fs::chown(&others, Some(1_234_567), None).unwrap();
            let told = first_usable([others.clone()].into_iter()).unwrap_err();
            assert_eq!(told, AgentBrowserNotFound::NotExecutable(others.clone()));
            assert!(told.to_string().contains("chmod +x"), "{told}");
            assert_eq!(first_usable([others, program.clone()].into_iter()), Ok(program));
        }
    }
}
