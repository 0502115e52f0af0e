//! Where a server on this machine leaves word of itself, and how a client finds it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cove_config::{LocalDriverConfig, python_environment};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// The key of a server that was told none.
pub(crate) const KEY_FILE: &str = "api-key";
/// Where the server that uses this folder listens.
const ADDRESS_FILE: &str = "address";
/// What names a server.
const URL_VARIABLES: &[&str] = &["COVE_URL", "BAY_ENDPOINT"];
/// Where a server listens unless told otherwise.
const USUAL: &str = "http://127.0.0.1:8114";

/// How long a server that was started just before us may take to listen: `cove serve & cove sandbox create`.
const STARTING: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);

/// Says where the server is, as long as it is there.
pub(crate) struct Note {
    path: PathBuf,
    url: String,
}

impl Note {
    /// Leaves word. Only a convenience: where it cannot be written, a client needs `COVE_URL`.
    pub(crate) fn write(data_dir: &Path, url: &str) -> Self {
        let path = data_dir.join(ADDRESS_FILE);
        let _ = std::fs::write(&path, url);
        Self { path, url: url.to_owned() }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // Another server may have left its own word since.
        if std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.url) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

// Which server a command talks to. No doc comment: clap would take it for the help of whatever command it is part of.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// URL of the server [default: COVE_URL, then the running local server, then http://127.0.0.1:8114]
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) url: Option<String>,
    /// API key [default: COVE_KEY, then the local server's key]
    #[arg(long, value_name = "KEY", global = true, hide = true)]
    pub(crate) key: Option<String>,
    /// Data folder of the local server [default: COVE_DATA_DIR, then ~/.local/share/cove]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

impl ServerArgs {
    /// Its address and key, as [`find_started`] finds them.
    pub(crate) async fn find(&self) -> (String, Option<String>) {
        find_started(self.url.as_deref(), self.key.as_deref(), self.data_dir.as_deref()).await
    }
}

/// The same, after a moment for a server on this machine that is just starting. Who named another server waits for none.
pub(crate) async fn find_started(
    url: Option<&str>,
    key: Option<&str>,
    data_dir: Option<&Path>,
) -> (String, Option<String>) {
    let until = Instant::now() + STARTING;
    let is_named = url.is_some() || said(URL_VARIABLES).is_some();
    loop {
        let (found, key) = find(url, key, data_dir);
        let has_note = folder(data_dir).is_some_and(|folder| folder.join(ADDRESS_FILE).exists());
        let is_ready = match found.strip_prefix("http://") {
            Some(address) if key.is_some() || has_note => TcpStream::connect(address).await.is_ok(),
            _ => false,
        };
        if is_named || is_ready || Instant::now() > until {
            return (found, key);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The first of these variables that says something.
fn said(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty()))
}

fn folder(data_dir: Option<&Path>) -> Option<PathBuf> {
    match data_dir {
        Some(dir) => Some(dir.to_owned()),
        None => cove_config::Config::default().data_dir().ok(),
    }
}

/// Has a server whose data folder is temporary use what `cove setup` has installed in the usual one.
pub(crate) fn use_installed(driver: &mut LocalDriverConfig) {
    let Some(data_dir) = cove_workspace::data_dir() else { return };
    let installed = |found: Option<PathBuf>| found.filter(|path| path.starts_with(&data_dir));
    let LocalDriverConfig { python, browser, agent_browser, .. } = driver;
    *python = python.take().or_else(|| python_environment(None, Some(&data_dir)));
    *browser = browser.take().or_else(|| installed(cove_chrome::find_browser(None).ok()));
    *agent_browser = agent_browser.take().or_else(|| installed(cove_gull::find_agent_browser(None).ok()));
}

/// Where to ask, and with which key: what was said, else the environment, else what the local server left.
pub(crate) fn find(url: Option<&str>, key: Option<&str>, data_dir: Option<&Path>) -> (String, Option<String>) {
    let dir = folder(data_dir);
    let read = |name: &str| {
        let text = std::fs::read_to_string(dir.as_ref()?.join(name)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let url = url.map(str::to_owned).or_else(|| said(URL_VARIABLES));
    let url = url.or_else(|| read(ADDRESS_FILE)).unwrap_or_else(|| USUAL.to_owned());
    let key = key.map(str::to_owned).or_else(|| said(&["COVE_KEY", "BAY_TOKEN", "BAY_API_KEY"]));
    // A key found in a folder is for the server that uses this folder, not for whoever is asked.
    let is_local =
        ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"].iter().any(|start| url.starts_with(start));
    (url, key.or_else(|| is_local.then(|| read(KEY_FILE)).flatten()))
}
