//! Chrome's headless shell, and agent-browser.

use std::fs;

use cove_chrome::{IN_DATA_DIR, find_browser_with};
use cove_gull::{AGENT_BROWSER_VERSION, agent_browser_prefix, find_agent_browser_with};

use super::command::in_path;
use super::node::{self, Node};
use super::{Failure, Site, npm_shell, system};
use crate::doctor::browser as trial;
use crate::terminal::note;

/// The headless shell with its sandbox; where a distribution has none, the full browser.
const PACKAGES: &[&[&str]] = &[&["chromium-headless-shell", "chromium-sandbox"], &["chromium", "chromium-sandbox"]];

/// What Playwright calls the headless shell.
const PLAYWRIGHT: &[&str] = &["--yes", "playwright", "install", "chromium-headless-shell"];

/// Makes sure of a browser that starts and whose sandbox works.
pub(super) async fn chrome(site: &Site) -> Result<(), Failure> {
    let there = now(site).await;
    if let (true, Some(path)) = (there.sandbox_works, &there.path) {
        Site::is_there(&format!("browser: {}", path.display()));
        return Ok(());
    }
    if let Some(problem) = &there.problem {
        note!("browser: {problem}");
    }
    let mut tried = Vec::new();
    for packages in PACKAGES {
        match system::install(site, packages).await {
            Ok(()) if site.dry_run => return Ok(()),
            Ok(()) => match worked(site).await {
                None => return Ok(()),
                Some(problem) => tried.push(problem),
            },
            Err(why) => tried.push(why),
        }
    }
    match node::node(site).await {
        Ok(Some(node)) => match from_npm(site, node).await {
            Ok(()) => return Ok(()),
            Err(more) => tried.extend(more),
        },
        Ok(None) => return Ok(()),
        Err(why) => tried.push(why),
    }
    tried.dedup();
    let folder = site.data_dir.join(IN_DATA_DIR);
    Err(Failure {
        why: format!("no browser could be installed: {}", tried.join("; ")),
        instead: vec![
            system::by_hand(PACKAGES.first().copied().unwrap_or_default()),
            format!("copy the folder of a headless shell (chrome-headless-shell-linux64) to {}", folder.display()),
            "install npm, and run `cove setup browser` again".to_owned(),
            "name a browser that is there with COVE_BROWSER".to_owned(),
        ],
    })
}

/// Playwright's headless shell, else npm's; all that was tried where neither works.
async fn from_npm(site: &Site, node: &Node) -> Result<(), Vec<String>> {
    let mut tried = Vec::new();
    if node.tool("npx").is_some() {
        if !site.begin(&format!("fetching the headless shell: npx {}", PLAYWRIGHT.join(" "))) {
            return Ok(());
        }
        match node.run("npx", PLAYWRIGHT).await {
            Ok(()) => match worked(site).await {
                None => return Ok(()),
                Some(problem) => tried.push(problem),
            },
            Err(why) => tried.push(why),
        }
    }
    if npm_shell::can_be_tried() {
        match npm_shell::fetch(site, node).await {
            Ok(()) if site.dry_run => return Ok(()),
            Ok(()) => match worked(site).await {
                None => return Ok(()),
                Some(problem) => tried.push(problem),
            },
            Err(why) => tried.push(why),
        }
    }
    Err(tried)
}

/// A trial of the browser that Cove would take with this data folder.
async fn now(site: &Site) -> trial::Chrome {
    trial::chrome(find_browser_with(None, Some(&site.data_dir)).ok()).await
}

/// What is wrong with the browser that is there now; `None`: nothing.
async fn worked(site: &Site) -> Option<String> {
    let there = now(site).await;
    if let (true, Some(path)) = (there.sandbox_works, &there.path) {
        Site::is_there(&format!("browser: {}", path.display()));
    }
    there.problem
}

/// Makes sure of agent-browser in the version that Cove was written for.
pub(super) async fn agent_browser(site: &Site) -> Result<(), Failure> {
    let there = trial::agent_browser(Some(&site.data_dir)).await;
    if let (None, Some(path)) = (&there.problem, &there.path) {
        Site::is_there(&format!("agent-browser: {}", path.display()));
        return Ok(());
    }
    let prefix = agent_browser_prefix(&site.data_dir);
    let failed = |why: String| Failure {
        why: format!("agent-browser {AGENT_BROWSER_VERSION} could not be installed: {why}"),
        instead: vec![
            format!("npm install -g agent-browser@{AGENT_BROWSER_VERSION}"),
            format!("copy its native binary ({}) to {}", cove_gull::native_name(), prefix.display()),
        ],
    };
    let by_system = in_path("npm").is_none() && system::installer().await.is_some();
    if by_system {
        system::install(site, &["npm"]).await.map_err(|why| failed(format!("there is no npm, and {why}")))?;
    }
    // Packages that would be installed are not there to be used.
    let node = if by_system && site.dry_run { None } else { node::node(site).await.map_err(&failed)? };
    let what = format!("installing agent-browser {AGENT_BROWSER_VERSION} from npm in {}", prefix.display());
    if !site.begin(&what) {
        return Ok(());
    }
    let Some(node) = node else { return Ok(()) };
    fs::create_dir_all(&prefix).map_err(|error| failed(format!("{}: {error}", prefix.display())))?;
    let package = format!("agent-browser@{AGENT_BROWSER_VERSION}");
    let place = prefix.display().to_string();
    // The package asks for a newer Node.js than its native binary needs, which is none; no script of it is run.
    let args = ["install", "--prefix", &place, &package, "--ignore-scripts", "--engine-strict=false", "--no-audit"];
    node.run("npm", &[&args[..], &["--no-fund", "--loglevel=error"]].concat()).await.map_err(&failed)?;
    let found = find_agent_browser_with(None, Some(&site.data_dir)).map_err(|error| failed(error.to_string()))?;
    if let Some(folder) = found.parent().filter(|folder| folder.starts_with(&prefix)) {
        remove_others(folder, &found);
    }
    match trial::agent_browser(Some(&site.data_dir)).await.problem {
        Some(problem) => Err(failed(problem)),
        None => {
            Site::is_there(&format!("agent-browser: {}", found.display()));
            Ok(())
        }
    }
}

/// Removes the binaries of other systems: nine tenths of the package.
fn remove_others(folder: &std::path::Path, own: &std::path::Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_binary = entry.file_name().to_string_lossy().starts_with("agent-browser-");
        if is_binary && entry.path() != own {
            let _ = fs::remove_file(entry.path());
        }
    }
}
