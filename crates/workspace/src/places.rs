//! Where a user's own data lies, what is a program, and whether another user can get to a path.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The data folder unless a command or a configuration names another: `COVE_DATA_DIR`, else `cove` in `XDG_DATA_HOME`,
/// else `~/.local/share/cove`. `None`: the user has no home.
pub fn data_dir() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from("COVE_DATA_DIR")
        .or_else(|| from("XDG_DATA_HOME").map(|dir| dir.join("cove")))
        .or_else(|| from("HOME").map(|dir| dir.join(".local/share/cove")))
}

/// Whether a path is a file that can be executed.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether a user without groups can pass through every folder above `path`.
pub fn is_passable(path: &Path, id: u32) -> bool {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    above.map(std::fs::metadata).all(|found| found.is_ok_and(|meta| may_pass(&meta, id)))
}

fn may_pass(meta: &Metadata, id: u32) -> bool {
    let bit = match (meta.uid() == id, meta.gid() == id) {
        (true, _) => 0o100,
        (false, true) => 0o010,
        (false, false) => 0o001,
    };
    meta.permissions().mode() & bit != 0
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_shut_folder_is_in_the_way_of_others() {
        let top = tempfile::tempdir().unwrap();
        let (own, other) = (rustix::process::geteuid().as_raw(), 1_234_567);
        let inner = top.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let file = inner.join("program");
        fs::write(&file, "").unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(top.path(), 0o711);
        assert!(is_passable(&file, own) && is_passable(&file, other));
        set(&top.path().join("a"), 0o700);
        assert!(is_passable(&file, own) && !is_passable(&file, other));
        assert!(!is_passable(&top.path().join("nowhere/at/all"), own));
        set(&file, 0o644);
        assert!(!is_program(&file) && !is_program(&inner));
        set(&file, 0o755);
        assert!(is_program(&file));
    }
}
