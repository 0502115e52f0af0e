//! The command line of `cove line`, which the Kubernetes driver writes and nobody else.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, lchown};
use std::path::{Path, PathBuf};

use super::{LineOptions, serve};

const USAGE: &str = "usage: line --listen ADDRESS:PORT --key HEX --folder DIR --volume DIR --outlive SECONDS
       line --prepare DIR --user UID:GID";

/// The folders of a cargo in its volume: what guests see, and the browser's state.
const FOLDERS: [&str; 2] = ["files", "browser"];

/// Serves the line of a Pod, or makes a volume ready for one; the exit code and, where there is one, what to tell the user.
pub async fn command(args: &[String]) -> (u8, Option<String>) {
    let told = |outcome: io::Result<()>| match outcome {
        Ok(()) => (0, None),
        Err(error) => (5, Some(error.to_string())),
    };
    match parse(args) {
        Ok(Parsed::Serve(options)) => told(serve(options).await),
        Ok(Parsed::Prepare { volume, uid, gid }) => told(prepare(&volume, uid, gid)),
        Err(problem) => (2, Some(format!("{problem}\n{USAGE}"))),
    }
}

/// Makes a volume that belongs to root the guests' own: its root, which the line weighs, and the folders that they see.
fn prepare(volume: &Path, uid: u32, gid: u32) -> io::Result<()> {
    own(volume, uid, gid)?;
    for name in FOLDERS {
        let folder = volume.join(name);
        match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        own(&folder, uid, gid)?;
    }
    Ok(())
}

/// Never what a guest has put in a folder's place.
fn own(folder: &Path, uid: u32, gid: u32) -> io::Result<()> {
    let meta = std::fs::symlink_metadata(folder)?;
    if meta.is_dir() && (meta.uid(), meta.gid()) != (uid, gid) {
        lchown(folder, Some(uid), Some(gid))?;
    }
    Ok(())
}

#[derive(Debug)]
enum Parsed {
    Serve(LineOptions),
    Prepare { volume: PathBuf, uid: u32, gid: u32 },
}

fn parse(args: &[String]) -> Result<Parsed, String> {
    let (mut listen, mut key, mut folder, mut volume) = (None, None, None, None);
    let (mut outlive, mut prepare, mut user) = (None, None, None);
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let value = args.next().cloned().ok_or_else(|| format!("{name} needs a value"))?;
        let wrong = || format!("{name} cannot be {value:?}");
        match name.as_str() {
            "--listen" => listen = Some(value.parse().map_err(|_| wrong())?),
            "--key" => key = Some(value),
            "--folder" => folder = Some(PathBuf::from(value)),
            "--volume" => volume = Some(PathBuf::from(value)),
            "--outlive" => outlive = Some(value.parse().map_err(|_| wrong())?),
            "--prepare" => prepare = Some(PathBuf::from(value)),
            "--user" => {
                let (uid, gid) = value.split_once(':').ok_or_else(wrong)?;
                user = Some((uid.parse().map_err(|_| wrong())?, gid.parse().map_err(|_| wrong())?));
            }
            _ => return Err(format!("unknown argument {name:?}")),
        }
    }
    if let (Some(volume), Some((uid, gid))) = (prepare, user) {
        return Ok(Parsed::Prepare { volume, uid, gid });
    }
    match (listen, key, folder, volume, outlive) {
        (Some(listen), Some(key_fingerprint), Some(folder), Some(volume), Some(outlive_seconds)) => {
            Ok(Parsed::Serve(LineOptions { listen, key_fingerprint, folder, volume, outlive_seconds }))
        }
        _ => Err("an argument is missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_or_refused() {
        let parse = |text: &str| parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let all = "--listen 0.0.0.0:8127 --key ab --folder /run/cove --volume /volume --outlive 60";
        assert!(matches!(parse(all), Ok(Parsed::Serve(options)) if options.outlive_seconds == 60));
        assert!(matches!(parse("--prepare /v --user 1000:1000"), Ok(Parsed::Prepare { uid: 1000, .. })));
        for wrong in ["--listen", "--listen x", "--prepare /v", "--prepare /v --user 5", "--x y", "--listen 0.0.0.0:1"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_volume_is_prepared_once_and_again() {
        let volume = tempfile::tempdir().unwrap();
        let me = std::fs::metadata(volume.path()).unwrap();
        for _ in 0..2 {
            prepare(volume.path(), me.uid(), me.gid()).unwrap();
        }
        std::fs::write(volume.path().join("files/a"), "kept").unwrap();
        prepare(volume.path(), me.uid(), me.gid()).unwrap();
        assert_eq!(std::fs::read_to_string(volume.path().join("files/a")).unwrap(), "kept");
    }
}
