//! A disk that is really full: a small file system of its own, which a guest fills below its own limit.
//!
//! The file system is mounted in a mount namespace of the server's own and is gone with it. An ordinary user needs a user
//! namespace for that, and can mount no image of a disk.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use cove_testkit::{until, until_some};
use serde_json::{Value, json};

use crate::{Ground, KEY, OTHER, PATIENCE, Served};

/// Fills the workspace until the disk, or somebody, stops it; bounded, should nobody.
const FILL: &str =
    "import os\nf = open('fill', 'wb')\nfor n in range(600):\n    f.write(b'x' * (1 << 20))\n    f.flush()\n";

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// Starts a server whose data folder is a disk of 160 MB.
fn serve(ground: &Ground, kind: Kind) -> Served {
    let data = ground.folder.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let mount = match kind {
        Kind::Memory => format!("mount -t tmpfs -o size=160m,mode=711 none '{}'", data.display()),
        Kind::FewFiles => format!("mount -t tmpfs -o size=160m,nr_inodes=3000,mode=711 none '{}'", data.display()),
        Kind::Image => format!(
            "[ -e disk.img ] || {{ truncate -s 160m disk.img && mkfs.ext4 -q -m 0 -F disk.img; }} && \
             mount -o loop disk.img '{0}' && chmod 711 '{0}'",
            data.display()
        ),
    };
    let log = std::fs::File::options().create(true).append(true).open(ground.folder.path().join("log")).unwrap();
    let usual = ground.command("data");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    // What an ordinary user may do in a namespace of his own ends before the server starts.
    let start = if is_root() {
        "exec \"$@\""
    } else {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
        "exec setpriv --ambient-caps -all --inh-caps -all \"$@\""
    };
    command.args(["sh", "-ec", &format!("{mount}; {start}"), "sh"]);
    command.arg(usual.get_program()).args(["serve", "--port", "0", "--json", "--config"]).arg(&ground.config);
    for (name, value) in usual.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(ground.folder.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
        panic!("the server did not come up: {:?}\n{}", child.wait(), ground.log());
    });
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
    Served { child, url: said["listening"].as_str().unwrap().to_owned(), http }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// In memory; gone with its server.
    Memory,
    /// The same, with room for three thousand files.
    FewFiles,
    /// In a file, which a second server can mount again.
    Image,
}

/// Does something on the server's disk, in its data folder; what it prints.
fn inside(ground: &Ground, served: &Served, script: &str) -> String {
    let pid = served.child.id().to_string();
    let script = format!("cd '{}' && {{ {script}; }}", ground.folder.path().join("data").display());
    let namespaces: &[&str] = if is_root() { &["-m"] } else { &["-m", "-U", "--preserve-credentials"] };
    let done =
        Command::new("nsenter").args(["-t", &pid]).args(namespaces).args(["sh", "-c", &script]).output().unwrap();
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// Takes every byte that is left, as a program that is not Bay's; also those that Bay gives up for its records meanwhile.
fn take_all(ground: &Ground, served: &Served) {
    let script = "for turn in 1 2 3; do cat /dev/zero >> stranger; left=$(df --output=avail . | tail -1); \
                  [ \"$left\" -ge 512 ] || break; done; echo $left";
    let left = inside(ground, served, script);
    assert!(left.parse::<u32>().is_ok_and(|kilobytes| kilobytes < 512), "{left:?} KB are left");
}

async fn ask(served: &Served, key: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
    let mut request = served.request(key, method, path);
    if !body.is_null() {
        request = request.json(&body);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

async fn create(served: &Served, key: &str) -> (u16, Value) {
    ask(served, key, "POST", "/v1/sandboxes", json!({})).await
}

fn is_full(answer: &(u16, Value)) {
    let error = &answer.1["error"];
    assert_eq!((answer.0, &error["code"]), (503, &json!("session_not_ready")), "{answer:?}");
    assert_eq!(error["details"]["reason"], "disk_full", "{answer:?}");
    assert!(error["message"].as_str().unwrap().contains("delete sandboxes"), "{answer:?}");
    assert!(error["details"]["retry_after_ms"].is_number(), "{answer:?}");
}

async fn until_created(served: &Served, key: &str) -> String {
    until_some("the room that there is is used", async || {
        let (status, body) = create(served, key).await;
        (status == 201).then(|| body["id"].as_str().unwrap().to_owned())
    })
    .await
}

fn ground() -> Ground {
    Ground::new("warm_pool:\n  enabled: false\ncargo:\n  default_size_limit_mb: 1024\n")
}

/// One guest fills the disk below its own limit. Everybody else is told what is wrong, stops and deletes; that makes room,
/// and all goes on.
#[tokio::test]
async fn a_guest_that_fills_the_disk_locks_nobody_out() {
    let ground = ground();
    let served = serve(&ground, Kind::Memory);
    let (_, guest) = create(&served, KEY).await;
    let guest = guest["id"].as_str().unwrap().to_owned();
    let (_, neighbour) = create(&served, OTHER).await;
    let neighbour = neighbour["id"].as_str().unwrap().to_owned();
    let shell = format!("/v1/sandboxes/{neighbour}/shell/exec");
    assert_eq!(ask(&served, OTHER, "POST", &shell, json!({ "command": "echo here" })).await.0, 200);
    let (_, cargo) = ask(&served, OTHER, "POST", "/v1/cargos", json!({})).await;
    let cargo = cargo["id"].as_str().unwrap().to_owned();

    let filled = ask(
        &served,
        KEY,
        "POST",
        &format!("/v1/sandboxes/{guest}/python/exec"),
        json!({ "code": FILL, "timeout": 60 }),
    )
    .await;
    assert!(filled.0 != 200 || filled.1["success"] == false, "600 MB on a disk of 160: {filled:?}");

    // What would fill it further is refused, with a code and what to do.
    is_full(&create(&served, OTHER).await);
    is_full(&ask(&served, OTHER, "POST", "/v1/cargos", json!({})).await);
    // What reads goes on.
    assert_eq!(ask(&served, OTHER, "GET", &format!("/v1/sandboxes/{neighbour}"), Value::Null).await.0, 200);
    // Also with not a byte left, and nobody but strangers to blame for it.
    take_all(&ground, &served);
    assert_eq!(ask(&served, OTHER, "POST", &format!("/v1/sandboxes/{neighbour}/stop"), Value::Null).await.0, 200);
    assert_eq!(ask(&served, OTHER, "DELETE", &format!("/v1/sandboxes/{neighbour}"), Value::Null).await.0, 204);
    assert_eq!(ask(&served, OTHER, "DELETE", &format!("/v1/cargos/{cargo}"), Value::Null).await.0, 204);
    take_all(&ground, &served);
    assert_eq!(ask(&served, KEY, "DELETE", &format!("/v1/sandboxes/{guest}"), Value::Null).await.0, 204);
    inside(&ground, &served, "rm stranger");
    let again = until_created(&served, OTHER).await;
    let shell = format!("/v1/sandboxes/{again}/shell/exec");
    let (status, done) = ask(&served, OTHER, "POST", &shell, json!({ "command": "echo well" })).await;
    assert_eq!((status, &done["output"], &done["recorded"]), (200, &json!("well\n"), &json!(true)), "{done}");
    served.close();
}

/// A disk has only so many files: a guest that makes them all is no other case than one that writes all bytes.
#[tokio::test]
async fn a_guest_that_makes_all_files_locks_nobody_out() {
    let ground = ground();
    let served = serve(&ground, Kind::FewFiles);
    let (_, guest) = create(&served, KEY).await;
    let guest = guest["id"].as_str().unwrap().to_owned();
    let make = "n = 0\ntry:\n    while n < 5000:\n        open(str(n), 'w').close(); n += 1\nexcept OSError as e:\n    print(e)\n";
    let path = format!("/v1/sandboxes/{guest}/python/exec");
    let made = ask(&served, KEY, "POST", &path, json!({ "code": make, "timeout": 60 })).await;
    let refused = create(&served, OTHER).await;
    is_full(&refused);
    assert!(refused.1["error"]["message"].as_str().unwrap().contains("more files"), "{refused:?} after {made:?}");
    assert_eq!(ask(&served, KEY, "DELETE", &format!("/v1/sandboxes/{guest}"), Value::Null).await.0, 204);
    until_created(&served, OTHER).await;
    served.close();
}

/// A server starts on a full disk, and what has expired is cleared away there: that makes the room.
#[tokio::test]
async fn a_full_disk_is_started_on_and_expiry_frees_it() {
    if !is_root() {
        println!("NOT TRIED: only root can mount an image of a disk");
        return;
    }
    let ground = Ground::new("warm_pool:\n  enabled: false\ngc:\n  interval_seconds: 1\n");
    let served = serve(&ground, Kind::Image);
    let (status, mortal) = ask(&served, KEY, "POST", "/v1/sandboxes", json!({ "ttl": 20 })).await;
    assert_eq!(status, 201, "{mortal}");
    let id = mortal["id"].as_str().unwrap();
    let _ =
        ask(&served, KEY, "POST", &format!("/v1/sandboxes/{id}/python/exec"), json!({ "code": FILL, "timeout": 15 }))
            .await;
    take_all(&ground, &served);
    is_full(&create(&served, OTHER).await);
    served.close();

    // Not a byte is left for the second start but what was kept for the records.
    let served = serve(&ground, Kind::Image);
    take_all(&ground, &served);
    is_full(&create(&served, OTHER).await);
    // The collector takes what has expired, with its hundred megabytes.
    let fresh = until_created(&served, OTHER).await;
    assert!(fresh.starts_with("sandbox-"));
    assert_eq!(ask(&served, KEY, "GET", &format!("/v1/sandboxes/{id}"), Value::Null).await.0, 404);
    served.close();
}

/// A run whose entry could not be written says so; the entry is there when the database can be written again.
#[tokio::test]
async fn what_is_not_recorded_is_said_and_recorded_later() {
    let ground = ground();
    let served = serve(&ground, Kind::Memory);
    let (_, made) = create(&served, KEY).await;
    let id = made["id"].as_str().unwrap().to_owned();
    let shell = format!("/v1/sandboxes/{id}/shell/exec");
    let (status, done) = ask(&served, KEY, "POST", &shell, json!({ "command": "echo begun" })).await;
    assert_eq!((status, &done["recorded"]), (200, &json!(true)), "{done}");
    // The disk fills up, and the room that was kept is gone, too.
    inside(&ground, &served, "rm bay.db.reserve");
    take_all(&ground, &served);
    let javascript = format!("/v1/sandboxes/{id}/javascript/exec");
    let code = json!({ "code": format!("return 6 * 7; // {}", "x".repeat(45_000)) });
    let mut runs = 0;
    let done = loop {
        let (status, done) = ask(&served, KEY, "POST", &javascript, code.clone()).await;
        assert_eq!((status, &done["output"]), (200, &json!("42")), "{done}");
        if done["recorded"] == false {
            break done;
        }
        // The database's file and its log may have a little room of their own; what is said to be there is there.
        let entry = format!("/v1/sandboxes/{id}/history/{}", done["execution_id"].as_str().unwrap());
        assert_eq!(ask(&served, KEY, "GET", &entry, Value::Null).await.0, 200, "run {runs} is not recorded");
        runs += 1;
        assert!(runs < 200, "who has written all that down?");
    };
    let entry = format!("/v1/sandboxes/{id}/history/{}", done["execution_id"].as_str().unwrap());
    assert_eq!(ask(&served, KEY, "GET", &entry, Value::Null).await.0, 404);
    inside(&ground, &served, "rm stranger");
    until("it is written", async || ask(&served, KEY, "GET", &entry, Value::Null).await.0 == 200).await;
    served.close();
}
