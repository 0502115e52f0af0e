//! One server for one data folder and one SQLite file; pictures that outlive the Bay that drew them.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::several::two_bays;
use crate::{Ground, KEY};

#[tokio::test]
async fn a_second_server_on_the_same_ground_is_refused() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    let file = format!("sqlite:{}", ground.folder.path().join("data/bay.db").display());
    for (data, more) in [("data", vec![]), ("other", vec!["--database-url", &file])] {
        let mut second = ground.command(data);
        second.args(["serve", "--port", "0", "--json", "--config"]).arg(&ground.config).args(more);
        let done = second.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{said}");
        let who = format!("(process {})", served.child.id());
        assert!(said.contains("in use by another Cove") && said.contains(&who), "{said}");
    }
    // The first one does not mind, and is still found.
    assert_eq!(served.shell(&id, "echo here").await, "here");
    let found = ground.command("data").args(["sandbox", "list"]).env("COVE_KEY", KEY).output().unwrap();
    assert!(String::from_utf8_lossy(&found.stdout).contains(&id), "{found:?}");
    served.close();
    ground.serve("data", &[]).close();
}

#[tokio::test]
async fn pictures_outlive_the_bay_that_drew_them() {
    let (_postgres, ground, a, b) = two_bays("");
    let id = a.create("javascript").await;
    let draw = "getCanvas(8, 8).getContext('2d').fillRect(0, 0, 4, 4); return 1";
    let (status, done) = a.ask("POST", &format!("/v1/sandboxes/{id}/javascript/exec"), json!({ "code": draw })).await;
    assert_eq!((status, &done["success"]), (200, &json!(true)), "{done}");
    a.close();
    let (_, list) = b.ask("GET", &format!("/v1/sandboxes/{id}/artifacts"), Value::Null).await;
    let name = list["items"][0]["name"].as_str().unwrap_or_else(|| panic!("{list}"));
    let picture = b.request(KEY, "GET", &format!("/v1/sandboxes/{id}/artifacts/{name}")).send().await.unwrap();
    assert!(picture.bytes().await.unwrap().starts_with(b"\x89PNG"));
    // They go with their sandbox, whoever deletes it.
    assert_eq!(b.ask("DELETE", &format!("/v1/sandboxes/{id}"), Value::Null).await.0, 204);
    assert!(!ground.folder.path().join("cargos/.artifacts").join(&id).exists());
    b.close();
}
