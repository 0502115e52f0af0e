//! A database that cannot grow any more, and then can again.
//!
//! A limit on the size of files stands for a full disk: it needs no disk of its own, and can be lifted while the server
//! runs. The signal that comes with it is ignored, as a full disk sends none.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{Ground, KEY, PATIENCE, Served};

fn serve(ground: &Ground) -> Served {
    let usual = ground.command("data");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(usual.get_program());
    command.args(["serve", "--port", "0", "--json", "--config"]).arg(&ground.config);
    for (name, value) in usual.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(ground.folder.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
    Served { child, url: said["listening"].as_str().unwrap().to_owned(), http }
}

fn limit(served: &Served, bytes: &str) {
    let (pid, size) = (served.child.id().to_string(), format!("--fsize={bytes}:"));
    assert!(Command::new("prlimit").args(["--pid", &pid, &size]).status().unwrap().success());
}

#[tokio::test]
async fn a_full_database_is_told_and_forgotten() {
    let ground = Ground::new("warm_pool:\n  enabled: false\ngc:\n  enabled: false");
    let served = serve(&ground);
    let kept = served.create("python-default").await;
    limit(&served, "4096");
    let mut refused = 0;
    for _ in 0..5 {
        let (status, body) = served.ask("POST", "/v1/sandboxes", json!({})).await;
        assert_eq!((status, &body["error"]["code"]), (503, &json!("session_not_ready")), "{body}");
        assert!(body["error"]["details"]["retry_after_ms"].is_number(), "{body}");
        refused += 1;
    }
    // What only reads goes on.
    let (status, list) = served.ask("GET", "/v1/sandboxes", Value::Null).await;
    assert_eq!((status, list["items"].as_array().unwrap().len(), refused), (200, 1, 5), "{list}");
    limit(&served, "unlimited");
    let more = served.create("python-default").await;
    assert_eq!(served.shell(&more, "echo well").await, "well");
    let gone = served.request(KEY, "DELETE", &format!("/v1/sandboxes/{kept}")).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    served.close();
}
