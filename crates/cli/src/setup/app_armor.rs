//! A profile of AppArmor's for Cove. Ubuntu lets only programs with a profile make user namespaces that are worth
//! something; this one forbids nothing and allows that.

use std::io::Write as _;
use std::path::Path;

use cove_cell::Blocker;

use super::command::{in_path, run};
use super::system::{self, Installer};
use super::{Failure, Site};
use crate::doctor::sandboxes;
use crate::terminal;

/// Where AppArmor looks for profiles.
const PLACE: &str = "/etc/apparmor.d/cove";

/// Makes sure of a profile where the system wants one; elsewhere only if it was asked for by name.
pub(super) async fn app_armor(site: &Site, by_name: bool) -> Result<(), Failure> {
    if sandboxes::sandboxes().await.blocker != Some(Blocker::AppArmor) && !(by_name && site.dry_run) {
        if by_name {
            Site::is_there("AppArmor: it does not keep Cove from making sandboxes");
        }
        return Ok(());
    }
    let failed = |why: String| Failure {
        why: format!("the AppArmor profile could not be installed: {why}"),
        instead: vec![
            format!("as root: cove setup apparmor --dry-run > {PLACE} && apparmor_parser --replace {PLACE}"),
            "as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0".to_owned(),
        ],
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let text = profile(&program).ok_or_else(|| failed(format!("{} cannot be written in one", program.display())))?;
    if !site.begin(&format!("writing {PLACE} and loading it")) {
        return terminal::out().write_all(text.as_bytes()).map_err(|error| failed(error.to_string()));
    }
    install(&text).await.map_err(failed)?;
    match sandboxes::sandboxes().await.problem {
        Some(problem) => Err(failed(format!("sandboxes still cannot be made: {problem}"))),
        None => {
            Site::is_there(&format!("AppArmor: {PLACE}"));
            Ok(())
        }
    }
}

/// Writes the profile and loads it.
async fn install(text: &str) -> Result<(), String> {
    let installer = system::installer().await.ok_or("only root can do that")?;
    let draft = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    std::fs::write(draft.path(), text).map_err(|error| error.to_string())?;
    let draft = draft.path().display().to_string();
    let copy = ["install", "-m", "644", &draft, PLACE];
    let load = ["apparmor_parser", "--replace", PLACE];
    for command in [&copy[..], &load] {
        let (program, rest) = match &installer {
            Installer::Root => {
                (in_path(command[0]).ok_or_else(|| format!("there is no {}", command[0]))?, &command[1..])
            }
            Installer::Sudo(sudo) => (sudo.clone(), command),
        };
        run(&program, rest).await?;
    }
    Ok(())
}

/// The profile for a program; `None` where its path cannot be written in one. A path in quotes is a pattern: what means
/// something in patterns is escaped.
fn profile(program: &Path) -> Option<String> {
    let path = program.to_str().filter(|path| !path.contains(['"', '\n', '\0']))?;
    let path = path.chars().fold(String::new(), |mut all, letter| {
        if "\\*?[]{}^@".contains(letter) {
            all.push('\\');
        }
        all.push(letter);
        all
    });
    Some(format!(
        "# Lets Cove make user namespaces, of which its sandboxes are made. It forbids nothing.\n\
         abi <abi/4.0>,\n\
         include <tunables/global>\n\
         \n\
         profile cove \"{path}\" flags=(unconfined) {{\n  \
           userns,\n\
         }}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_names_the_program() {
        let text = profile(Path::new("/opt/my tools/cove")).unwrap();
        assert!(text.contains("profile cove \"/opt/my tools/cove\" flags=(unconfined) {\n  userns,\n}\n"), "{text}");
        assert!(profile(Path::new("/opt/a{b}/cove")).unwrap().contains("\"/opt/a\\{b\\}/cove\""));
        assert_eq!(profile(Path::new("/opt/\"/cove")), None);
    }
}
