//! `cove serve` from end to end: the very binary, real HTTP, real cells, real Python, a real browser.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod alone;
mod asked;
mod clients;
mod disk;
mod ending;
mod endpoints;
mod events;
mod forged;
mod forwarded;
mod frozen;
mod full;
mod inward;
mod killed;
mod lacking;
mod lost;
mod no_database;
mod once;
mod people;
mod ports;
mod processes;
#[path = "../pty/mod.rs"]
mod pty;
mod refusals;
mod screen;
mod several;
mod skills;
mod starting;
mod sums;
mod terminal;
mod trouble;
mod unread;
mod uploads;
mod walk;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(crate) use cove_testkit::PATIENCE;
use cove_testkit::processes::{alive, below};
use cove_testkit::until_blocking;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

pub(crate) const KEY: &str = "sk-bay-of-the-tests";
pub(crate) const OTHER: &str = "sk-bay-of-another";

/// The folder of the whole project.
pub(crate) fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Folders of one or several servers, one after the other or together.
pub(crate) struct Ground {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) config: PathBuf,
}

impl Ground {
    pub(crate) fn new(more: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("cove").tempdir().unwrap();
        // The browser's user must be able to pass.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        let config = folder.path().join("bay.yaml");
        let text = format!(
            "runtime_dir: {run}\nsecurity:\n  api_key: {KEY}\n  keys:\n    - {{ owner: another, key: {OTHER} }}\n{more}\n",
            run = folder.path().join("run").display(),
        );
        std::fs::write(&config, text).unwrap();
        Self { folder, config }
    }

    pub(crate) fn command(&self, data: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cove"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BAY_") || name.starts_with("COVE_")) {
            command.env_remove(name);
        }
        let agent = project().join(".tools/agent-browser/node_modules/agent-browser/bin/agent-browser-linux-x64");
        if agent.is_file() {
            command.env("COVE_AGENT_BROWSER", agent);
        }
        command.env("COVE_DATA_DIR", self.folder.path().join(data)).current_dir(self.folder.path());
        command
    }

    /// The same on a machine that a script makes, in a mount namespace and in a user namespace with one user, root. The script
    /// ends with the command: `exec "$@"`.
    pub(crate) fn command_on(&self, script: &str, data: &str) -> Command {
        self.command_in(&["--user", "--map-root-user", "--mount"], script, data)
    }

    /// The same in these namespaces.
    pub(crate) fn command_in(&self, namespaces: &[&str], script: &str, data: &str) -> Command {
        let plain = self.command(data);
        let mut command = Command::new("unshare");
        command.args(namespaces).args(["sh", "-ec", script, "sh"]).arg(plain.get_program());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(self.folder.path());
        command
    }

    /// Starts a server and waits until it listens.
    pub(crate) fn serve(&self, data: &str, more: &[&str]) -> Served {
        self.serve_with(data, more, &[])
    }

    pub(crate) fn serve_with(&self, data: &str, more: &[&str], env: &[(&str, &str)]) -> Served {
        let mut command = self.command(data);
        command.args(["serve", "--port", "0", "--json", "--config"]).arg(&self.config).args(more);
        command.envs(env.iter().copied());
        self.start(command)
    }

    /// Starts a server with this very command, and waits until it listens.
    pub(crate) fn start(&self, mut command: Command) -> Served {
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            panic!("the server did not come up: {:?}\n{}", child.wait(), self.log());
        });
        let url = said["listening"].as_str().unwrap().to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Served { child, url, http }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

/// A server that runs; killed with the test if the test does not end it.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) url: String,
    pub(crate) http: reqwest::Client,
}

impl Served {
    pub(crate) fn request(&self, key: &str, method: &str, path: &str) -> RequestBuilder {
        let method: Method = method.parse().unwrap();
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(key)
    }

    /// Status and body.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let mut request = self.request(KEY, method, path);
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    pub(crate) async fn create(&self, profile: &str) -> String {
        let (status, body) = self.ask("POST", "/v1/sandboxes", json!({ "profile": profile })).await;
        assert_eq!(status, 201, "{body}");
        body["id"].as_str().unwrap().to_owned()
    }

    /// What a command prints; it must succeed.
    pub(crate) async fn shell(&self, id: &str, command: &str) -> String {
        let (status, body) =
            self.ask("POST", &format!("/v1/sandboxes/{id}/shell/exec"), json!({ "command": command })).await;
        assert!(status == 200 && body["success"] == true, "{command}: {status} {body}");
        body["output"].as_str().unwrap().trim_end().to_owned()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends it in peace; nothing may be left of it.
    pub(crate) fn close(mut self) {
        let below = below(self.child.id());
        self.signal("TERM");
        assert_eq!(self.wait().code(), Some(0));
        until_blocking("nothing is left", || below.iter().all(|pid| !alive(*pid)));
    }

    pub(crate) fn wait(&mut self) -> std::process::ExitStatus {
        let mut status = None;
        until_blocking("the server has ended", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
