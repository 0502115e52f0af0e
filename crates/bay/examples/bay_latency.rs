//! How long Bay takes: from nothing to a first command, cold and warm, and what it adds to a command.
//!
//! `cargo build --release -p cove-bay --bins && cargo run --release -p cove-bay --example bay_latency`
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use cove_api::{CreateSandbox, SandboxStatus, ShellExecRequest};
use cove_bay::{Bay, Owner};
use cove_config::{Config, ProfileConfig};
use cove_runtime_api::{Method, RuntimeClient};

type Failure = Box<dyn std::error::Error>;

fn shell(command: &str) -> ShellExecRequest {
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

fn told(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!("{what:<44} p50 {:8.3} ms   p95 {:8.3} ms   n {}", at(50), at(95), times.len());
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let dir = tempfile::tempdir()?;
    let beside = std::env::current_exe()?;
    let program = beside.parent().and_then(|examples| examples.parent()).map(|dir| dir.join("cove-bay-runtimes"));
    let mut config = Config { data_dir: Some(dir.path().join("data")), ..Config::default() };
    config.runtime_dir = Some(dir.path().join("run"));
    config.driver.local.program = program;
    config.gc.enabled = false;
    let warm = ProfileConfig { id: "warm".to_owned(), warm_pool_size: 4, ..ProfileConfig::default() };
    config.profiles = vec![warm];
    let begin = Instant::now();
    let bay = Bay::open(config).await?;
    println!("Bay is open after {:.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    let owner = Owner::new("default");

    let (mut cold, mut created) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        let begin = Instant::now();
        let made = bay.create_sandbox(&owner, CreateSandbox::default(), None).await?;
        created.push(begin.elapsed());
        let done = bay.exec_shell(&owner, &made.id, shell("true")).await?;
        cold.push(begin.elapsed());
        assert!(done.success);
        bay.delete_sandbox(&owner, &made.id).await?;
    }
    told("create alone", created);
    told("create + first shell/exec, cold", cold);

    let mut claimed = Vec::new();
    for _ in 0..30 {
        while bay.warm_ready("warm").await? == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let begin = Instant::now();
        let wish = CreateSandbox { profile: "warm".to_owned(), ..CreateSandbox::default() };
        let made = bay.create_sandbox(&owner, wish, None).await?;
        assert_eq!(made.status, SandboxStatus::Ready);
        bay.exec_shell(&owner, &made.id, shell("true")).await?;
        claimed.push(begin.elapsed());
        bay.delete_sandbox(&owner, &made.id).await?;
    }
    told("create + first shell/exec, from the warm pool", claimed);

    let made = bay.create_sandbox(&owner, CreateSandbox::default(), None).await?;
    bay.exec_shell(&owner, &made.id, shell("true")).await?;
    let sockets = std::fs::read_dir(dir.path().join("run"))?.flatten().map(|folder| folder.path().join("s"));
    let mut found: Vec<_> = sockets.filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten().collect();
    found.sort_by_key(|entry| entry.metadata().and_then(|meta| meta.modified()).ok());
    let last = found.last().ok_or("no socket")?.path();
    let ship = RuntimeClient::new(last);
    let body = serde_json::json!({"command": "true", "timeout": 30});
    let (mut direct, mut through, mut read) = (Vec::new(), Vec::new(), Vec::new());
    bay.write_file(&owner, &made.id, cove_api::WriteFile { path: "a".to_owned(), content: "x".to_owned() }).await?;
    for _ in 0..300 {
        let begin = Instant::now();
        ship.json(Method::POST, "/shell/exec", Some(&body), Duration::from_secs(10)).await?;
        direct.push(begin.elapsed());
        let begin = Instant::now();
        bay.exec_shell(&owner, &made.id, shell("true")).await?;
        through.push(begin.elapsed());
        let begin = Instant::now();
        bay.read_file(&owner, &made.id, "a").await?;
        read.push(begin.elapsed());
    }
    told("shell/exec, Ship asked directly", direct);
    told("shell/exec, through Bay", through);
    told("reading a small file, through Bay", read);
    bay.close(Duration::from_secs(5)).await;
    Ok(())
}
