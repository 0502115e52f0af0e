//! The escape suite through Ship's calls. Without walls around it: what is outside is really there to be reached.

use axum::Router;
use axum::body::Body;
use cove_runtime::ship::{ShipOptions, router};
use cove_workspace::testkit::escape::{Answered, Expect, LINKS, PATHS, SECRET, Stage};
use http_body_util::BodyExt;
use hyper::Request;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower_service::Service;

struct Ship {
    runtime: Runtime,
    router: Router,
}

impl Ship {
    fn on(stage: &Stage) -> Self {
        let runtime = Runtime::new().unwrap();
        let _inside = runtime.enter();
        let mut options = ShipOptions::default();
        options.workspace = stage.workspace();
        let router = router(options).unwrap();
        Self { runtime, router }
    }

    fn send(&self, request: Request<Body>) -> Result<String, String> {
        self.runtime.block_on(async {
            let answer = self.router.clone().call(request).await.unwrap();
            let status = answer.status();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            let text = String::from_utf8_lossy(&body).into_owned();
            if status.is_success() {
                return Ok(text);
            }
            assert!(!text.contains(SECRET), "the refusal tells the secret: {text}");
            let answer: Value = serde_json::from_str(&text).unwrap();
            Err(answer["error"]["code"].as_str().unwrap().to_owned())
        })
    }

    fn post(&self, path: &str, body: &Value) -> Result<String, String> {
        self.send(Request::post(path).body(body.to_string().into()).unwrap())
    }

    fn upload(&self, path: &str) -> Result<String, String> {
        let part = |name: &str, text: &str| {
            format!("--cut\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"x\"\r\n\r\n{text}\r\n")
        };
        let form = format!("{}{}--cut--\r\n", part("file", "new"), part("file_path", path));
        let request = Request::post("/upload").header("content-type", "multipart/form-data; boundary=cut");
        self.send(request.body(form.into()).unwrap())
    }

    fn download(&self, path: &str) -> Result<String, String> {
        let path: String = path.bytes().map(|byte| format!("%{byte:02x}")).collect();
        self.send(Request::get(format!("/download?path={path}")).body(Body::empty()).unwrap())
    }

    /// Everything that reads a path or writes through it.
    fn look(&self, path: &str) -> Vec<Answered> {
        let tool = |tool: &str, args: Value| self.post("/fs/tool", &json!({"tool": tool, "args": [args]}));
        let edit = json!({"path": path, "old_string": SECRET, "new_string": "gone"});
        vec![
            ("read", self.post("/fs/read_file", &json!({"path": path}))),
            ("lines", self.post("/fs/read_file", &json!({"path": path, "offset": 1}))),
            ("list", self.post("/fs/list_dir", &json!({"path": path}))),
            ("create", self.post("/fs/create_file", &json!({"path": path, "content": "new"}))),
            ("write", self.post("/fs/write_file", &json!({"path": path, "content": "new"}))),
            ("append", self.post("/fs/write_file", &json!({"path": path, "content": "new", "mode": "a"}))),
            ("edit", self.post("/fs/edit_file", &edit)),
            ("download", self.download(path)),
            ("read by tool", tool("read", json!({"path": path}))),
            ("write by tool", tool("write", json!({"path": path, "content": "new"}))),
        ]
    }

    /// What takes the last name for itself and not for what it may lead to.
    fn put(&self, path: &str) -> Vec<Answered> {
        vec![("upload", self.upload(path)), ("delete", self.post("/fs/delete_file", &json!({"path": path})))]
    }
}

#[test]
fn no_path_leads_out() {
    let stage = Stage::new();
    let ship = Ship::on(&stage);
    stage.check("ship", PATHS, Expect::Refused, |path| ship.look(path));
    stage.check("ship", PATHS, Expect::Refused, |path| ship.put(path));
    stage.check("ship", LINKS, Expect::Refused, |path| ship.look(path));
    stage.check("ship", PATHS, Expect::Refused, |path| {
        vec![("a command's folder", ship.post("/shell/exec", &json!({"command": "ls", "cwd": path})))]
    });
    stage.check("ship", LINKS, Expect::Inside, |path| ship.put(path));
}

#[test]
fn a_symlink_swapping_racer_gains_nothing() {
    let stage = Stage::new();
    let ship = Ship::on(&stage);
    stage.race("ship", || {
        let mut answers = ship.look("real/a.txt");
        answers.push(("read a secret", ship.post("/fs/read_file", &json!({"path": "real/secret.txt"}))));
        answers.push(("download a secret", ship.download("real/secret.txt")));
        answers.push(("list", ship.post("/fs/list_dir", &json!({"path": "real"}))));
        answers.extend(ship.put("real/new.txt"));
        answers.extend(ship.put("real/new/deep.txt"));
        answers
    });
}
