//! A small web site with a login form, on loopback, and a client for Gull's endpoints.
#![allow(dead_code, unreachable_pub)]

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use axum::extract::{Form, Multipart};
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Redirect};
use axum::routing::{get, post};
use cove_gull::{Gull, GullOptions, Listen, Server, serve};
use cove_runtime_api::{BrowserAnswer, Endpoint};
use cove_testkit::processes;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LOGIN: &str = r#"<title>Login</title><form method=post action=/login>
<label>Email <input name=email type=email></label><label>Password <input name=password type=password></label>
<button>Login</button></form>"#;

const PLAY: &str = r#"<title>Play</title><h1>Play</h1>
<label>Name <input id=name value=old></label><label><input type=checkbox id=box> Agree</label>
<select id=pick aria-label=Pick><option value=a>Alpha<option value=b>Beta</select>
<button id=greet onclick="out.textContent='hello '+document.getElementById('name').value;console.log('greeted')">Greet</button>
<button id=gone onclick="this.remove()">Gone</button><button disabled id=dis>Off</button>
<button id=ask onclick="out.textContent=confirm('sure?')">Ask</button>
<p id=out>nothing</p><a href=/data.json id=api download=data.json>data</a><a href=/second>second</a>
<form method=post action=/upload enctype=multipart/form-data><input type=file name=file id=file><button id=send>Send</button></form>
<iframe id=inner srcdoc="<button>Inside</button>" title=inner></iframe><div style="height:3000px"></div>
<script>localStorage.setItem('seen','yes')</script>"#;

#[derive(Deserialize)]
struct Login {
    email: String,
    password: String,
}

async fn home(headers: HeaderMap) -> Html<String> {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let who = cookies.split("; ").find_map(|cookie| cookie.strip_prefix("user=")).unwrap_or("nobody");
    Html(format!("<title>Home</title><h1>Welcome {who}</h1>"))
}

async fn login(Form(login): Form<Login>) -> impl IntoResponse {
    let ok = login.password == "password123";
    let user = if ok { login.email.replace('@', "-at-") } else { "stranger".to_owned() };
    // A cookie without a date, as most logins are.
    ([(header::SET_COOKIE, format!("user={user}; Path=/; HttpOnly"))], Redirect::to("/home"))
}

async fn upload(mut form: Multipart) -> Html<String> {
    let field = form.next_field().await.unwrap().unwrap();
    let name = field.file_name().unwrap_or_default().to_owned();
    let text = field.text().await.unwrap();
    Html(format!("<title>Uploaded</title><p id=got>{name}: {text}</p>"))
}

/// Starts the site; it ends with the test's runtime.
pub async fn site() -> SocketAddr {
    let app = Router::new()
        .route("/login", get(|| async { Html(LOGIN) }).post(login))
        .route("/home", get(home))
        .route("/play", get(|| async { Html(PLAY) }))
        .route("/second", get(|| async { Html("<title>Second</title><h1>Second</h1>") }))
        .route("/data.json", get(|| async { axum::Json(json!({ "real": true })) }))
        .route("/upload", post(upload));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// A workspace that an unprivileged browser can reach, and options for it.
pub struct Place {
    pub dir: tempfile::TempDir,
    pub temp: tempfile::TempDir,
    pub site: SocketAddr,
}

impl Place {
    pub async fn new() -> Self {
        let open = || {
            let dir = tempfile::Builder::new().prefix("gull-test-").tempdir().unwrap();
            std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
            dir
        };
        Self { dir: open(), temp: open(), site: site().await }
    }

    pub fn options(&self, session: &str) -> GullOptions {
        let mut options = GullOptions::new(self.dir.path(), session);
        options.temp_dir = self.temp.path().to_owned();
        options.network.allow_private.push(self.site.to_string());
        options.listen = Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        options.launch_timeout = Duration::from_secs(60);
        options
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.site)
    }

    pub fn file(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub async fn serve(&self, session: &str) -> Bay {
        Bay { server: serve(self.options(session)).await.unwrap() }
    }
}

/// A Gull behind HTTP.
pub struct Bay {
    pub server: Server,
}

impl Bay {
    pub fn gull(&self) -> &Gull {
        self.server.gull()
    }

    /// `POST /exec`, through the wire.
    pub async fn exec(&self, cmd: &str) -> BrowserAnswer {
        self.exec_for(cmd, 60.0).await
    }

    pub async fn exec_for(&self, cmd: &str, timeout: f64) -> BrowserAnswer {
        let (status, body) = self.post("/exec", &json!({ "cmd": cmd, "timeout": timeout })).await;
        assert_eq!(status, 200, "{cmd}: {body}");
        serde_json::from_value(body).unwrap()
    }

    /// Runs a command that must succeed, and gives its output.
    pub async fn ok(&self, cmd: &str) -> String {
        let answer = self.exec(cmd).await;
        assert_eq!(answer.exit_code, 0, "{cmd}: {answer:?}");
        answer.stdout
    }

    /// Runs a command that must fail, and gives what it complains about.
    pub async fn fails(&self, cmd: &str) -> String {
        let answer = self.exec(cmd).await;
        assert_ne!(answer.exit_code, 0, "{cmd}: {answer:?}");
        answer.stderr
    }

    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.request("POST", path, &body.to_string()).await
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.request("GET", path, "").await
    }

    pub async fn request(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let Endpoint::Tcp(address) = self.server.endpoint() else { panic!("not TCP") };
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: gull\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::String(body.to_owned())))
    }
}

/// The ref that a snapshot gives to the line that holds `text`.
pub fn reference(snapshot: &str, text: &str) -> String {
    let line = snapshot.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text} in {snapshot}"));
    let (_, rest) = line.split_once("ref=").unwrap();
    format!("@{}", rest.split([']', ',']).next().unwrap())
}

/// Width and height of a PNG file.
pub fn png_size(path: &Path) -> (u32, u32) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n", "{} is no PNG", path.display());
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// Processes whose command line or environment names this folder: what a Gull has left behind.
pub fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let environment = |pid: u32| std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let names = |pid: &u32| {
        processes::command_line(*pid).contains(&folder) || String::from_utf8_lossy(&environment(*pid)).contains(&folder)
    };
    let found = processes::all().into_iter().filter(names);
    found.map(|pid| format!("{pid}: {}", processes::command_line(pid))).collect()
}

/// All processes of the session that `leader` leads: the browser with everything it has started.
pub fn family(leader: u32) -> Vec<u32> {
    let of_it = |pid: &u32| processes::stat(*pid).is_some_and(|stat| stat.state != 'Z' && stat.session == leader);
    processes::all().into_iter().filter(of_it).collect()
}

/// Whether somebody below a process was started with this word.
pub fn runs(root: u32, word: &str) -> bool {
    processes::below(root).into_iter().any(|pid| processes::words(pid).iter().any(|given| given == word))
}
