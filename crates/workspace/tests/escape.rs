//! The escape suite against the room itself, with either resolver, with symlinks followed and without.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::io::{Read, Write};
use std::os::fd::AsFd;

use cove_workspace::testkit::escape::{Answered, Expect, INVALID_PATH, LINKS, PATHS, Stage};
use cove_workspace::{FOLDER, Folder, Listing, Missing, READ, RelPath, Resolver, Target};
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Every folder that the rules allow, on a stage of its own.
fn each(run: impl Fn(&str, &Stage, &Folder)) {
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        for follows in [true, false] {
            let stage = Stage::new();
            let folder = Folder::open(&stage.workspace()).unwrap().with_resolver(resolver);
            let folder = if follows { folder } else { folder.without_symlinks() };
            run(&format!("{resolver:?}, symlinks {follows}"), &stage, &folder);
        }
    }
}

/// A refusal by its name; the kernel has two for "this would lead out".
fn told<T>(result: Result<T, Errno>) -> Result<T, String> {
    result.map_err(|errno| match errno {
        Errno::XDEV | Errno::LOOP => INVALID_PATH.to_owned(),
        other => other.to_string(),
    })
}

fn path(text: &str) -> Result<RelPath, String> {
    RelPath::parse(text).map_err(|_| INVALID_PATH.to_owned())
}

fn read(folder: &Folder, text: &str) -> Result<String, String> {
    let mut content = String::new();
    told(folder.open_file(&path(text)?, READ))?.0.take(4096).read_to_string(&mut content).unwrap();
    Ok(content)
}

fn list(folder: &Folder, text: &str) -> Result<String, String> {
    let opened = told(folder.open_path(&path(text)?, FOLDER))?;
    names(opened)
}

fn names(dir: impl AsFd) -> Result<String, String> {
    let mut names = Vec::new();
    told(Listing::new().each(dir, |entry| {
        names.push(String::from_utf8_lossy(entry.name).into_owned());
        true
    }))?;
    Ok(names.join(" "))
}

fn append(folder: &Folder, text: &str) -> Result<String, String> {
    let (mut file, _) = told(folder.open_file(&path(text)?, OFlags::WRONLY | OFlags::APPEND))?;
    file.write_all(b"more").unwrap();
    Ok(String::new())
}

fn replace(folder: &Folder, text: &str) -> Result<String, String> {
    let place = told(folder.place_followed(&path(text)?, Missing::Create))?;
    told(Target::at(&place).and_then(|target| target.replace(b"inside\n"))).map(|()| String::new())
}

fn publish(folder: &Folder, text: &str) -> Result<String, String> {
    let path = path(text)?;
    let mut draft = told(folder.draft(0o644))?;
    told(draft.write(b"inside\n"))?;
    told(folder.publish(draft, &path, None)).map(|()| String::new())
}

fn remove(folder: &Folder, text: &str) -> Result<String, String> {
    told(folder.remove(&path(text)?)).map(|()| String::new())
}

fn subfolder(folder: &Folder, text: &str) -> Result<String, String> {
    let inner = told(folder.folder(&path(text)?))?;
    names(told(inner.open_folder(b""))?)
}

fn look(folder: &Folder, text: &str) -> Vec<Answered> {
    vec![
        ("read", read(folder, text)),
        ("list", list(folder, text)),
        ("append", append(folder, text)),
        ("replace", replace(folder, text)),
        ("folder", subfolder(folder, text)),
    ]
}

/// What takes the last name for itself and not for what it may lead to.
fn put(folder: &Folder, text: &str) -> Vec<Answered> {
    vec![("publish", publish(folder, text)), ("remove", remove(folder, text))]
}

#[test]
fn no_path_leads_out() {
    assert!(PATHS.len() + LINKS.len() >= 36);
    each(|how, stage, folder| {
        stage.check(how, PATHS, Expect::Refused, |path| look(folder, path));
        stage.check(how, PATHS, Expect::Refused, |path| put(folder, path));
        stage.check(how, LINKS, Expect::Refused, |path| look(folder, path));
        stage.check(how, LINKS, Expect::Inside, |path| put(folder, path));
        // The links were taken for themselves: each is gone.
        assert!(LINKS.iter().all(|link| stage.workspace().join(link).symlink_metadata().is_err()), "{how}");
        let mut left = std::fs::read_dir(stage.workspace()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(!left.any(|name| name.to_string_lossy().starts_with(".cove-")), "{how}: a draft is left");
    });
}

#[test]
fn a_symlink_swapping_racer_gains_nothing() {
    each(|how, stage, folder| {
        stage.race(how, || {
            vec![
                ("read", read(folder, "real/a.txt")),
                ("read a secret", read(folder, "real/secret.txt")),
                ("list", list(folder, "real")),
                ("list the other", list(folder, "swap")),
                ("folder", subfolder(folder, "real")),
                ("append", append(folder, "real/secret.txt")),
                ("replace", replace(folder, "real/a.txt")),
                ("replace a secret", replace(folder, "real/new/b.txt")),
                ("publish", publish(folder, "real/c.txt")),
                ("publish deeper", publish(folder, "real/deep/er/c.txt")),
                ("remove", remove(folder, "real/c.txt")),
                ("remove a folder", remove(folder, "real/deep")),
            ]
        });
    });
}

/// The folder is the one that was opened, not whatever has its name later.
#[test]
fn a_folder_that_is_moved_away_stays_itself() {
    each(|how, stage, folder| {
        std::fs::rename(stage.workspace(), stage.workspace().with_file_name("moved")).unwrap();
        std::os::unix::fs::symlink(stage.outside(), stage.workspace()).unwrap();
        assert_eq!(read(folder, "a.txt").unwrap(), "inside\n", "{how}");
        publish(folder, "a.txt").unwrap();
        replace(folder, "sub/a.txt").unwrap();
        stage.assert_untouched(how);
    });
}

/// Symlinks that stay inside are followed or not, as the folder was told.
#[test]
fn symlinks_inside_are_followed_if_that_is_wanted() {
    each(|how, stage, folder| {
        std::os::unix::fs::symlink("real", stage.workspace().join("good")).unwrap();
        let follows = how.ends_with("true");
        assert_eq!(read(folder, "good/a.txt").is_ok(), follows, "{how}");
        assert_eq!(publish(folder, "good/new.txt").is_ok(), follows, "{how}");
        assert_eq!(stage.workspace().join("real/new.txt").exists(), follows, "{how}");
        // A link to a folder that is not there stays one, unless the whole path is followed.
        std::os::unix::fs::symlink("nowhere", stage.workspace().join("dangling")).unwrap();
        assert!(publish(folder, "dangling/new.txt").is_err() && !stage.workspace().join("nowhere").exists(), "{how}");
        assert_eq!(replace(folder, "dangling/new.txt").is_ok(), follows, "{how}");
    });
}

/// Names that are no text are reached by the text that they are listed as.
#[test]
fn unreadable_names_are_found() {
    use std::os::unix::ffi::OsStrExt;
    each(|how, stage, folder| {
        let odd = |bytes: &'static [u8]| stage.workspace().join(std::ffi::OsStr::from_bytes(bytes));
        std::fs::create_dir(odd(b"d\xff")).unwrap();
        std::fs::write(odd(b"d\xff/f\xfe"), "found").unwrap();
        assert_eq!(read(folder, "d\u{fffd}/f\u{fffd}").unwrap(), "found", "{how}");
        // Two that read alike are nobody's.
        std::fs::write(odd(b"d\xff/f\xfd"), "other").unwrap();
        assert!(read(folder, "d\u{fffd}/f\u{fffd}").is_err(), "{how}");
        std::fs::remove_file(odd(b"d\xff/f\xfd")).unwrap();
        remove(folder, "d\u{fffd}/f\u{fffd}").unwrap();
        publish(folder, "d\u{fffd}/new").unwrap();
        assert!(odd(b"d\xff/new").exists(), "{how}");
    });
}

/// A folder that its owner has closed is opened again, if that is wanted.
#[test]
fn a_closed_folder_is_opened_again() {
    use std::os::unix::fs::PermissionsExt;
    for mode in [0o000, 0o500] {
        let stage = Stage::new();
        let close = || std::fs::set_permissions(stage.workspace(), PermissionsExt::from_mode(mode)).unwrap();
        let folder = Folder::open(&stage.workspace()).unwrap().reopening();
        close();
        assert_eq!(read(&folder, "a.txt").unwrap(), "inside\n");
        close();
        publish(&folder, "new.txt").unwrap();
        close();
        remove(&folder, "new.txt").unwrap();
        close();
        publish(&folder, "new/er/a.txt").unwrap();
    }
}

/// Where root works in somebody's folder, what it makes there is that somebody's; for others nothing changes.
#[test]
fn what_is_made_belongs_to_whom_it_is_given() {
    use std::os::unix::fs::MetadataExt;
    each(|how, stage, folder| {
        let folder = folder.try_clone().unwrap().with_folder_mode(0o750).giving_to(4321, 4322);
        publish(&folder, "made/deep/a.txt").unwrap();
        let user = rustix::process::geteuid();
        let owner = if user.is_root() { (4321, 4322) } else { (user.as_raw(), rustix::process::getegid().as_raw()) };
        for made in ["made", "made/deep", "made/deep/a.txt"] {
            let meta = stage.workspace().join(made).symlink_metadata().unwrap();
            assert_eq!((meta.uid(), meta.gid()), owner, "{how}: {made}");
            assert_eq!(meta.mode() & 0o777, if meta.is_dir() { 0o750 } else { 0o644 }, "{how}: {made}");
        }
    });
}
