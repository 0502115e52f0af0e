//! `/shell/…`.

use serde_json::json;

use crate::support::sandbox;

#[tokio::test]
async fn the_world_inside_is_the_promised_one() {
    let sandbox = sandbox().await;
    for (command, expected) in [
        ("whoami", "shipyard"),
        ("id -u", "1000"),
        ("pwd", "/workspace"),
        ("echo $HOME $USER", "/workspace shipyard"),
        ("hostname", "cove"),
        ("echo hi > /workspace/x && cat x", "hi"),
        ("echo t > /tmp/t && cat /tmp/t", "t"),
        ("test -s /etc/os-release && echo yes", "yes"),
        ("ls -A /sys /home /run /opt | grep -v : | xargs", ""),
        ("head -1 /workspace/skills/python-sandbox/SKILL.md", "---"),
        ("cat /proc/1/comm", "cove-ship"),
        ("curl -s http://127.0.0.1:8123/health | head -c 9 || true", "{\"status\""),
    ] {
        assert_eq!(sandbox.out(command).await, expected, "{command}");
    }
    println!("{:#?}", sandbox.cell.walls());
}

#[tokio::test]
async fn commands_answer_with_all_they_have() {
    let sandbox = sandbox().await;
    let answer = sandbox.shell("echo out; echo err >&2; exit 3").await;
    assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!("out\n"), &json!("err\n")));
    assert_eq!((&answer["return_code"], &answer["success"]), (&json!(3), &json!(false)));
}
