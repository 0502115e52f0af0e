//! Refused by the runtime inside a sandbox: paths that lead out, files that are not there, or closed, or of another kind.

use serde_json::{Value, json};

use super::quay::refused;
use super::{CLOSED_TO_US, NO_FILE, NO_SUCH_KIND, OUTSIDE, Way};
use crate::asked::path_of;
use crate::{Ground, KEY, Served};

/// What stands in the workspace: a folder and a file that are closed, a folder that is full, a file, an empty folder.
const WORKSPACE: &str = "mkdir closed full empty && echo x > closed/f && echo x > full/f && echo x > file && \
                         chmod 000 closed && chmod 555 full";

/// Asks with a path, wherever the operation has it.
async fn ask(served: &Served, operation: &str, id: &str, path: &str) -> (u16, Value) {
    let query = match operation {
        "read_file" | "delete_file" | "list_directory" | "download_file" | "watch_folder" => format!("path={path}"),
        _ => String::new(),
    };
    let (method, address) = path_of(operation, &[("id", id), ("tool", "read"), ("name", path)], &query);
    let request = served.request(KEY, &method, &address);
    let request = match operation {
        "write_file" => request.json(&json!({ "path": path, "content": "x" })),
        "call_file_tool" | "browser_screenshot" => request.json(&json!({ "path": path })),
        "exec_shell" => request.json(&json!({ "command": "true", "cwd": path })),
        "start_process" => request.json(&json!({ "argv": ["true"], "cwd": path })),
        "upload_file" => {
            let file = reqwest::multipart::Part::bytes(b"x".as_slice()).file_name("f");
            request.multipart(reqwest::multipart::Form::new().text("path", path.to_owned()).part("file", file))
        }
        _ => request,
    };
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

#[tokio::test]
async fn what_the_workspace_refuses() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    served.shell(&id, WORKSPACE).await;
    let check = async |way: &Way, path: &dyn Fn(&str) -> &'static str| {
        for operation in way.all() {
            refused(operation, &ask(&served, operation, &id, path(operation)).await, way);
        }
    };
    check(&OUTSIDE, &|_| "../outside").await;
    check(&CLOSED_TO_US, &|operation| match operation {
        "exec_shell" | "start_process" | "list_directory" | "watch_folder" => "closed",
        "write_file" | "upload_file" => "full/new",
        "delete_file" => "full/f",
        _ => "closed/f",
    })
    .await;
    check(&NO_FILE, &|_| "nothing.png").await;
    check(&NO_SUCH_KIND, &|operation| match operation {
        "list_directory" | "watch_folder" | "delete_file" => "file/f",
        _ => "empty",
    })
    .await;
    served.close();
}
