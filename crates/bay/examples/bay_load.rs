//! Many sandboxes at once, and many callers: `bay_load [SANDBOXES] [CALLERS] [SECONDS]`; tells what failed and how long
//! calls took.
//!
//! `cargo build --release -p cove-bay --bins && cargo run --release -p cove-bay --example bay_load`
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use cove_api::{CreateSandbox, ShellExecRequest};
use cove_bay::{Bay, Owner};
use cove_config::Config;
use futures_util::{StreamExt, stream};

type Failure = Box<dyn std::error::Error>;

fn shell() -> ShellExecRequest {
    ShellExecRequest {
        command: "true".to_owned(),
        timeout: 60,
        cwd: None,
        include_code: false,
        description: None,
        tags: None,
        output_tag: None,
    }
}

/// This process and everybody below: how many, and their own memory.
fn below(root: u32) -> (usize, u64) {
    let tasks = std::fs::read_dir(format!("/proc/{root}/task")).into_iter().flatten().flatten();
    let children: String =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok()).collect();
    let rollup = std::fs::read_to_string(format!("/proc/{root}/smaps_rollup")).unwrap_or_default();
    let pss = rollup.lines().find_map(|line| line.strip_prefix("Pss:")?.split_whitespace().next()?.parse::<u64>().ok());
    let inner = children.split_whitespace().filter_map(|pid| pid.parse().ok()).map(below);
    inner.fold((1, pss.unwrap_or(0)), |(count, sum), (more, kib)| (count + more, sum + kib))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let (sandboxes, callers) = (args.next().unwrap_or(200), args.next().unwrap_or(64));
    let seconds = args.next().unwrap_or(10);
    let dir = tempfile::tempdir()?;
    let beside = std::env::current_exe()?;
    let mut config = Config { data_dir: Some(dir.path().join("data")), ..Config::default() };
    config.runtime_dir = Some(dir.path().join("run"));
    config.driver.local.program =
        beside.parent().and_then(|examples| examples.parent()).map(|dir| dir.join("cove-bay-runtimes"));
    let bay = Bay::open(config).await?;
    let owner = Owner::new("default");
    let begin = Instant::now();
    let ids: Vec<cove_api::SandboxId> = stream::iter(0..sandboxes)
        .map(|_| async {
            let made = bay.create_sandbox(&owner, CreateSandbox::default(), None).await?;
            bay.exec_shell(&owner, &made.id, shell()).await?;
            Ok::<_, cove_api::BayError>(made.id)
        })
        .buffer_unordered(8)
        .filter_map(|made| async move { made.map_err(|error| println!("{error}")).ok() })
        .collect()
        .await;
    let (processes, kib) = below(std::process::id());
    println!(
        "{} of {sandboxes} sandboxes live after {:.1} s: {processes} processes, {} MiB in all",
        ids.len(),
        begin.elapsed().as_secs_f64(),
        kib >> 10
    );
    let end = Instant::now() + Duration::from_secs(seconds as u64);
    let calls = (0..callers).map(|caller| {
        let (bay, owner, ids) = (&bay, &owner, &ids);
        async move {
            let (mut times, mut failures) = (Vec::new(), Vec::new());
            for turn in 0.. {
                if Instant::now() > end {
                    break;
                }
                let begin = Instant::now();
                match bay.exec_shell(owner, &ids[(caller * 31 + turn * 7) % ids.len()], shell()).await {
                    Ok(done) if done.success => times.push(begin.elapsed()),
                    Ok(done) => failures.push(format!("{done:?}")),
                    Err(error) => failures.push(error.to_string()),
                }
            }
            (times, failures)
        }
    });
    let results = futures_util::future::join_all(calls).await;
    let failures: Vec<&String> = results.iter().flat_map(|(_, failures)| failures).collect();
    let mut times: Vec<Duration> = results.iter().flat_map(|(times, _)| times).copied().collect();
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    let rate = times.len() / seconds.max(1);
    println!("{callers} callers: {} calls, {rate}/s, p50 {:.1} ms, p99 {:.1} ms", times.len(), at(50), at(99));
    println!("{} failures {:?}", failures.len(), failures.first());
    let begin = Instant::now();
    bay.close(Duration::from_secs(10)).await;
    println!("closed in {:.1} s, {} process left", begin.elapsed().as_secs_f64(), below(std::process::id()).0);
    Ok(())
}
