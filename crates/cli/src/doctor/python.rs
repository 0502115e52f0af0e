//! The Python that sandboxes run, and the packages that agents' code expects there.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::ask;

/// Where a sandbox looks for programs: the system's folders, and nothing of a user's own.
const FOLDERS: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin"];

/// The packages: the name in Python, the one for pip, the one for Debian.
const PACKAGES: &[(&str, &str, &str)] = &[
    ("IPython", "ipython", "python3-ipython"),
    ("NumPy", "numpy", "python3-numpy"),
    ("pandas", "pandas", "python3-pandas"),
    ("Pillow", "pillow", "python3-pil"),
    ("matplotlib", "matplotlib", "python3-matplotlib"),
];

/// Names the versions without importing anything: pandas alone would take a second.
const QUESTION: &str = "\
import importlib.metadata, json, sys
def version(name):
    try:
        return importlib.metadata.version(name)
    except Exception:
        return None
print(json.dumps({'version': '.'.join(map(str, sys.version_info[:3])), 'packages': [version(name) for name in sys.argv[1:]]}))";

/// What there is of Python.
#[derive(Debug, Default, Serialize)]
pub(super) struct Python {
    pub(super) found: bool,
    pub(super) path: Option<PathBuf>,
    pub(super) version: Option<String>,
    pub(super) packages: Vec<Package>,
    pub(super) problem: Option<String>,
    pub(super) next_step: Option<String>,
}

/// One package; without a version where it is missing.
#[derive(Debug, Serialize)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) found: bool,
    pub(super) version: Option<String>,
}

/// Looks at the Python of an environment, or at the system's.
pub(super) async fn python(environment: Option<&Path>) -> Python {
    let places: Vec<PathBuf> = match environment {
        Some(folder) => vec![folder.join("bin/python3")],
        None => FOLDERS.iter().map(|folder| Path::new(folder).join("python3")).collect(),
    };
    let Some(path) = places.iter().find(|path| path.is_file()) else {
        let next_step = match environment {
            Some(folder) => format!("python3 -m venv {}", folder.display()),
            None => "apt-get install python3".to_owned(),
        };
        let problem = places.first().map(|first| match environment {
            Some(_) => format!("there is no {}", first.display()),
            None => format!("there is no python3 in {}, where sandboxes look for it", FOLDERS.join(", ")),
        });
        return Python { packages: packages(&[]), problem, next_step: Some(next_step), ..Python::default() };
    };
    let mut question = vec!["-I", "-c", QUESTION];
    question.extend(PACKAGES.iter().map(|(_, pip, _)| *pip));
    let said = match ask::ask(path, &question).await {
        Ok(said) => serde_json::from_str::<Value>(&said).unwrap_or_default(),
        Err(error) => {
            return Python {
                found: true,
                packages: packages(&[]),
                problem: Some(error.to_string()),
                next_step: Some(format!("see why: {} -I -c 'import sys'", path.display())),
                path: Some(path.clone()),
                ..Python::default()
            };
        }
    };
    let versions = said["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let packages = packages(versions);
    let next_step = install(path, &packages);
    let version = said["version"].as_str().map(str::to_owned);
    Python { found: true, path: Some(path.clone()), version, packages, problem: None, next_step }
}

fn packages(versions: &[Value]) -> Vec<Package> {
    let version = |at: usize| versions.get(at).and_then(Value::as_str).map(str::to_owned);
    let named = PACKAGES.iter().enumerate().map(|(at, (name, ..))| (*name, version(at)));
    named.map(|(name, version)| Package { name, found: version.is_some(), version }).collect()
}

/// The command that installs what is missing. The system's own Python belongs to the system's packages: pip refuses there.
fn install(python: &Path, packages: &[Package]) -> Option<String> {
    let missing: Vec<&(&str, &str, &str)> =
        PACKAGES.iter().zip(packages).filter(|(_, package)| !package.found).map(|(names, _)| names).collect();
    if missing.is_empty() {
        return None;
    }
    let is_systems = python.starts_with("/usr/bin") && Path::new("/usr/bin/apt-get").exists();
    Some(if is_systems {
        let names: Vec<&str> = missing.iter().map(|(_, _, debian)| *debian).collect();
        format!("apt-get install {}", names.join(" "))
    } else {
        let names: Vec<&str> = missing.iter().map(|(_, pip, _)| *pip).collect();
        format!("{} -m pip install {}", python.display(), names.join(" "))
    })
}
