//! The Python environment that sandboxes use by default, in the data folder.

use std::path::Path;

use cove_config::{python_in, python_of, system_python};

use super::command::{in_path, run};
use super::{Failure, Site, system};
use crate::doctor::python as trial;

/// What pip is asked for.
const PACKAGES: &[&str] = &["ipython", "numpy", "pandas", "pillow", "matplotlib"];

/// Makes sure of a Python with its packages.
pub(super) async fn python(site: &Site) -> Result<(), Failure> {
    let folder = python_in(&site.data_dir);
    if python_of(&folder).exists() {
        if trial::python(Some(&folder)).await.is_complete() {
            Site::is_there(&format!("Python: {}", folder.display()));
            return Ok(());
        }
    } else if trial::python(None).await.is_complete() {
        Site::is_there("Python: the system's own has every package");
        return Ok(());
    }
    let failed = |why: String| Failure {
        why: format!("the Python environment could not be made: {why}"),
        instead: vec![
            system::by_hand(trial::DEBIAN_PACKAGES),
            format!("copy an environment of the same Python to {}", folder.display()),
        ],
    };
    let base = match system_python() {
        Some(base) => base,
        None => {
            system::install(site, &["python3", "python3-venv"]).await.map_err(&failed)?;
            system_python().unwrap_or_else(|| "/usr/bin/python3".into())
        }
    };
    let made = format!("making a Python environment in {}: {}", folder.display(), PACKAGES.join(" "));
    if !site.begin(&made) {
        return Ok(());
    }
    std::fs::create_dir_all(&site.data_dir).map_err(|error| failed(error.to_string()))?;
    environment(site, &base, &folder, PACKAGES).await.map_err(&failed)?;
    let there = trial::python(Some(&folder)).await;
    if !there.is_complete() {
        return Err(failed(there.problem.unwrap_or_else(|| "packages are missing in it".to_owned())));
    }
    Site::is_there(&format!("Python: {}", folder.display()));
    Ok(())
}

/// Makes an environment and installs packages: with the environment's own pip, else with uv.
pub(super) async fn environment(site: &Site, base: &Path, folder: &Path, packages: &[&str]) -> Result<(), String> {
    let place = folder.display().to_string();
    let own = python_of(folder);
    let mut made = run(base, &["-m", "venv", "--clear", &place]).await;
    if made.is_err() && system::installer().await.is_some() {
        // Debian keeps the half of it in a package of its own.
        system::install(site, &["python3-venv"]).await?;
        made = run(base, &["-m", "venv", "--clear", &place]).await;
    }
    match (made, in_path("uv")) {
        (Ok(()), _) => {
            let args = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            run(&own, &[&args[..], packages].concat()).await
        }
        (Err(_), Some(uv)) => {
            run(base, &["-m", "venv", "--clear", "--without-pip", &place]).await?;
            let own = own.display().to_string();
            run(&uv, &[&["pip", "install", "--quiet", "--python", &own][..], packages].concat()).await
        }
        (Err(why), None) => Err(why),
    }
}
