//! A Bay for a test: its own folders, its own database, real cells; all of it gone when the test is.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use cove_api::{
    CreateSandbox, PythonExecRequest, PythonExecResult, SandboxId, SandboxInfo, ShellExecRequest, ShellExecResult,
};
use cove_bay::{Bay, BayResult, Owner};
use cove_config::Config;
pub(crate) use cove_testkit::processes::{alive, below};
pub(crate) use cove_testkit::{PATIENCE, until, until_some};
use tempfile::TempDir;

pub(crate) struct Harbour {
    pub(crate) bay: Bay,
    pub(crate) owner: Owner,
    pub(crate) dir: TempDir,
}

/// A configuration for a folder. The collector runs only when a test asks it to.
pub(crate) fn config(dir: &Path) -> Config {
    // The browser's user must be able to pass.
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o711)).unwrap();
    let mut config =
        Config { data_dir: Some(dir.join("data")), runtime_dir: Some(dir.join("run")), ..Config::default() };
    config.driver.local.program = Some(env!("CARGO_BIN_EXE_cove-bay-runtimes").into());
    config.gc.enabled = false;
    config
}

pub(crate) async fn harbour() -> Harbour {
    harbour_with(|_| {}).await
}

pub(crate) async fn harbour_with(change: impl FnOnce(&mut Config)) -> Harbour {
    let dir = tempfile::Builder::new().prefix("bay").tempdir().unwrap();
    let mut config = config(dir.path());
    change(&mut config);
    let bay = Bay::open(config).await.unwrap();
    Harbour { bay, owner: Owner::new("default"), dir }
}

pub(crate) fn shell(command: &str) -> ShellExecRequest {
    ShellExecRequest {
        command: command.to_owned(),
        timeout: 30,
        cwd: None,
        include_code: false,
        description: None,
        tags: None,
        output_tag: None,
    }
}

pub(crate) fn python(code: &str) -> PythonExecRequest {
    PythonExecRequest {
        code: code.to_owned(),
        timeout: 30,
        include_code: false,
        description: None,
        tags: None,
        output_tag: None,
        ..PythonExecRequest::default()
    }
}

impl Harbour {
    pub(crate) async fn create(&self) -> SandboxInfo {
        self.create_of("python-default").await
    }

    pub(crate) async fn create_of(&self, profile: &str) -> SandboxInfo {
        let wish = CreateSandbox { profile: profile.to_owned(), ..CreateSandbox::default() };
        self.bay.create_sandbox(&self.owner, wish, None).await.unwrap()
    }

    pub(crate) async fn shell(&self, id: &SandboxId, command: &str) -> BayResult<ShellExecResult> {
        self.bay.exec_shell(&self.owner, id, shell(command)).await
    }

    /// What a command prints; it must succeed.
    pub(crate) async fn out(&self, id: &SandboxId, command: &str) -> String {
        let done = self.shell(id, command).await.unwrap();
        assert!(done.success, "{command}: {done:?}");
        done.output.trim_end().to_owned()
    }

    pub(crate) async fn python(&self, id: &SandboxId, code: &str) -> PythonExecResult {
        self.bay.exec_python(&self.owner, id, python(code)).await.unwrap()
    }

    pub(crate) async fn info(&self, id: &SandboxId) -> SandboxInfo {
        self.bay.sandbox(&self.owner, id).await.unwrap()
    }

    /// Ends Bay; nothing may be left.
    pub(crate) async fn close(self) {
        let before = below(std::process::id());
        self.bay.close(Duration::from_secs(5)).await;
        // The thread that starts engines' workers may still be ending them.
        until("nothing is left", || async { !before.iter().any(|pid| alive(*pid)) }).await;
        drop(self.bay);
        until("the runtime directory is gone", || async {
            let left = std::fs::read_dir(self.dir.path().join("run")).map_or(0, Iterator::count);
            left == 0
        })
        .await;
    }
}
