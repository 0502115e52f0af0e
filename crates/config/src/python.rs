//! Where the Python of sandboxes is: an environment that was named or that `cove setup` has made, else the system's own.

use std::path::{Path, PathBuf};

/// The system's Pythons, in the order of a sandbox's path: it has the system's folders, and nothing of a user's own.
pub const SYSTEM_PYTHONS: [&str; 3] = ["/usr/local/bin/python3", "/usr/bin/python3", "/bin/python3"];

/// The Python of an environment.
pub fn python_of(environment: &Path) -> PathBuf {
    environment.join("bin/python3")
}

/// Where `cove setup` makes the environment that sandboxes get by default.
pub fn python_in(data_dir: &Path) -> PathBuf {
    data_dir.join("python")
}

/// The environment of sandboxes: the one that was named, else the one that `cove setup` has made; none: the system's Python.
pub fn python_environment(named: Option<&Path>, data_dir: Option<&Path>) -> Option<PathBuf> {
    let own = || data_dir.map(python_in).filter(|folder| python_of(folder).exists());
    named.map(Path::to_owned).or_else(own)
}

/// The system's Python that sandboxes find first.
pub fn system_python() -> Option<PathBuf> {
    SYSTEM_PYTHONS.iter().map(PathBuf::from).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_environment_goes_before_the_usual_one() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(python_environment(None, Some(folder.path())), None);
        let named = Path::new("/named");
        assert_eq!(python_environment(Some(named), Some(folder.path())).as_deref(), Some(named));
        let own = python_in(folder.path());
        std::fs::create_dir_all(own.join("bin")).unwrap();
        std::fs::write(python_of(&own), "").unwrap();
        assert_eq!(python_environment(None, Some(folder.path())), Some(own));
        assert_eq!(python_environment(Some(named), Some(folder.path())).as_deref(), Some(named));
    }
}
