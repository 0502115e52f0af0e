//! `cove browse` with a real browser and a page on loopback.

use cove_testkit::Site;
use serde_json::{Value, json};

use crate::{Done, cove_with};

const PAGE: &str = "<title>Shop</title><h1>Shop</h1><label>Name <input id=name></label>\
    <button onclick=\"document.querySelector('h1').textContent='Hello '+document.getElementById('name').value\">Greet</button>";

struct Desk {
    folder: tempfile::TempDir,
    runtime: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, runtime: tempfile::tempdir().unwrap() }
    }

    fn browse(&self, args: &[&str]) -> Done {
        let runtime = self.runtime.path().to_str().unwrap();
        let agent = cove_gull::find_agent_browser(None).unwrap();
        let variables = [("XDG_RUNTIME_DIR", runtime), ("COVE_AGENT_BROWSER", agent.to_str().unwrap())];
        cove_with(self.folder.path(), &variables, &[&["browse"], args].concat(), "")
    }

    fn session(&self, name: &str) -> std::path::PathBuf {
        self.runtime.path().join("cove-browse").join(name)
    }
}

/// Without a session: everything in one call, pictures in the workspace under their real names.
#[test]
fn one_call_opens_looks_and_leaves() {
    let (desk, shop) = (Desk::new(), Site::open(PAGE));
    let port = shop.port();
    let open = format!("open http://localhost:{port}/");
    let done = desk.browse(&[&open, "snapshot -i", "screenshot shop.png"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("Shop") && done.out.contains("button \"Greet\""), "{done:?}");
    let picture = desk.folder.path().canonicalize().unwrap().join("workspace/shop.png");
    assert!(done.out.contains(picture.to_str().unwrap()), "{done:?}");
    assert!(std::fs::read(picture).unwrap().starts_with(b"\x89PNG"));

    // What goes wrong decides how it ends, and nothing after it is done unless that was asked for.
    let missing = desk.browse(&[&open, "click #nowhere", "get title"]);
    assert_eq!((missing.code, missing.out.lines().last().map(|line| line.contains("Shop"))), (1, Some(false)));
    let on = desk.browse(&["--json", "--keep-going", &open, "click #nowhere", "get title"]);
    let object: Value = serde_json::from_str(&on.out).unwrap();
    assert_eq!((on.code, &object["ok"], object["results"].as_array().unwrap().len()), (1, &json!(false), 3));
    assert!(object["results"][2]["stdout"].as_str().unwrap().contains("Shop"), "{object}");
    assert_eq!(desk.browse(&["open file:///etc/passwd"]).code, 4);
    assert_eq!(desk.browse(&[]).code, 2);
    // A list of hosts is the whole list.
    let closed = desk.browse(&["--allow-host", "example.com", &open]);
    assert_eq!(closed.code, 4, "{closed:?}");
    assert!(closed.err.contains("does not allow"), "{closed:?}");
}

/// With a session the page stays, until it is closed, unused, or asked to go where it may not.
#[test]
fn a_session_stays_between_calls() {
    let (desk, shop, another) = (Desk::new(), Site::open(PAGE), Site::open(PAGE));
    let (port, other) = (shop.port(), another.port());
    let open = format!("open http://localhost:{port}/");
    let first = desk.browse(&["--session", "shop", &open, "fill #name Ada"]);
    assert_eq!(first.code, 0, "{first:?}");
    let second = desk.browse(&["--session", "shop", "find role button click --name Greet", "get text h1"]);
    assert!(second.code == 0 && second.out.contains("Hello Ada"), "{second:?}");
    // Another host is opened by naming it; the browser is started again for it, and says so.
    let third = desk.browse(&["--session", "shop", &format!("open http://localhost:{other}/"), "get url"]);
    assert!(third.code == 0 && third.out.contains(&other.to_string()), "{third:?}");
    assert!(third.err.contains("started again"), "{third:?}");
    let closed = desk.browse(&["--session", "shop", "close"]);
    assert_eq!(closed.code, 0, "{closed:?}");
    assert!(!desk.session("shop").join("socket").exists());

    // A session that nobody uses ends itself.
    let idle = desk.browse(&["--session", "idle", "--idle-s", "1", "open about:blank"]);
    assert_eq!(idle.code, 0, "{idle:?}");
    let socket = desk.session("idle").join("socket");
    cove_testkit::until_blocking("an idle session is gone", || !socket.exists());
    assert_eq!(desk.browse(&["--session", "no good", "open about:blank"]).code, 5);
}
