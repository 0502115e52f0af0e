//! How `cove serve` does over HTTP on loopback: start, memory, first commands, overhead, many sandboxes, many clients.
//!
//! `bench/bay/run` builds what it needs and runs it. Arguments: the `cove` binary, then seconds of load (60).
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cove_api::{CreateSandbox, SandboxStatus, ShellExecRequest};
use cove_client::Client;

const KEY: &str = "sk-bay-of-the-bench";
const CONFIG: &str = "profiles:\n  - id: warm\n    runtime_type: ship\n    capabilities: [python, shell, filesystem]\n    warm_pool_size: 4\n";

struct Served {
    child: Child,
    bay: Client,
    began: Instant,
    up: Duration,
}

impl Served {
    fn start(cove: &str, folder: &std::path::Path) -> Self {
        let config = folder.join("bay.yaml");
        std::fs::write(&config, CONFIG).unwrap();
        let began = Instant::now();
        let mut child = Command::new(cove)
            .args(["serve", "--port", "0", "--json", "--config"])
            .arg(config)
            .env("BAY_API_KEY", KEY)
            .env("COVE_DATA_DIR", folder)
            .env("COVE_LOG", "warn")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("cove starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let up = began.elapsed();
        let said: serde_json::Value = serde_json::from_str(&line).expect("the server came up");
        let bay = Client::new(said["listening"].as_str().unwrap(), Some(KEY)).unwrap();
        Self { child, bay, began, up }
    }

    fn resident_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn shell(command: &str) -> ShellExecRequest {
    ShellExecRequest {
        command: command.to_owned(),
        timeout: 60,
        cwd: None,
        include_code: false,
        description: None,
        tags: None,
        output_tag: None,
    }
}

fn row(what: &str, mut times: Vec<Duration>, goal: &str) {
    times.sort();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!("| {what} | {:.2} | {:.2} | {} | {goal} |", at(50), at(95), times.len());
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let cove = args.next().expect("the cove binary");
    let load = Duration::from_secs(args.next().map_or(60, |text| text.parse().expect("seconds")));
    let folder = tempfile::Builder::new().prefix("cove-bench").tempdir().unwrap();
    println!("| what | p50 ms | p95 ms | n | goal |\n|---|---|---|---|---|");
    let starts = (0..10).map(|n| {
        let folder = folder.path().join(format!("start-{n}"));
        std::fs::create_dir(&folder).unwrap();
        Served::start(&cove, &folder).up
    });
    row("start until it listens", starts.collect(), "≤ 80");

    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let served = Served::start(&cove, &home);
    let bay = &served.bay;
    let idle = served.resident_mb();
    let pings = times(500, async || drop(bay.health().await.unwrap())).await;
    row("GET /health", pings, "");

    let cold = times(30, async || {
        let made = bay.create_sandbox(&CreateSandbox::default()).await.unwrap();
        assert!(bay.exec_shell(&made.id, &shell("true")).await.unwrap().success);
        tokio::spawn({
            let (bay, id) = (bay.clone(), made.id);
            async move { bay.delete_sandbox(&id).await }
        });
    })
    .await;
    row("create + first shell/exec, cold", cold, "≤ 40");
    let mut warm = Vec::new();
    while warm.len() < 30 {
        let wish = CreateSandbox { profile: "warm".to_owned(), ..CreateSandbox::default() };
        let began = Instant::now();
        let made = bay.create_sandbox(&wish).await.unwrap();
        assert!(bay.exec_shell(&made.id, &shell("true")).await.unwrap().success);
        let took = began.elapsed();
        if made.status == SandboxStatus::Ready {
            warm.push(took);
        }
        bay.delete_sandbox(&made.id).await.unwrap();
        // The pool fills in its own time; the measure is of those that are warm.
        tokio::time::sleep(Duration::from_millis(120)).await;
    }
    row("create + first shell/exec, from the warm pool", warm, "≤ 10");

    let one = bay.create_sandbox(&CreateSandbox::default()).await.unwrap();
    let whole = times(300, async || drop(bay.exec_shell(&one.id, &shell("true")).await.unwrap())).await;
    row("shell/exec over HTTP, in all", whole, "");
    let kept = times(500, async || bay.keepalive(&one.id).await.unwrap()).await;
    row("Bay's own part of a call (keepalive: gate, store, answer)", kept, "≤ 1");

    let began = Instant::now();
    let mut many = Vec::new();
    for _ in 0..200 {
        let made = bay.create_sandbox(&CreateSandbox::default()).await.unwrap();
        assert!(bay.exec_shell(&made.id, &shell("echo $$ > mark")).await.unwrap().success);
        many.push(made.id);
    }
    let filled = began.elapsed();
    let crowded = served.resident_mb();
    for id in &many {
        assert!(bay.exec_shell(id, &shell("cat mark")).await.unwrap().success);
    }

    let (calls, faults) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let ends = Instant::now() + load;
    let clients: Vec<_> = (0..64)
        .map(|n| {
            let (bay, id) = (bay.clone(), many[n].clone());
            let (calls, faults) = (calls.clone(), faults.clone());
            tokio::spawn(async move {
                while Instant::now() < ends {
                    match bay.exec_shell(&id, &shell("true")).await {
                        Ok(done) if done.success => calls.fetch_add(1, Ordering::Relaxed),
                        _ => faults.fetch_add(1, Ordering::Relaxed),
                    };
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let after = served.resident_mb();
    for id in &many {
        bay.delete_sandbox(id).await.unwrap();
    }
    println!("\n| what | seen | goal |\n|---|---|---|");
    println!("| resident memory, idle | {idle:.1} MB | ≤ 30 MB |");
    println!("| 200 live sandboxes | in {:.1} s, {crowded:.1} MB | 200 |", filled.as_secs_f64());
    let (calls, faults) = (calls.load(Ordering::Relaxed), faults.load(Ordering::Relaxed));
    println!(
        "| 64 clients for {} s | {calls} calls, {faults} faults, {after:.1} MB after | no fault |",
        load.as_secs()
    );
    println!("| all of it | {:.0} s | |", served.began.elapsed().as_secs_f64());
}

/// How long each of so many goes takes.
async fn times(count: usize, mut work: impl AsyncFnMut()) -> Vec<Duration> {
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let began = Instant::now();
        work().await;
        all.push(began.elapsed());
    }
    all
}
