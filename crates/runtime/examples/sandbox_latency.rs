//! How long a sandbox takes: from nothing to its first shell result, and a Python snippet once it is warm.
//!
//! `cargo run --release -p cove-runtime --example sandbox_latency [RUNS]`; needs `cove-ship` built beside it. One JSON line each.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cove_cell::{CellMount, CellOptions, LocalCell};
use cove_runtime_api::RuntimeClient;
use hyper::Method;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(30);

fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(|examples| examples.parent()).unwrap().join("cove-ship")
}

async fn ask(ship: &RuntimeClient, path: &str, body: Value) -> Value {
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
        let ship = RuntimeClient::new(cell.socket());
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
        let ship = RuntimeClient::new(cell.socket());
        let begin = Instant::now();
        ask(&ship, "/ipython/exec", json!({"code": "1"})).await;
        python.push(begin.elapsed());
        cell.kill().await.unwrap();
    }
    line("python, first snippet", python);
    let cell = LocalCell::start(CellOptions::new(program(), cargo.path(), sockets.path())).await.unwrap();
    let ship = RuntimeClient::new(cell.socket());
    for (what, path, body) in [
        ("python snippet, warm", "/ipython/exec", json!({"code": "x = 1"})),
        ("python print, warm", "/ipython/exec", json!({"code": "print('hello')"})),
        ("shell command, warm", "/shell/exec", json!({"command": "true"})),
        ("javascript run, warm", "/javascript/exec", json!({"code": "return 1"})),
        ("javascript cell in a session, warm", "/javascript/exec", json!({"code": "1", "session": true})),
        ("read a file", "/fs/read_file", json!({"path": "skills/python-sandbox/SKILL.md"})),
    ] {
        let mut times = Vec::new();
        // The first one starts what is to be warm.
        ask(&ship, path, body.clone()).await;
        for _ in 0..runs.max(100) {
            let begin = Instant::now();
            ask(&ship, path, body.clone()).await;
            times.push(begin.elapsed());
        }
        line(what, times);
    }
    cell.kill().await.unwrap();
    javascript(runs.min(20), cargo.path(), sockets.path()).await;
    preloaded(runs.min(10), cargo.path(), sockets.path()).await;
}

async fn javascript(runs: usize, cargo: &Path, sockets: &Path) {
    let mut first = Vec::new();
    for _ in 0..runs {
        let cell = LocalCell::start(CellOptions::new(program(), cargo, sockets)).await.unwrap();
        let ship = RuntimeClient::new(cell.socket());
        let begin = Instant::now();
        ask(&ship, "/javascript/exec", json!({"code": "return 1"})).await;
        first.push(begin.elapsed());
        cell.kill().await.unwrap();
    }
    line("javascript, first run", first);
}

/// A sandbox that was made ahead, its Python with numpy and matplotlib: what its first caller waits for, and a restart.
async fn preloaded(runs: usize, cargo: &Path, sockets: &Path) {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/venv");
    if !venv.join("bin/python3").exists() {
        return;
    }
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let mut options = CellOptions::new(program(), cargo, sockets);
        options.mounts.push(CellMount { host: venv.clone(), inside: "/opt/python".into() });
        options.env.push(("PATH".to_owned(), "/opt/python/bin:/usr/local/bin:/usr/bin:/bin".to_owned()));
        options.args = ["--preload", "numpy,matplotlib.pyplot"].map(str::to_owned).to_vec();
        let cell = LocalCell::start(options).await.unwrap();
        let ship = RuntimeClient::new(cell.socket());
        let snippet = json!({"code": "import numpy, matplotlib.pyplot\nint(numpy.arange(4).sum())"});
        pythons(&ship, 1).await;
        let begin = Instant::now();
        let answer = ask(&ship, "/ipython/exec", snippet.clone()).await;
        first.push(begin.elapsed());
        assert_eq!(answer["stdout"], "6\n", "{answer}");
        pythons(&ship, 2).await;
        let begin = Instant::now();
        ask(&ship, "/ipython/kernel/restart", json!({})).await;
        ask(&ship, "/ipython/exec", snippet).await;
        again.push(begin.elapsed());
        cell.kill().await.unwrap();
    }
    line("python, first snippet, numpy and matplotlib preloaded", first);
    line("python restarted to its next result, preloaded", again);
}

/// Waits until so many interpreters have imported their modules and wait.
async fn pythons(ship: &RuntimeClient, count: u64) {
    let mapped = "grep -l _multiarray_umath /proc/[0-9]*/maps 2>/dev/null | wc -l";
    loop {
        let answer = ask(ship, "/shell/exec", json!({"command": mapped})).await;
        let status = ship.json(Method::GET, "/ipython/kernel/status", None, LIMIT).await.unwrap().1;
        let there = answer["stdout"].as_str().and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
        if there >= count && status["alive"] == true {
            // The import goes on for a moment after its library is there.
            tokio::time::sleep(Duration::from_secs(1)).await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
