//! Folders of the machine that guests may read: where they may appear, and which may not be given away.

use std::path::{Component, Path, PathBuf};

use crate::{Config, ConfigError, MountConfig};

/// What a sandbox has of its own: a mount on it, above it or below it would hide the workspace, open a way past a wall or
/// keep every sandbox from starting.
const TAKEN: [&str; 16] = [
    "/workspace",
    "/proc",
    "/dev",
    "/tmp",
    "/run",
    "/sys",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/var/lib/cove",
    "/etc/passwd",
    "/etc/resolv.conf",
];

/// Where a configured Python appears.
const PYTHON: &str = "/opt/python";

const PLACE: &str = "driver.local.mounts";

impl Config {
    /// Checks where mounts appear.
    pub(crate) fn check_mounts(&self) -> Result<(), ConfigError> {
        let mounts = &self.driver.local.mounts;
        for (number, mount) in mounts.iter().enumerate() {
            let MountConfig { host, inside } = mount;
            let wrong = |why: &str| {
                // The host's path first: it finds the line.
                let reason =
                    format!("{:?} cannot be mounted at {}: {why}", host.display().to_string(), inside.display());
                Err(ConfigError::value(PLACE, &reason))
            };
            let plain = |path: &Path| {
                let mut parts = path.components();
                parts.next() == Some(Component::RootDir) && parts.all(|part| matches!(part, Component::Normal(_)))
            };
            if !plain(inside) || inside.parent().is_none() {
                return wrong("`inside` must be a path from the root, without `..`, and not the root itself");
            }
            if !host.is_absolute() {
                return wrong("`host` must be a path from the root");
            }
            let python = self.driver.local.python.as_ref().map(|_| PYTHON);
            if let Some(taken) = TAKEN.into_iter().chain(python).find(|taken| meet(inside, Path::new(taken))) {
                return wrong(&format!("{taken} is used by the sandbox itself; choose another path, such as /data"));
            }
            if let Some(other) = mounts[..number].iter().find(|other| meet(inside, &other.inside)) {
                return wrong(&format!("{} is already mounted there", other.host.display()));
            }
        }
        Ok(())
    }

    /// Refuses to give away what is Bay's own, and what is not there.
    pub fn check_mounted(&self, runtime_root: &Path) -> Result<(), ConfigError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let own: Vec<PathBuf> =
            [self.data_dir()?, self.cargo_root()?, runtime_root.to_owned()].iter().map(|path| real(path)).collect();
        for mount in &self.driver.local.mounts {
            let wrong = |why: String| Err(ConfigError::value(PLACE, &format!("{}: {why}", mount.host.display())));
            let host = match mount.host.canonicalize() {
                Ok(host) => host,
                Err(error) => return wrong(error.to_string()),
            };
            if let Some(own) = own.iter().find(|own| meet(&host, own)) {
                let own = own.display();
                return wrong(format!("it would expose {own}, which holds every owner's workspaces and records"));
            }
        }
        Ok(())
    }
}

/// Whether one of two paths is the other, or above it.
fn meet(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(mounts: &[(&str, &str)], python: bool) -> Result<(), String> {
        let mut config = Config::default();
        config.driver.local.python = python.then(|| "/opt/venv".into());
        let mount = |(host, inside): &(&str, &str)| MountConfig { host: host.into(), inside: inside.into() };
        config.driver.local.mounts = mounts.iter().map(mount).collect();
        config.check_mounts().map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_sandbox_has_of_its_own_cannot_be_mounted_over() {
        for inside in [
            "/workspace",
            "/workspace/",
            "/workspace/below",
            "/",
            "//",
            "",
            "data",
            "/data/../workspace",
            "/./data/..",
            "/proc",
            "/proc/1",
            "/dev/shm",
            "/tmp",
            "/tmp/x",
            "/run",
            "/sys/fs",
            "/usr",
            "/usr/bin",
            "/lib64",
            "/var",
            "/var/lib",
            "/var/lib/cove/cove",
            "/etc",
            "/etc/passwd",
        ] {
            let refusal = checked(&[("/srv/x", inside)], false).unwrap_err();
            assert!(refusal.contains("\"/srv/x\"") && refusal.contains(PLACE), "{inside}: {refusal}");
        }
        for inside in ["/data", "/workspaces", "/opt/python", "/opt", "/home/x", "/var/data", "/etc/company"] {
            assert_eq!(checked(&[("/srv/x", inside)], false), Ok(()), "{inside}");
        }
        assert!(
            checked(&[("/srv/x", "/opt")], true).is_err() && checked(&[("/srv/x", "/opt/python/lib")], true).is_err()
        );
        assert!(checked(&[("/srv/x", "/a"), ("/srv/y", "/a/b")], false).is_err());
        assert!(checked(&[("/srv/x", "/a/b"), ("/srv/y", "/a")], false).is_err());
        assert!(checked(&[("srv/x", "/a")], false).is_err());
    }

    #[test]
    fn what_is_bays_own_is_not_given_away() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["data/cargos", "run", "else", "cargos"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::os::unix::fs::symlink(at("data"), at("link")).unwrap();
        let mut config = Config { data_dir: Some(at("data")), ..Config::default() };
        config.cargo.root_path = Some(at("cargos"));
        for (host, fine) in [
            ("data", false),
            ("data/cargos", false),
            ("run", false),
            ("cargos", false),
            ("link", false),
            ("", false),
            ("nowhere", false),
            ("else", true),
        ] {
            config.driver.local.mounts = vec![MountConfig { host: at(host), inside: "/data".into() }];
            assert_eq!(config.check_mounted(&at("run")).is_ok(), fine, "{host}");
        }
    }
}
