//! What tries to leave the sandbox: all of it answers clearly, and nothing happens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;

use std::os::unix::fs::{PermissionsExt, symlink};

use cove_runtime_api::{BrowserCause, EXIT_REFUSED};
use site::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tries_do_nothing_but_answer() {
    let place = Place::new().await;
    let outside = place.temp.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(&outside, place.file("door")).unwrap();
    symlink(outside.join("secret.txt"), place.file("link.txt")).unwrap();
    symlink(outside.join("new.png"), place.file("link.png")).unwrap();
    let canary = outside.join("canary");
    let touch = format!("touch {}", canary.display());
    let bay = place.serve("sandbox-refusals").await;
    bay.ok(&format!("open {}", place.url("/play"))).await;
    let pid = bay.gull().browser_pid().await;

    let site = place.site;
    let refused: Vec<String> = vec![
        // a shell's words
        format!("; {touch}"),
        format!("`{touch}`"),
        format!("$({touch})"),
        format!("| {touch}"),
        format!("&& {touch}"),
        format!("\n{touch}"),
        format!("snapshot; {touch}"),
        format!("get url && {touch}"),
        format!("snapshot | {touch}"),
        format!("snapshot > {}", canary.display()),
        format!("get title\n{touch}"),
        "get url\0--session x".to_owned(),
        "fill 'x".to_owned(),
        // another session, another browser
        "--session other snapshot".to_owned(),
        "snapshot --session other".to_owned(),
        "snapshot --session=other".to_owned(),
        "fill #name --session".to_owned(),
        "--profile /root snapshot".to_owned(),
        "snapshot --cdp 9222".to_owned(),
        "snapshot --auto-connect".to_owned(),
        "open about:blank --executable-path /bin/sh".to_owned(),
        "open about:blank --args --no-sandbox".to_owned(),
        "open about:blank --extension /tmp".to_owned(),
        "open about:blank --proxy http://127.0.0.1:1".to_owned(),
        "open about:blank --namespace x".to_owned(),
        "open about:blank --config x.json".to_owned(),
        "open about:blank --state x.json".to_owned(),
        "open about:blank --init-script x.js".to_owned(),
        "open about:blank --allow-file-access".to_owned(),
        "open about:blank -p ios".to_owned(),
        "connect 9222".to_owned(),
        "connect ws://127.0.0.1:1/".to_owned(),
        "get cdp-url".to_owned(),
        "install".to_owned(),
        "upgrade".to_owned(),
        "mcp".to_owned(),
        "chat hello".to_owned(),
        "dashboard start".to_owned(),
        "inspect".to_owned(),
        "stream enable --port 9999".to_owned(),
        "plugin run x command.run".to_owned(),
        "doctor --fix".to_owned(),
        "profiles".to_owned(),
        "session list".to_owned(),
        "close --all".to_owned(),
        "eval --stdin".to_owned(),
        "batch 'snapshot --session other'".to_owned(),
        "batch 'open file:///etc/passwd'".to_owned(),
        // files outside
        "screenshot /etc/x.png".to_owned(),
        "screenshot ../x.png".to_owned(),
        "screenshot /workspace/../../x.png".to_owned(),
        "screenshot --screenshot-dir /tmp".to_owned(),
        "pdf ~/../../x.pdf".to_owned(),
        "upload #file /etc/passwd".to_owned(),
        "upload #file door/secret.txt".to_owned(),
        "upload #file link.txt".to_owned(),
        "state load /root/.ssh/id_rsa".to_owned(),
        "state load link.txt".to_owned(),
        "cookies set --curl /etc/passwd".to_owned(),
        "diff screenshot --baseline /etc/hostname".to_owned(),
        "diff snapshot --baseline=link.txt".to_owned(),
        "network har stop /tmp/x.har".to_owned(),
        "webmcp invoke x --params @/etc/passwd".to_owned(),
        // addresses that are not the web's, or not this sandbox's
        "open file:///etc/passwd".to_owned(),
        "open FILE:/etc/passwd".to_owned(),
        "open ' file:///etc/passwd'".to_owned(),
        "open \"fi\nle:///etc/passwd\"".to_owned(),
        "open view-source:file:///etc/passwd".to_owned(),
        "open chrome://version".to_owned(),
        "open javascript:alert(1)".to_owned(),
        "tab new file:///etc/passwd".to_owned(),
        format!("diff url http://{site}/play file:///etc/passwd"),
        "open http://169.254.169.254/latest/meta-data/".to_owned(),
        "open http://127.0.0.1:1/".to_owned(),
        "open http://[::1]/".to_owned(),
        "open https://example.com".to_owned(),
        format!("read http://{site}/play"),
        "read --llms full".to_owned(),
    ];
    assert!(refused.len() >= 40);
    for cmd in &refused {
        let answer = bay.exec(cmd).await;
        assert_eq!((answer.exit_code, answer.stdout.as_str()), (EXIT_REFUSED, ""), "{cmd:?}: {answer:?}");
        assert!(answer.stderr.starts_with('✗') && answer.stderr.len() > 10, "{cmd:?}: {answer:?}");
        let (refused, host) = (BrowserCause::NotAllowed, BrowserCause::HostNotAllowed);
        assert!([Some(refused), Some(host)].contains(&answer.cause), "{cmd:?}: {answer:?}");
        let first = answer.stderr.trim_start_matches("✗ ").lines().next();
        assert_eq!(answer.reason.iter().flat_map(|reason| reason.lines()).next(), first, "{cmd:?}: {answer:?}");
    }
    // Passed on, and still no way out: the page's own tries, and symlinks as targets.
    for (cmd, expected) in [
        ("eval 'location.href = \"file:///etc/passwd\"; 1'", "1"),
        ("eval 'fetch(\"http://127.0.0.1:1/\").then(() => \"out\", () => \"no way\")'", "no way"),
        ("eval 'fetch(\"http://169.254.169.254/\").then(r => r.status, () => \"no way\")'", ""),
        (
            "eval 'new Promise(done => { const s = new WebSocket(\"ws://127.0.0.1:1/\"); s.onerror = () => done(\"no way\"); s.onopen = () => done(\"out\") })'",
            "no way",
        ),
        ("screenshot link.png", "/workspace/link.png"),
    ] {
        let said = bay.ok(cmd).await;
        assert!(said.contains(expected) && !said.contains("out"), "{cmd}: {said}");
    }
    assert!(bay.fails("screenshot door/x.png").await.contains("could not be written"));
    assert!(place.file("link.png").symlink_metadata().unwrap().is_file(), "the symlink was followed");
    let left: Vec<_> = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["secret.txt"]);
    // The same browser, on the same page.
    assert_eq!(bay.gull().browser_pid().await, pid);
    assert!(bay.ok("get url").await.contains("/play"));

    // Without any policy nothing is reached at all.
    bay.server.close().await;
    let mut closed = place.options("sandbox-closed");
    closed.network = cove_core::NetworkPolicy::default();
    let gull = cove_gull::Gull::start(closed).await.unwrap();
    let wait = std::time::Duration::from_secs(60);
    let closed = gull.exec(&format!("open {}", place.url("/play")), wait).await;
    assert_eq!((closed.exit_code, closed.cause), (EXIT_REFUSED, Some(BrowserCause::HostNotAllowed)), "{closed:?}");
    assert_eq!(gull.exec("open data:text/html,<title>t</title>", wait).await.exit_code, 0);
    let fetch = format!("eval 'fetch(\"{}\").then(() => \"out\", () => \"no way\")'", place.url("/data.json"));
    assert!(gull.exec(&fetch, wait).await.stdout.contains("no way"));
    gull.close().await;
}

/// The browser's folder lies in the workspace, where a guest may put whatever it likes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planted_symlinks_lead_nowhere() {
    let place = Place::new().await;
    let outside = place.temp.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::fs::create_dir_all(place.file(".browser/data")).unwrap();
    for name in ["Default", "Local State", "Crashpad", "GraphiteDawnCache", "ShaderCache"] {
        symlink(&outside, place.file(".browser/data").join(name)).unwrap();
    }
    symlink(outside.join("cookies"), place.file(".browser/cookies.json")).unwrap();
    symlink(outside.join("skill"), place.file("skills")).unwrap();
    // A symlink where a folder of ours should be is told with the first answer, and those below are not followed, whether
    // or not the browser can live with them.
    let gull = cove_gull::Gull::start(place.options("sandbox-planted")).await.unwrap();
    let answer = gull.exec(&format!("open {}", place.url("/play")), std::time::Duration::from_secs(60)).await;
    assert!(answer.exit_code == 0 || answer.stderr.contains("did not start"), "{answer:?}");
    if answer.exit_code == 0 {
        assert!(answer.stderr.contains("/workspace/skills"), "{answer:?}");
    }
    gull.close().await;
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "a symlink was followed");
}
