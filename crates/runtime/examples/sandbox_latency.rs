//! How long a sandbox takes: from nothing to its first shell result, and a Python snippet once it is warm.
//!
//! `cargo run --release -p cove-runtime --example sandbox_latency [RUNS]`; needs `cove-ship` built beside it. One JSON line each.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cove_runtime::cell::{CellOptions, LocalCell};
use cove_runtime::client::ShipClient;
use hyper::Method;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(30);

fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(|examples| examples.parent()).unwrap().join("cove-ship")
}

async fn ask(ship: &ShipClient, path: &str, body: Value) -> Value {
    ship.json(Method::POST, path, Some(&body), LIMIT).await.unwrap().1
}

fn line(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let ms = |time: Duration| (time.as_secs_f64() * 1e5).round() / 1e2;
    let p50 = times[times.len() / 2];
    let p95 = times[times.len() * 95 / 100];
    println!(
        "{}",
        json!({"what": what, "runs": times.len(), "min_ms": ms(times[0]), "p50_ms": ms(p50), "p95_ms": ms(p95)})
    );
}

#[tokio::main]
async fn main() {
    let runs: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    let (cargo, sockets) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut walls, mut first, mut gone, mut python) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        let begin = Instant::now();
        let cell = LocalCell::start(CellOptions::new(program(), cargo.path(), sockets.path())).await.unwrap();
        walls.push(begin.elapsed());
        let ship = ShipClient::new(cell.socket());
        let answer = ask(&ship, "/shell/exec", json!({"command": "echo hi"})).await;
        first.push(begin.elapsed());
        assert_eq!(answer["stdout"], "hi\n", "{answer}");
        let begin = Instant::now();
        cell.kill().await.unwrap();
        gone.push(begin.elapsed());
    }
    line("walls up", walls);
    line("sandbox from nothing to the first shell result", first);
    line("sandbox ended", gone);
    for _ in 0..runs.min(20) {
        let cell = LocalCell::start(CellOptions::new(program(), cargo.path(), sockets.path())).await.unwrap();
        let ship = ShipClient::new(cell.socket());
        let begin = Instant::now();
        ask(&ship, "/ipython/exec", json!({"code": "1"})).await;
        python.push(begin.elapsed());
        cell.kill().await.unwrap();
    }
    line("python, first snippet", python);
    let cell = LocalCell::start(CellOptions::new(program(), cargo.path(), sockets.path())).await.unwrap();
    let ship = ShipClient::new(cell.socket());
    for (what, path, body) in [
        ("python snippet, warm", "/ipython/exec", json!({"code": "x = 1"})),
        ("python print, warm", "/ipython/exec", json!({"code": "print('hello')"})),
        ("shell command, warm", "/shell/exec", json!({"command": "true"})),
        ("read a file", "/fs/read_file", json!({"path": "skills/python-sandbox/SKILL.md"})),
    ] {
        let mut times = Vec::new();
        for _ in 0..runs.max(100) {
            let begin = Instant::now();
            ask(&ship, path, body.clone()).await;
            times.push(begin.elapsed());
        }
        line(what, times);
    }
    cell.kill().await.unwrap();
}
