//! The Python that sandboxes run, and the packages that agents' code expects there.

use std::path::{Path, PathBuf};

use cove_config::{SYSTEM_PYTHONS, python_of};
use serde::Serialize;
use serde_json::Value;

use super::ask;

/// The packages: the name in Python, and the one for pip.
const PACKAGES: &[(&str, &str)] = &[
    ("IPython", "ipython"),
    ("NumPy", "numpy"),
    ("pandas", "pandas"),
    ("Pillow", "pillow"),
    ("matplotlib", "matplotlib"),
];

/// The same as packages of Debian.
pub(crate) const DEBIAN_PACKAGES: &[&str] =
    &["python3-ipython", "python3-numpy", "python3-pandas", "python3-pil", "python3-matplotlib"];

/// How to get what is missing, for sandboxes with the usual Python.
const INSTALL: &str = "cove setup python";

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
pub(crate) struct Python {
    pub(crate) found: bool,
    pub(crate) path: Option<PathBuf>,
    pub(crate) version: Option<String>,
    pub(crate) packages: Vec<Package>,
    pub(crate) problem: Option<String>,
    pub(crate) next_step: Option<String>,
}

/// One package; without a version where it is missing.
#[derive(Debug, Serialize)]
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) found: bool,
    pub(crate) version: Option<String>,
}

impl Python {
    /// Whether it runs and has every package.
    pub(crate) fn is_complete(&self) -> bool {
        self.found && self.problem.is_none() && self.packages.iter().all(|package| package.found)
    }
}

/// Looks at the Python of an environment, or at the system's.
pub(crate) async fn python(environment: Option<&Path>) -> Python {
    let places: Vec<PathBuf> = match environment {
        Some(folder) => vec![python_of(folder)],
        None => SYSTEM_PYTHONS.iter().map(PathBuf::from).collect(),
    };
    let Some(path) = places.iter().find(|path| path.is_file()) else {
        let next_step = match environment {
            Some(folder) => format!("python3 -m venv {}", folder.display()),
            None => INSTALL.to_owned(),
        };
        let problem = places.first().map(|first| match environment {
            Some(_) => format!("there is no {}", first.display()),
            None => format!("there is no {}, where sandboxes look for it", SYSTEM_PYTHONS.join(", no ")),
        });
        return Python { packages: packages(&[]), problem, next_step: Some(next_step), ..Python::default() };
    };
    let mut question = vec!["-I", "-c", QUESTION];
    question.extend(PACKAGES.iter().map(|(_, pip)| *pip));
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
    let next_step = install(environment, path, &packages);
    let version = said["version"].as_str().map(str::to_owned);
    Python { found: true, path: Some(path.clone()), version, packages, problem: None, next_step }
}

fn packages(versions: &[Value]) -> Vec<Package> {
    let version = |at: usize| versions.get(at).and_then(Value::as_str).map(str::to_owned);
    let named = PACKAGES.iter().enumerate().map(|(at, (name, _))| (*name, version(at)));
    named.map(|(name, version)| Package { name, found: version.is_some(), version }).collect()
}

/// The command that installs what is missing: with the environment's own pip where one was named, else Cove's.
fn install(environment: Option<&Path>, python: &Path, packages: &[Package]) -> Option<String> {
    let missing: Vec<&str> =
        PACKAGES.iter().zip(packages).filter(|(_, package)| !package.found).map(|((_, pip), _)| *pip).collect();
    let is_usual = environment.is_none_or(|folder| {
        cove_workspace::data_dir().is_some_and(|data_dir| folder == cove_config::python_in(&data_dir))
    });
    match (missing.is_empty(), is_usual) {
        (true, _) => None,
        (false, true) => Some(INSTALL.to_owned()),
        (false, false) => Some(format!("{} -m pip install {}", python.display(), missing.join(" "))),
    }
}
