//! Ship, Gull and a Pod's line alone, for Bay's own tests: `cove-bay-runtimes ship …`, `… gull …` and `… line …` are what
//! `cove ship`, `cove gull` and `cove line` are.

use std::io::Write as _;
use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "speaks to the test that started it")]
fn main() -> ExitCode {
    // First: JavaScript runs in workers that are this very program.
    cove_embedded::worker::enter_if_asked();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (code, message) = match args.split_first() {
        Some((role, rest)) if role == "ship" => cove_runtime::ship::command(rest),
        Some((role, _)) if role == "gull" => match gull() {
            Ok(()) => (0, None),
            Err(error) => (5, Some(error.to_string())),
        },
        Some((role, rest)) if role == "line" => line(rest),
        _ => (2, Some("usage: cove-bay-runtimes ship|gull|line …".to_owned())),
    };
    if let Some(message) = message {
        let _ = writeln!(std::io::stderr(), "error: {message}");
    }
    ExitCode::from(code)
}

fn line(args: &[String]) -> (u8, Option<String>) {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(cove_runtime::line::command(args)),
        Err(error) => (5, Some(error.to_string())),
    }
}

#[expect(clippy::disallowed_methods, reason = "speaks to the test that started it")]
fn gull() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(cove_gull::serve_ordered(|endpoint| {
        writeln!(std::io::stdout().lock(), "{}", serde_json::json!({ "listening": endpoint.to_string() }))
    }))?;
    Ok(())
}
