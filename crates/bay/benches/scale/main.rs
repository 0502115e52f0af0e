//! What Bay costs by itself as sandboxes become many: real records in SQLite or PostgreSQL, a driver that starts nothing.
//! `bench/scale/run` runs it.
//!
//! Every sandbox is created, started and used once, so that at the end all of them have a live session. After each step the same
//! questions are asked again, so that what grows with the number of sandboxes is seen to grow.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::cast_precision_loss, missing_docs)]

mod fake;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_api::{CreateSandbox, GcRequest, SandboxId, SandboxQuery, ShellExecRequest};
use cove_bay::{Bay, Owner};
use cove_config::{Capability, Config, ProfileConfig, Secret};
use cove_testkit::Postgres;
use futures_util::{StreamExt as _, stream};

use fake::FakeDriver;

/// Callers at once.
const CALLERS: usize = 16;

/// Questions of each kind after a step.
const ASKED: usize = 200;

/// What one step saw.
#[derive(Debug, Default)]
struct Times(Vec<Duration>);

impl Times {
    /// The median and the 99th percentile, in milliseconds.
    fn told(mut self) -> String {
        self.0.sort_unstable();
        let at = |part: usize| self.0[(self.0.len() * part / 100).min(self.0.len() - 1)].as_secs_f64() * 1e3;
        format!("{:.2} / {:.2}", at(50), at(99))
    }
}

/// Runs the same many times, by a few callers at once: what they return, how long each took, how many a second.
async fn times<T: Send + 'static>(
    calls: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> (Vec<T>, Times, f64) {
    let began = Instant::now();
    let timed = calls.map(|call| async {
        let began = Instant::now();
        (tokio::spawn(call).await.unwrap(), began.elapsed())
    });
    let (done, took): (Vec<T>, Vec<Duration>) = stream::iter(timed).buffer_unordered(CALLERS).unzip().await;
    let rate = took.len() as f64 / began.elapsed().as_secs_f64();
    (done, Times(took), rate)
}

fn shell() -> ShellExecRequest {
    serde_json::from_value(serde_json::json!({ "command": "true" })).unwrap()
}

fn config(folder: &std::path::Path, name: &str, url: Option<&str>) -> Config {
    let mut config = Config {
        data_dir: Some(folder.join(name)),
        runtime_dir: Some(folder.join(format!("run-{name}"))),
        profiles: vec![ProfileConfig {
            id: "p".to_owned(),
            capabilities: Some(vec![Capability::Shell]),
            idle_timeout: Some(86_400),
            ..ProfileConfig::default()
        }],
        ..Config::default()
    };
    config.gc.enabled = false;
    config.limits.max_sandboxes = None;
    config.limits.max_cargos = u32::MAX;
    config.limits.max_cargo_total_mb = u64::from(u32::MAX);
    config.limits.max_history_mb = 1 << 20;
    config.database.url = url.map(Secret::new);
    config
}

/// Bytes that this process has in memory.
fn resident_mb() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4 / 1024
}

fn folder_mb(folder: &std::path::Path) -> u64 {
    let sizes = std::fs::read_dir(folder).into_iter().flatten().flatten();
    sizes.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum::<u64>() >> 20
}

/// A sandbox, and the Bay that is asked for it.
#[derive(Clone)]
struct Asked {
    bay: Bay,
    id: SandboxId,
}

fn owner() -> Owner {
    Owner::new("default")
}

async fn create(bay: Bay) -> Asked {
    let wish = CreateSandbox { profile: "p".to_owned(), ..CreateSandbox::default() };
    let id = bay.create_sandbox(&owner(), wish, None).await.unwrap().id;
    Asked { bay, id }
}

async fn exec(one: Asked) {
    assert!(one.bay.exec_shell(&owner(), &one.id, shell()).await.unwrap().success);
}

async fn get(one: Asked) {
    one.bay.sandbox(&owner(), &one.id).await.unwrap();
}

async fn page(bay: Bay) {
    let query = SandboxQuery { limit: Some(100), ..SandboxQuery::default() };
    bay.list_sandboxes(&owner(), query).await.unwrap();
}

async fn delete(bay: Bay, id: SandboxId) {
    bay.delete_sandbox(&owner(), &id).await.unwrap();
}

async fn run(most: usize, with_postgres: bool) {
    let folder = tempfile::Builder::new().prefix("scale").tempdir().unwrap();
    let postgres = with_postgres.then(Postgres::start);
    let url = postgres.as_ref().map(Postgres::url);
    let driver = Arc::new(FakeDriver::start(folder.path()));
    let mut bays = Vec::new();
    for name in ["one", "two"].into_iter().take(if with_postgres { 2 } else { 1 }) {
        bays.push(Bay::open_with(config(folder.path(), name, url.as_deref()), Arc::clone(&driver) as _).await.unwrap());
    }
    let database = if with_postgres { "PostgreSQL, 2 Bays" } else { "SQLite, 1 Bay" };
    println!("\n{database}: p50 / p99 in ms, {CALLERS} callers at once\n");
    println!(
        "| sandboxes | creates/s | create | first exec (start) | starts/s | warm exec | get | page of 100 | collector, ms | Bay, MB | records, MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut all: Vec<Asked> = Vec::new();
    let mut steps: Vec<usize> =
        [1_000, 10_000, 30_000, 100_000, 300_000].into_iter().filter(|step| *step < most).collect();
    steps.push(most);
    for step in steps {
        let (made, created, creates) = times((all.len()..step).map(|at| create(bays[at % bays.len()].clone()))).await;
        let (_, first, starts) = times(made.iter().cloned().map(exec)).await;
        all.extend(made);
        let some: Vec<_> = all.iter().step_by((all.len() / ASKED).max(1)).cloned().collect();
        let (_, warm, _) = times(some.iter().cloned().map(exec)).await;
        let (_, got, _) = times(some.into_iter().map(get)).await;
        let (_, paged, _) = times((0..20).map(|at| page(bays[at % bays.len()].clone()))).await;
        let swept = bays[0].run_gc(GcRequest::default()).await.unwrap();
        assert_eq!(swept.total_errors, 0, "{swept:?}");
        let records = match &url {
            None => folder_mb(&folder.path().join("one")).to_string(),
            Some(_) => "–".to_owned(),
        };
        println!(
            "| {step} | {creates:.0} | {} | {} | {starts:.0} | {} | {} | {} | {} | {} | {records} |",
            created.told(),
            first.told(),
            warm.told(),
            got.told(),
            paged.told(),
            swept.duration_ms,
            resident_mb(),
        );
    }
    let ids: Vec<SandboxId> = all.into_iter().map(|one| one.id).collect();
    let began = Instant::now();
    for bay in bays {
        bay.close(Duration::from_secs(60)).await;
    }
    println!("\nall sessions ended with Bay: {:.1} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let bay = Bay::open_with(config(folder.path(), "one", url.as_deref()), driver as _).await.unwrap();
    println!("a new Bay on these records: {:.2} s", began.elapsed().as_secs_f64());
    let (_, _, rate) = times(ids.into_iter().take(2_000).map(|id| delete(bay.clone(), id))).await;
    println!("deletes/s: {rate:.0}");
    bay.close(Duration::from_secs(5)).await;
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let most = args.first().map_or(100_000, |most| most.parse().expect("how many sandboxes"));
    let with_postgres = args.get(1).is_some_and(|which| which == "postgres");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(most, with_postgres));
}
