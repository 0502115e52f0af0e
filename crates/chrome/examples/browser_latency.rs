//! Figures of the browser engine, one JSON line each: latency, throughput, the end of a runaway, memory, a long row.
//!
//! `cargo run --release -p cove-chrome --example browser_latency -- [runs]`; 2,000 runs in a row unless told otherwise.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_chrome::{ChromeEngine, ChromeOptions};
use cove_core::{Engine, EngineError, RunRequest, SessionOptions};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), EngineError> {
    let long_row: usize = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(2000);
    let began = Instant::now();
    let engine = Arc::new(ChromeEngine::new(ChromeOptions { pool_size: 0, ..ChromeOptions::default() }));
    engine.start().await?;
    println!("{}", json!({ "figure": "launch", "ms": ms(began.elapsed()) }));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let base = proportional_kb(engine.pid());
    let mut tabs = Vec::new();
    for _ in 0..8 {
        tabs.push(engine.open(SessionOptions::one_shot()).await?);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let with_tabs = proportional_kb(engine.pid());
    println!(
        "{}",
        json!({ "figure": "memory", "base_mb": base / 1024, "per_idle_tab_mb": (with_tabs - base) as f64 / 8192.0 })
    );
    drop(tabs);
    cold(&engine).await?;
    engine.close().await;

    let engine = Arc::new(ChromeEngine::new(ChromeOptions { pool_size: 8, ..ChromeOptions::default() }));
    engine.start().await?;
    warm(&engine).await?;
    throughput(&engine, 8, 200).await;
    runaway(&engine).await?;
    row(&engine, long_row).await?;
    engine.close().await;
    Ok(())
}

/// No pool: a context and a tab are made for each run.
async fn cold(engine: &ChromeEngine) -> Result<(), EngineError> {
    let mut times = Vec::new();
    let cpu = cpu_ms(engine.pid());
    for _ in 0..40 {
        let began = Instant::now();
        run(engine, "return 1", 5000).await?;
        times.push(began.elapsed());
    }
    let cpu = (cpu_ms(engine.pid()) - cpu) / 40.0;
    println!("{}", report("cold run (context, tab, run)", times, json!({ "tree_cpu_ms_per_run_at_least": cpu })));
    Ok(())
}

/// A full pool before each run: what a caller sees who comes now and then.
async fn warm(engine: &ChromeEngine) -> Result<(), EngineError> {
    let mut times = Vec::new();
    for _ in 0..100 {
        while engine.ready_tabs() < 8 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        let began = Instant::now();
        run(engine, "return 1", 5000).await?;
        times.push(began.elapsed());
    }
    println!("{}", report("warm run (open, run)", times, json!({})));
    let mut session = engine.open(SessionOptions::one_shot()).await?;
    let mut times = Vec::new();
    for _ in 0..200 {
        let began = Instant::now();
        session.run(&request("return 1", 5000)).await;
        times.push(began.elapsed());
    }
    println!("{}", report("run in an open session", times, json!({})));
    Ok(())
}

async fn throughput(engine: &Arc<ChromeEngine>, concurrency: usize, runs: usize) {
    let began = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..concurrency {
        let engine = engine.clone();
        workers.spawn(async move {
            for _ in 0..runs / concurrency {
                run(&engine, "return 1", 20_000).await.unwrap();
            }
        });
    }
    while workers.join_next().await.is_some() {}
    let per_second = runs as f64 / began.elapsed().as_secs_f64();
    println!(
        "{}",
        json!({ "figure": "throughput", "concurrency": concurrency, "runs": runs, "per_second": per_second })
    );
}

/// From the deadline to the answer, and to the end of the process.
async fn runaway(engine: &ChromeEngine) -> Result<(), EngineError> {
    let (mut answers, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let mut session = engine.open(SessionOptions::one_shot()).await?;
        let began = Instant::now();
        session.run(&request("for (;;) {}", 200)).await;
        answers.push(began.elapsed().saturating_sub(Duration::from_millis(200)));
        session.close().await?;
        ends.push(began.elapsed().saturating_sub(Duration::from_millis(200)));
    }
    println!("{}", report("runaway: answer after its deadline", answers, json!({})));
    println!("{}", report("runaway: session closed after its deadline", ends, json!({})));
    Ok(())
}

/// Many runs in a row: the tree's memory must not grow.
async fn row(engine: &ChromeEngine, runs: usize) -> Result<(), EngineError> {
    let began = Instant::now();
    let pid = engine.pid();
    for number in 0..=runs {
        if number % (runs / 8).max(1) == 0 {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            let (kb, processes) = (proportional_kb(engine.pid()), group(engine.pid()).len());
            println!(
                "{}",
                json!({ "figure": "row", "runs": number, "tree_mb": kb / 1024, "processes": processes, "same_browser": engine.pid() == pid })
            );
        }
        run(engine, "return new Array(1e5).fill(1).length", 20_000).await?;
    }
    println!("{}", json!({ "figure": "row", "runs": runs, "per_second": runs as f64 / began.elapsed().as_secs_f64() }));
    Ok(())
}

async fn run(engine: &ChromeEngine, code: &str, timeout_ms: u64) -> Result<(), EngineError> {
    let mut session = engine.open(SessionOptions::one_shot()).await?;
    let report = session.run(&request(code, timeout_ms)).await;
    report.result.map(drop).map_err(|fault| EngineError::Open(fault.message))
}

fn request(code: &str, timeout_ms: u64) -> RunRequest {
    RunRequest { timeout_ms, ..RunRequest::new(code) }
}

fn report(figure: &str, mut times: Vec<Duration>, more: serde_json::Value) -> serde_json::Value {
    times.sort();
    let at = |part: f64| ms(times[((times.len() - 1) as f64 * part) as usize]);
    let mut line =
        json!({ "figure": figure, "n": times.len(), "p50_ms": at(0.5), "min_ms": at(0.0), "p95_ms": at(0.95) });
    if let (Some(line), serde_json::Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more);
    }
    line
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

fn group(leader: Option<u32>) -> Vec<u32> {
    let Some(leader) = leader else { return Vec::new() };
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|pid: &u32| stat(*pid).is_some_and(|fields| fields[2] == leader.to_string())).collect()
}

/// Fields of `/proc/<pid>/stat` from the state on.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_ascii_whitespace().map(str::to_owned).collect())
}

/// Proportional set size of the whole tree.
fn proportional_kb(leader: Option<u32>) -> i64 {
    let one = |pid: &u32| -> Option<i64> {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        rollup.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.trim().parse().ok())
    };
    group(leader).iter().filter_map(one).sum()
}

/// Processor time of the living processes of the tree and of those that the leader has reaped.
fn cpu_ms(leader: Option<u32>) -> f64 {
    let one = |pid: &u32| -> Option<f64> {
        let fields = stat(*pid)?;
        let ticks: f64 = fields.get(11..15)?.iter().filter_map(|field| field.parse::<f64>().ok()).sum();
        Some(ticks * 10.0)
    };
    group(leader).iter().filter_map(one).sum()
}
