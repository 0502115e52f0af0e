//! Packages of the system: Debian's and Ubuntu's, by root or by whoever may become root.

use std::path::{Path, PathBuf};

use super::Site;
use super::command::{in_path, run};

const APT: &str = "/usr/bin/apt-get";
const APT_CACHE: &str = "/usr/bin/apt-cache";

/// How packages are installed here.
pub(super) enum Installer {
    /// We are root.
    Root,
    /// By this `sudo`.
    Sudo(PathBuf),
}

/// How packages can be installed here; `None`: not by us.
pub(super) async fn installer() -> Option<Installer> {
    if !Path::new(APT).exists() {
        return None;
    }
    if rustix::process::geteuid().is_root() {
        return Some(Installer::Root);
    }
    let sudo = in_path("sudo")?;
    // Where somebody sits, he is asked for his password; where nobody does, none may be needed.
    let may = crate::terminal::aside_is_terminal() || run(&sudo, &["-n", "true"]).await.is_ok();
    may.then_some(Installer::Sudo(sudo))
}

/// The command that installs packages, for a person.
pub(super) fn by_hand(packages: &[&str]) -> String {
    format!("as root: apt-get install {}", packages.join(" "))
}

/// Installs packages, after a look at what is new if they are not known yet.
pub(super) async fn install(site: &Site, packages: &[&str]) -> Result<(), String> {
    let Some(installer) = installer().await else {
        return Err("packages of the system can be installed by root alone here".to_owned());
    };
    if !site.begin(&format!("installing packages of the system: {}", packages.join(" "))) {
        return Ok(());
    }
    if !all_known(packages).await {
        apt(&installer, &["update", "-qq"]).await?;
        if !all_known(packages).await {
            return Err(format!("this system has no package {}", packages.join(", or no ")));
        }
    }
    let options = ["install", "-y", "-qq", "--no-install-recommends"];
    apt(&installer, &[&options[..], packages].concat()).await
}

/// Whether the system knows a version of each that can be installed.
async fn all_known(packages: &[&str]) -> bool {
    for package in packages {
        if run(Path::new(APT_CACHE), &["show", "--no-all-versions", "-q", package]).await.is_err() {
            return false;
        }
    }
    true
}

async fn apt(installer: &Installer, args: &[&str]) -> Result<(), String> {
    let own = ["DEBIAN_FRONTEND=noninteractive", APT];
    match installer {
        Installer::Root => run(Path::new("/usr/bin/env"), &[&own[..], args].concat()).await,
        Installer::Sudo(sudo) => run(sudo, &[&["env"][..], &own, args].concat()).await,
    }
}
