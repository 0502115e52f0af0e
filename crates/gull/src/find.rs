//! Which binary is agent-browser.
//!
//! The npm package holds native binaries that need no Node.js; its script `agent-browser` would add 40 ms to every
//! command. So the native one is looked for, also behind a script that is found in `PATH`.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The variable that names agent-browser.
pub(crate) const VARIABLE: &str = "COVE_AGENT_BROWSER";

/// The version that Gull's table of commands was written for.
pub const AGENT_BROWSER_VERSION: &str = "0.41.0";

/// Where a project keeps its copy, relative to its root.
const IN_PROJECT: &str = ".tools/agent-browser/node_modules/agent-browser/bin";

/// No agent-browser can be had, and how to get one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentBrowserNotFound {
    /// A path was given, and there is no program.
    #[error("{0} is not a program that can be started; name agent-browser with COVE_AGENT_BROWSER")]
    NotAProgram(PathBuf),
    /// Nothing was given and nothing was found.
    #[error(
        "agent-browser was not found; install it with `npm install -g agent-browser@{AGENT_BROWSER_VERSION}`, or name its \
         native binary with COVE_AGENT_BROWSER"
    )]
    Nowhere,
}

/// Finds agent-browser: the path that was given, else `COVE_AGENT_BROWSER`, else `.tools` of this folder or one above,
/// else `PATH`, else where npm puts global packages.
pub fn find_agent_browser(given: Option<&Path>) -> Result<PathBuf, AgentBrowserNotFound> {
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(given) = given.map(Path::to_owned).or(named) {
        return if is_program(&given) { Ok(given) } else { Err(AgentBrowserNotFound::NotAProgram(given)) };
    }
    let here = env::current_dir().unwrap_or_default();
    let in_project =
        here.ancestors().map(|folder| folder.join(IN_PROJECT).join(native_name())).find(|path| is_program(path));
    let in_path = || {
        let folders: Vec<PathBuf> =
            env::split_paths(&env::var_os("PATH")?).filter(|folder| folder.is_absolute()).collect();
        folders
            .iter()
            .map(|folder| folder.join("agent-browser"))
            .find(|path| is_program(path))
            .map(|path| behind(&path))
    };
    in_project.or_else(in_path).or_else(global).ok_or(AgentBrowserNotFound::Nowhere)
}

fn global() -> Option<PathBuf> {
    ["/usr/local/lib", "/usr/lib"]
        .iter()
        .map(|lib| Path::new(lib).join("node_modules/agent-browser/bin").join(native_name()))
        .find(|path| is_program(path))
}

/// The native binary beside npm's script, if the program is that script.
fn behind(program: &Path) -> PathBuf {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let native = real.parent().map(|folder| folder.join(native_name())).filter(|path| is_program(path));
    native.unwrap_or(real)
}

/// The name of the native binary for this machine.
fn native_name() -> &'static str {
    if cfg!(target_arch = "aarch64") { "agent-browser-linux-arm64" } else { "agent-browser-linux-x64" }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
