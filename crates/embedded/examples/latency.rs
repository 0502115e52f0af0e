//! How long things take, one JSON object per line. `cargo run --release -p cove-embedded --example latency`
//!
//! Every figure is what a caller sees: from "have the code" to "have the result", in a fresh, isolated process.
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_core::{Engine, RunReport, RunRequest, SessionOptions, ToolSet, ToolSpec};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions};
use serde_json::json;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn done(report: RunReport) -> Outcome<serde_json::Value> {
    report.result.map(|finished| finished.value).map_err(|fault| fault.message.into())
}

fn print(name: &str, mut took: Vec<Duration>) {
    took.sort();
    let at = |share: f64| {
        let index = (took.len().saturating_sub(1) as f64 * share).round() as usize;
        (took.get(index).copied().unwrap_or_default().as_secs_f64() * 1e6).round() / 1e3
    };
    println!(
        "{}",
        json!({"name": name, "unit": "ms", "n": took.len(), "min": at(0.0), "p50": at(0.5), "p95": at(0.95)})
    );
}

async fn fresh(engine: &EmbeddedEngine, code: &str, tools: Option<&ToolSet>) -> Outcome<Duration> {
    let started = Instant::now();
    let mut session = engine.open(SessionOptions::one_shot()).await?;
    if let Some(tools) = tools {
        session.send_tools(tools.clone()).await?;
    }
    done(session.run(&RunRequest::new(code)).await)?;
    Ok(started.elapsed())
}

/// Fresh runs one after the other, with a pause in which the spares are forked; and without one.
async fn one_by_one(engine: &EmbeddedEngine) -> Outcome<()> {
    let tools = ToolSet::new(vec![ToolSpec::new("tool", |call| async move {
        Ok(call.args.into_iter().next().unwrap_or_default())
    })])?;
    let awaits = "let n = 0; for (let i = 0; i < 100; i++) n += await tool(i); return n";
    for (name, code, tools, pause_ms) in [
        ("fresh_trivial", "return 1 + 1", None, 3),
        ("fresh_trivial_back_to_back", "return 1 + 1", None, 0),
        ("fresh_100_awaited_tools", awaits, Some(&tools), 3),
        // `Intl` is loaded by the run that first touches it: what that costs.
        ("fresh_intl_number", "return (1e6).toLocaleString('de')", None, 3),
        ("fresh_intl_date", "return new Intl.DateTimeFormat('de', { dateStyle: 'full' }).format(0)", None, 3),
    ] {
        let mut took = Vec::new();
        for _ in 0..400 {
            took.push(fresh(engine, code, tools).await?);
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        }
        print(name, took);
    }
    Ok(())
}

/// A cold start: a new engine, a new zygote, one run.
async fn cold() -> Outcome<()> {
    let mut took = Vec::new();
    for _ in 0..30 {
        let engine = EmbeddedEngine::new(EmbeddedOptions { spare_children: 0, ..Default::default() });
        took.push(fresh(&engine, "return 1 + 1", None).await?);
    }
    print("cold_engine", took);
    Ok(())
}

/// A session that is open already.
async fn warm(engine: &EmbeddedEngine) -> Outcome<()> {
    let mut session = engine.open(SessionOptions::one_shot()).await?;
    let mut took = Vec::new();
    for _ in 0..500 {
        let started = Instant::now();
        done(session.run(&RunRequest::new("return 1 + 1")).await)?;
        took.push(started.elapsed());
    }
    print("warm_session", took);
    Ok(())
}

async fn throughput(engine: &Arc<EmbeddedEngine>, workers: usize) -> Outcome<()> {
    let (runs, started) = (6_000, Instant::now());
    let tasks: Vec<_> = (0..workers)
        .map(|_| {
            let engine = Arc::clone(engine);
            tokio::spawn(async move {
                for _ in 0..runs / workers {
                    fresh(&engine, "return 1 + 1", None).await?;
                }
                Outcome::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let per_second = (runs as f64 / started.elapsed().as_secs_f64()).round();
    println!("{}", json!({"name": "fresh_runs_per_second", "workers": workers, "n": runs, "per_second": per_second}));
    Ok(())
}

/// Opens a thousand sessions that have run something, and weighs them.
async fn thousand(engine: &EmbeddedEngine) -> Outcome<()> {
    let (mut sessions, started) = (Vec::new(), Instant::now());
    for _ in 0..1000.min(engine.max_sessions()) {
        let mut session = engine.open(SessionOptions::executor()).await?;
        done(session.run(&RunRequest::cell("let kept = [1, 2, 3]; kept.length")).await)?;
        sessions.push(session);
    }
    let opened = started.elapsed();
    let pss: Vec<u64> = children().iter().filter_map(|pid| pss_kilobytes(*pid)).collect();
    let total: u64 = pss.iter().sum();
    println!(
        "{}",
        json!({
            "name": "sessions_open_at_once", "n": sessions.len(), "open_and_run_ms_each": opened.as_secs_f64() * 1e3 / sessions.len() as f64,
            "pss_kb_each": total / pss.len().max(1) as u64, "pss_kb_all": total,
        })
    );
    for session in &mut sessions {
        let run = session.run(&RunRequest::cell("kept.length")).await;
        assert_eq!(done(run)?, 3);
    }
    Ok(())
}

/// Every process below this one.
fn children() -> Vec<u32> {
    let all = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let parents: Vec<(u32, u32)> = all
        .filter_map(|pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            Some((pid, stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![std::process::id()];
    let mut at = 0;
    while at < found.len() {
        found.extend(parents.iter().filter(|(_, of)| *of == found[at]).map(|(pid, _)| *pid).collect::<Vec<_>>());
        at += 1;
    }
    found.split_off(1)
}

fn pss_kilobytes(pid: u32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    rollup.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.trim().parse().ok())
}

/// How long after its deadline a runaway is answered.
async fn kills(engine: &EmbeddedEngine) -> Outcome<()> {
    for (name, code) in [
        ("kill_while_true", "while (true) {}"),
        ("kill_array_join", "return Array(1e9).join('x')"),
        ("kill_array_sort", "return new Array(2 ** 32 - 1).sort()"),
        ("kill_regex", "return /^(a+)+$/.test('a'.repeat(40) + 'b')"),
    ] {
        let mut late = Vec::new();
        for _ in 0..10 {
            let mut session = engine.open(SessionOptions::one_shot()).await?;
            let started = Instant::now();
            let report = session.run(&RunRequest { timeout_ms: 50, ..RunRequest::new(code) }).await;
            if report.result.is_ok() {
                return Err(format!("{code} came to an end").into());
            }
            late.push(started.elapsed().saturating_sub(Duration::from_millis(50)));
        }
        print(name, late);
    }
    Ok(())
}

fn main() -> Outcome<()> {
    cove_embedded::worker::enter_if_asked();
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let wants = |name: &str| wanted.is_empty() || wanted == name;
    // One caller: one thread. Many callers: as many as there are processors.
    let alone = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    alone.block_on(async {
        let engine = EmbeddedEngine::default();
        fresh(&engine, "return 0", None).await?;
        tokio::time::sleep(Duration::from_millis(50)).await;
        if wants("one") {
            one_by_one(&engine).await?;
            warm(&engine).await?;
        }
        if wants("kill") {
            kills(&engine).await?;
        }
        if wants("cold") {
            cold().await?;
        }
        if wants("thousand") {
            thousand(&engine).await?;
        }
        Outcome::Ok(())
    })?;
    if wants("throughput") {
        let many = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        many.block_on(async {
            let engine = Arc::new(EmbeddedEngine::new(EmbeddedOptions { spare_children: 16, ..Default::default() }));
            fresh(&engine, "return 0", None).await?;
            throughput(&engine, 8).await?;
            throughput(&engine, 2).await
        })?;
    }
    Ok(())
}
