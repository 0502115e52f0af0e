//! Why this machine does not let a wall be put up, and what would: for whoever reads the error of a sandbox that did not
//! start.

use std::fs;
use std::io;

/// What a container must allow.
const CONTAINER: &str = "in a container, allow namespaces and a whole /proc: `docker run --security-opt seccomp=unconfined \
                         --security-opt systempaths=unconfined …`; no capability is needed. In a chroot nobody can make a user \
                         namespace";

/// Says which wall failed, and, where the kernel forbade it, what to change.
pub(super) fn wall<T>(name: &str, outcome: io::Result<T>) -> io::Result<T> {
    outcome.map_err(|error| {
        let fix = fix(&error, &setting);
        let fix = fix.map_or(String::new(), |fix| format!("; {fix}"));
        io::Error::new(error.kind(), format!("{name}: {error}{fix}"))
    })
}

/// What to change; `None` where nothing is known.
fn fix(error: &io::Error, setting: &dyn Fn(&str) -> Option<u64>) -> Option<String> {
    let told = |text: &str| Some(text.to_owned());
    if error.raw_os_error() == Some(libc::ENOSPC) {
        return told("the number of namespaces is limited: `sysctl -w user.max_user_namespaces=15000`");
    }
    if error.kind() != io::ErrorKind::PermissionDenied {
        return None;
    }
    if setting("kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        return told(
            "AppArmor forbids user namespaces here: `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`",
        );
    }
    if setting("kernel/unprivileged_userns_clone") == Some(0) {
        return told("user namespaces are root's alone here: `sysctl -w kernel.unprivileged_userns_clone=1`");
    }
    told(CONTAINER)
}

fn setting(name: &str) -> Option<u64> {
    fs::read_to_string(format!("/proc/sys/{name}")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_blocker_has_its_fix() {
        let denied = || io::Error::from_raw_os_error(libc::EPERM);
        let none = |_: &str| None;
        let told = |error: io::Error, setting: &dyn Fn(&str) -> Option<u64>| fix(&error, setting).unwrap_or_default();
        assert!(told(io::Error::from_raw_os_error(libc::ENOSPC), &none).contains("max_user_namespaces"));
        assert!(told(denied(), &none).contains("docker run --security-opt seccomp=unconfined"));
        let ubuntu = |name: &str| name.contains("apparmor").then_some(1);
        assert!(told(denied(), &ubuntu).contains("AppArmor"));
        let old = |name: &str| name.ends_with("userns_clone").then_some(0);
        assert!(told(denied(), &old).contains("unprivileged_userns_clone=1"));
        assert_eq!(told(io::Error::other("else"), &none), "");
        let said = wall("pid-namespace", Err::<(), _>(denied())).unwrap_err();
        assert!(said.to_string().starts_with("pid-namespace: Operation not permitted"), "{said}");
    }
}
