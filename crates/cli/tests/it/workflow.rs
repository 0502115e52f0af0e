//! An agent's afternoon: one cargo, a browser that logs in and takes a picture, and Python that looks at it.

use std::path::Path;
use std::time::Duration;

use cove_cell::{CellMount, CellOptions, LocalCell};
use cove_runtime_api::{Method, RuntimeClient};
use serde_json::{Value, json};

use crate::site::{Bay, Place, reference};

const PATIENCE: Duration = Duration::from_secs(60);

async fn ship(client: &RuntimeClient, path: &str, body: Value) -> Value {
    let (status, answer) = client.json(Method::POST, path, Some(&body), PATIENCE).await.unwrap();
    assert!(status.is_success(), "{path} {body}: {answer}");
    answer
}

async fn log_in(bay: &Bay, place: &Place) {
    bay.ok(&format!("open {}", place.url("/login"))).await;
    let snapshot = bay.ok("snapshot -i").await;
    bay.ok(&format!("fill {} 'user@example.com'", reference(&snapshot, "Email"))).await;
    bay.ok(&format!("fill {} 'password123'", reference(&snapshot, "Password"))).await;
    bay.ok(&format!("click {}", reference(&snapshot, "button"))).await;
    bay.ok("wait --load networkidle").await;
    assert!(bay.ok("get text h1").await.contains("Welcome user-at-example.com"));
    assert!(bay.ok("screenshot /workspace/result.png").await.contains("/workspace/result.png"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_browser_takes_a_picture_and_python_opens_it() {
    let place = Place::new().await;
    let sockets = tempfile::tempdir().unwrap();
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/venv");
    assert!(venv.join("bin/python3").exists(), "there is no Python environment: run scripts/setup");
    let mut options = CellOptions::new(env!("CARGO_BIN_EXE_cove"), place.dir.path(), sockets.path());
    options.args = vec!["ship".to_owned()];
    options.mounts.push(CellMount { host: venv, inside: "/opt/python".into() });
    options.env.push(("PATH".to_owned(), "/opt/python/bin:/usr/local/bin:/usr/bin:/bin".to_owned()));
    let cell = LocalCell::start(options).await.unwrap();
    let client = RuntimeClient::new(cell.socket());
    let bay = place.serve("sandbox-0123456789ab").await;

    log_in(&bay, &place).await;
    let look = "from PIL import Image\nsize = Image.open('/workspace/result.png').size\nprint(size)";
    let seen = ship(&client, "/ipython/exec", json!({ "code": look })).await;
    assert_eq!((&seen["success"], &seen["stdout"]), (&json!(true), &json!("(1280, 720)\n")), "{seen}");
    let seen = ship(&client, "/javascript/exec", json!({ "code": "return (await ls()).content[0].text" })).await;
    assert!(seen["data"]["result"].as_str().unwrap().contains("result.png"), "{seen}");

    // In the middle of the form the browser is killed; the agent opens the page again and goes on.
    bay.ok("cookies clear").await;
    bay.ok(&format!("open {}", place.url("/login"))).await;
    let snapshot = bay.ok("snapshot -i").await;
    bay.ok(&format!("fill {} 'user@example.com'", reference(&snapshot, "Email"))).await;
    let pid = bay.gull().browser_pid().await.unwrap().cast_signed();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
    std::fs::remove_file(place.file("result.png")).unwrap();
    log_in(&bay, &place).await;
    let again = "print(size == Image.open('/workspace/result.png').size)";
    assert_eq!(ship(&client, "/ipython/exec", json!({ "code": again })).await["stdout"], "True\n");

    // Both runtimes have left word of how they are used.
    let skills = "head -qn2 skills/*/SKILL.md | grep name: | sort";
    let skills = ship(&client, "/shell/exec", json!({ "command": skills })).await;
    assert_eq!(skills["stdout"], "name: browser-automation\nname: python-sandbox\n");
    bay.server.close().await;
    cell.kill().await.unwrap();
}
