//! Where the browser's state lies, what it may take, and what the browser may read: nothing that a guest, a page or the
//! place of a folder could make of it keeps a sandbox from its browser.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;

use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cove_gull::{Gull, GullOptions};
use site::Place;

const WAIT: Duration = Duration::from_secs(60);

fn options(place: &Place, state: &Path) -> GullOptions {
    GullOptions { state_dir: Some(state.to_owned()), ..place.options("sandbox-state") }
}

async fn ok(gull: &Gull, cmd: &str) -> String {
    let answer = gull.exec(cmd, WAIT).await;
    assert_eq!(answer.exit_code, 0, "{cmd}: {answer:?}");
    format!("{}{}", answer.stdout, answer.stderr)
}

/// Logs in and stores something, then comes back with a new browser.
async fn comes_back(place: &Place, state: &Path) {
    let gull = Gull::start(options(place, state)).await.unwrap();
    ok(&gull, &format!("open {}", place.url("/play"))).await;
    ok(&gull, "eval 'localStorage.setItem(\"kept\", \"still here\"); document.cookie = \"user=ada\"; 1'").await;
    gull.close().await;
    drop(gull);
    let gull = Gull::start(options(place, state)).await.unwrap();
    ok(&gull, &format!("open {}", place.url("/home"))).await;
    let seen =
        ok(&gull, "eval 'localStorage.getItem(\"kept\") + \" \" + document.querySelector(\"h1\").textContent'").await;
    assert!(seen.contains("still here") && seen.contains("Welcome ada"), "{seen}");
    gull.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn state_is_kept_outside_of_the_workspace() {
    let place = Place::new().await;
    let state = place.temp.path().join("state");
    comes_back(&place, &state).await;
    assert!(!place.file(".browser").exists(), "something was put into the workspace");
    assert!(state.join("cookies.json").is_file() && state.join("data/Default").is_dir());
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
}

/// Root's own home is closed to the browser's user; for anybody else this is a folder like others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn state_below_a_closed_folder_is_kept_all_the_same() {
    let place = Place::new().await;
    let home = place.temp.path().join("home");
    std::fs::DirBuilder::new().mode(0o700).create(&home).unwrap();
    comes_back(&place, &home.join("state")).await;
}

/// Puts something in the way at this path.
type Obstacle = fn(&Path);

/// What a guest can put where the browser once kept its state, in both places.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_in_the_workspace_is_in_the_way() {
    let obstacles: [(&str, Obstacle); 4] = [
        ("a symlink", |path| symlink("/x", path).unwrap()),
        ("a loop", |path| symlink(path.file_name().unwrap(), path).unwrap()),
        ("a file", |path| std::fs::write(path, "x").unwrap()),
        ("a shut folder", |path| std::fs::DirBuilder::new().mode(0o000).create(path).unwrap()),
    ];
    for (what, put) in obstacles {
        let place = Place::new().await;
        for name in [".browser", "skills"] {
            put(&place.file(name));
        }
        let gull = Gull::start(options(&place, &place.temp.path().join("state"))).await.unwrap();
        let told = ok(&gull, "open data:text/html,<title>Here</title>").await;
        assert!(!told.contains("moved"), "{what}: {told}");
        assert!(std::fs::symlink_metadata(place.file(".browser")).is_ok(), "{what}: a guest's own file is its own");
        gull.close().await;
        let gull = Gull::start(place.options("sandbox-state")).await.unwrap();
        let told = ok(&gull, "open data:text/html,<title>Here</title>").await;
        assert_eq!(told.contains("moved from .browser to .browser.moved-"), what != "a shut folder", "{what}: {told}");
        assert!(!told.contains(place.dir.path().to_str().unwrap()), "{what}: {told}");
        gull.close().await;
        if what == "a shut folder" {
            // Or an ordinary user could not remove it.
            std::fs::set_permissions(place.file("skills"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

/// A page that stores as much as it can costs its browser, and neither the disk nor the sandbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_pages_store_has_a_limit() {
    let place = Place::new().await;
    let state = place.temp.path().join("state");
    let mut small = options(&place, &state);
    small.disk_bytes = 64 << 20;
    let gull = Gull::start(small).await.unwrap();
    ok(&gull, &format!("open {}", place.url("/play"))).await;
    ok(&gull, "eval 'document.cookie = \"user=ada\"; 1'").await;
    // At most 480 MB, should nobody stop it.
    let store = "eval '(async () => { const c = await caches.open(\"x\"); for (let i = 0; i < 60; i++) { const b = new Uint8Array(8 << 20); \
        for (let j = 0; j < b.length; j += 65536) crypto.getRandomValues(b.subarray(j, j + 65536)); await c.put(\"/\" + i, new Response(b)) } return \"all stored\" })()'";
    let answer = gull.exec(store, WAIT).await;
    assert_ne!(answer.exit_code, 0, "{answer:?}");
    let told = ok(&gull, &format!("open {}", place.url("/home"))).await;
    let told = format!("{}{told}", answer.stderr);
    assert!(told.contains("its files passed the limit") && told.contains("cookies are kept"), "{told}");
    assert!(ok(&gull, "get text h1").await.contains("Welcome ada"));
    gull.close().await;
    let left = weight(&state);
    assert!(left < 64 << 20, "{left} bytes are left");
}

fn weight(folder: &Path) -> u64 {
    std::fs::read_dir(folder).into_iter().flatten().flatten().fold(0, |sum, entry| {
        let meta = entry.metadata().unwrap();
        sum + if meta.is_dir() { weight(&entry.path()) } else { meta.len() }
    })
}

/// The browser as an attacker who has broken out of a renderer finds it: a program under the same walls that says what it
/// could read and write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_reads_no_more_than_it_needs() {
    let place = Place::new().await;
    let bin = place.temp.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    open(&bin, 0o755);
    let browser = bin.join("browser");
    let sentinel = tempfile::Builder::new().prefix("gull-sentinel-").tempfile().unwrap();
    open(sentinel.path(), 0o644);
    let own = std::process::id();
    let closed = [
        "/etc/passwd".to_owned(),
        "/etc/shadow".to_owned(),
        "/etc/group".to_owned(),
        "/etc/hosts".to_owned(),
        "/etc/hostname".to_owned(),
        "/etc/resolv.conf".to_owned(),
        "/etc/machine-id".to_owned(),
        "/sys/kernel/notes".to_owned(),
        "/sys/devices/system/cpu/online".to_owned(),
        format!("/proc/{own}/environ"),
        format!("/proc/{own}/maps"),
        "/proc/1/environ".to_owned(),
        place.file("secret.txt").display().to_string(),
        sentinel.path().display().to_string(),
    ];
    std::fs::write(place.file("secret.txt"), "s").unwrap();
    open(&place.file("secret.txt"), 0o644);
    // Words, not paths: only the end of a complaint is shown.
    let reads: String =
        closed.iter().enumerate().map(|(i, path)| format!("cat '{path}' >/dev/null 2>&1 && echo read-{i};")).collect();
    let script = format!(
        "#!/bin/sh\n( {reads} ls /etc >/dev/null 2>&1 && echo listed-etc; ls /dev/shm >/dev/null 2>&1 && echo listed-shm; \
         readlink /proc/{own}/fd/0 >/dev/null 2>&1 && echo listed-fds; ls /proc/{own}/fd >/dev/null 2>&1 && echo counted-fds; echo x 2>/dev/null >'{}' && echo wrote; \
         cat /etc/fonts/fonts.conf >/dev/null 2>&1 && echo fonts; cat /proc/self/stat >/dev/null && echo itself; \
         echo x >/dev/null && echo null; echo done ) >&2\nexec sleep 60\n",
        place.file("planted").display()
    );
    std::fs::write(&browser, script).unwrap();
    open(&browser, 0o755);
    let mut options = options(&place, &place.temp.path().join("state"));
    options.browser = Some(browser);
    // It answers nothing; what it has said by then is told.
    options.launch_timeout = Duration::from_secs(5);
    let gull = Gull::start(options).await.unwrap();
    let answer = gull.exec("open about:blank", WAIT).await;
    let said = &answer.stderr;
    assert!(
        said.contains("done") && said.contains("itself") && said.contains("null"),
        "the program did not run: {said}"
    );
    assert!(said.contains("fonts") || !PathBuf::from("/etc/fonts/fonts.conf").exists(), "{said}");
    for wrong in ["read-", "listed-", "wrote"] {
        assert!(!said.contains(wrong), "{said}\n{closed:#?}");
    }
    // Root's browser has another user than its owner; an ordinary user's has the same one.
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    assert!(!said.contains("counted-fds") || !is_root, "{said}");
    gull.close().await;
}

/// What the walls must leave: fonts, pictures, paper, dates and languages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_have_what_they_need() {
    let place = Place::new().await;
    let gull = Gull::start(options(&place, &place.temp.path().join("state"))).await.unwrap();
    ok(&gull, &format!("open {}", place.url("/play"))).await;
    let widths = "eval '(() => { const x = document.createElement(\"canvas\").getContext(\"2d\"); const w = (font) => { x.font = font; \
        return x.measureText(\"iiiiiMMMMM\").width }; return w(\"40px monospace\") !== w(\"40px serif\") })()'";
    assert!(ok(&gull, widths).await.contains("true"), "all fonts are one");
    let dates = "eval 'new Date(0).toString() + new Intl.NumberFormat(\"de\").format(1234.5) + new Date(0).toLocaleString(\"en\", { timeZone: \"Asia/Tokyo\" })'";
    let seen = ok(&gull, dates).await;
    assert!(seen.contains("1970") && seen.contains("1.234,5") && seen.contains("9:00:00"), "{seen}");
    ok(&gull, "screenshot shot.png").await;
    ok(&gull, "pdf page.pdf").await;
    assert!(std::fs::read(place.file("shot.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(std::fs::read(place.file("page.pdf")).unwrap().starts_with(b"%PDF"));
    gull.close().await;
}
