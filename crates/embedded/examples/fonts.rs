//! What a font costs: the time of a session's first text, and the memory of sessions that draw.
//!
//! `cargo run --release -p cove-embedded --example fonts`
#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use cove_core::{Engine, RunRequest, Session, SessionOptions};
use cove_embedded::EmbeddedEngine;

/// Sessions after the first.
const SESSIONS: usize = 20;

const TEXTS: [(&str, &str); 3] = [("no text", ""), ("Latin", "Hello"), ("Chinese", "你好，世界")];

async fn draw(session: &mut dyn Session, text: &str) -> Result<f64, String> {
    let code = format!(
        "const ctx = getCanvas(200, 50).getContext('2d'); ctx.font = '20px sans-serif'; ctx.fillRect(0, 0, 9, 9);
         if ({text:?}) ctx.fillText({text:?}, 9, 30)"
    );
    let started = Instant::now();
    let report = session.run(&RunRequest::new(code)).await;
    report.result.map_err(|fault| fault.message)?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

/// What the session that has most of the fonts mapped holds by `/proc`, in KB: of fonts, and in all.
fn held() -> (u64, u64) {
    let mut most = (0, 0);
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let rollup = std::fs::read_to_string(entry.path().join("smaps_rollup")).unwrap_or_default();
        let figure = |name: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        if std::fs::read(entry.path().join("cmdline")).is_ok_and(|name| name.starts_with(b"cove-worker")) {
            most = most.max((figure("Pss_Shmem"), figure("Pss")));
        }
    }
    most
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    cove_embedded::worker::enter_if_asked();
    for (name, text) in TEXTS {
        let engine = EmbeddedEngine::default();
        let mut first = engine.open(SessionOptions::one_shot()).await?;
        let first_ms = draw(&mut *first, text).await?;
        let (mut sessions, mut times) = (Vec::new(), Vec::new());
        for _ in 0..SESSIONS {
            let mut session = engine.open(SessionOptions::one_shot()).await?;
            times.push(draw(&mut *session, text).await?);
            sessions.push(session);
        }
        times.sort_by(f64::total_cmp);
        let (shared, all) = held();
        let (median, least) = (times[times.len() / 2], times[0]);
        println!("{name}: first session {first_ms:.1} ms, later ones {median:.2} ms (least {least:.2})");
        println!("  its share of the memory: {all} KB, of which {shared} KB fonts");
    }
    Ok(())
}
