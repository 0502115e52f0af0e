//! What a machine lacks is said by `create`, with the way out, and not by the first call that fails.

use std::os::unix::fs::symlink;

use cove_testkit::until;
use serde_json::{Value, json};

use crate::{Ground, Served};

/// A new sandbox of a profile.
async fn created(served: &Served, profile: &str) -> Value {
    let (status, sandbox) = served.ask("POST", "/v1/sandboxes", json!({ "profile": profile })).await;
    assert_eq!(status, 201, "{sandbox}");
    sandbox
}

/// The warnings of a sandbox that begin with a word.
fn warned(sandbox: &Value, word: &str) -> Vec<String> {
    let all = sandbox["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    let all = all.iter().map(|told| told.as_str().unwrap().to_owned());
    all.filter(|told| told.starts_with(word)).collect()
}

/// Sandboxes cannot be made: `create` says so, and no longer once the machine has been put right.
#[tokio::test]
async fn walls_that_cannot_be_put_up_are_told_when_a_sandbox_is_made() {
    let ground = Ground::new("");
    let script = "setting=/proc/sys/user/max_user_namespaces
        echo 0 > $setting; mkfifo mended
        (while read -r number < mended; do echo $number > $setting; break; done &)
        exec setpriv --bounding-set=-all,+setfcap --inh-caps=-all \"$@\"";
    let mut command = ground.command_on(script, "data");
    command.args(["serve", "--port", "0", "--json", "--config"]).arg(&ground.config);
    let served = ground.start(command);
    let sandbox = created(&served, "python-default").await;
    let told = warned(&sandbox, "sandbox: ");
    assert!(told.len() == 1 && told[0].contains("sysctl -w user.max_user_namespaces="), "{sandbox}");
    let id = sandbox["id"].as_str().unwrap();
    let call = json!({ "command": "true" });
    let (status, refused) = served.ask("POST", &format!("/v1/sandboxes/{id}/shell/exec"), call).await;
    assert!(status == 502 && refused.to_string().contains("user.max_user_namespaces"), "{status} {refused}");
    std::fs::write(ground.folder.path().join("mended"), "1000\n").unwrap();
    until("sandboxes can be made", async || warned(&created(&served, "python-default").await, "sandbox: ").is_empty())
        .await;
    assert_eq!(served.shell(id, "echo here").await, "here");
    served.close();
}

/// On a machine without such trouble nothing is said of it.
#[tokio::test]
async fn nothing_is_told_of_walls_that_stand() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    assert_eq!(warned(&created(&served, "python-default").await, "sandbox: "), Vec::<String>::new());
    served.close();
}

/// A browser that is there and does not start is told from then on, until it does.
#[tokio::test]
async fn a_browser_that_does_not_start_is_told_until_it_does() {
    let ground = Ground::new("");
    let browser = ground.folder.path().join("browser");
    symlink("/bin/false", &browser).unwrap();
    let served = ground.serve_with("data", &[], &[("COVE_BROWSER", browser.to_str().unwrap())]);
    let sandbox = created(&served, "browser-python").await;
    assert_eq!(warned(&sandbox, "browser: "), Vec::<String>::new(), "{sandbox}");
    let path = format!("/v1/sandboxes/{}", sandbox["id"].as_str().unwrap());
    let browse = json!({ "cmd": "get url" });
    let (status, failed) = served.ask("POST", &format!("{path}/browser/exec"), browse.clone()).await;
    assert_eq!((status, &failed["success"], &failed["cause"]), (200, &json!(false), &json!("not_started")), "{failed}");
    let (_, sandbox) = served.ask("GET", &path, Value::Null).await;
    let told = warned(&sandbox, "browser: ");
    assert!(told.len() == 1 && told[0].contains("cove doctor"), "{sandbox}");
    std::fs::remove_file(&browser).unwrap();
    symlink(cove_chrome::find_browser(None).unwrap(), &browser).unwrap();
    let (status, done) = served.ask("POST", &format!("{path}/browser/exec"), browse).await;
    assert_eq!((status, &done["success"]), (200, &json!(true)), "{done}");
    let (_, sandbox) = served.ask("GET", &path, Value::Null).await;
    assert_eq!(warned(&sandbox, "browser: "), Vec::<String>::new(), "{sandbox}");
    served.close();
}
