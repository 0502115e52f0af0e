//! `/health`: not whether Ship speaks, but whether it can still do what it is there for.
//!
//! Each question runs a program the way every command is run, from the start of a process to its end. The last good
//! answer counts for a moment, so that asking costs next to nothing however often it is done.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cove_runtime_api::{HealthStatus, RuntimeHealth};
use cove_walls::spawn::{StandardStreams, Start, no_input};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use tokio::sync::Mutex;

use super::ShipState;
use crate::process::Family;

/// How long a trivial program may take. Usually a millisecond; guests who use all their processors make it longer.
const WORK_LIMIT: Duration = Duration::from_secs(5);

/// How long a good answer counts.
const FRESH: Duration = Duration::from_secs(1);

/// When Ship was last seen to work. Held while it is being looked at: many questions, one look.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkCheck(Arc<Mutex<Option<Instant>>>);

impl WorkCheck {
    async fn check(&self, family: &Family) -> Result<(), String> {
        let mut seen = self.0.lock().await;
        if seen.is_some_and(|seen| seen.elapsed() < FRESH) {
            return Ok(());
        }
        *seen = None;
        match tokio::time::timeout(WORK_LIMIT, work(family)).await {
            Ok(Ok(())) => {
                *seen = Some(Instant::now());
                Ok(())
            }
            Ok(Err(error)) => Err(format!("programs cannot be started: {error}")),
            Err(_) => Err(format!("a program that does nothing has not ended within {WORK_LIMIT:?}")),
        }
    }
}

/// Runs a program that does nothing.
async fn work(family: &Family) -> std::io::Result<()> {
    let cwd = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let null = || std::fs::File::options().write(true).open("/dev/null").map(Into::into);
    let start = Start {
        program: "true".to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd,
        streams: StandardStreams { input: no_input()?, output: null()?, error: null()? },
        terminal: false,
        inherit: None,
        processes: None,
    };
    match family.start(start).await {
        // Its end is enough: a sandbox without such a program is not ill.
        Ok(mut program) => drop(program.ended().await),
        // Guests use all processes that they may have, and Ship is well enough to say so.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::AGAIN) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

pub(super) async fn health(State(state): State<ShipState>) -> (StatusCode, Json<RuntimeHealth>) {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    match state.pulse.check(&state.family).await {
        Ok(()) => (StatusCode::OK, Json(RuntimeHealth { status: HealthStatus::Healthy, version, reason: None })),
        Err(reason) => {
            let ill = RuntimeHealth { status: HealthStatus::Unhealthy, version, reason: Some(reason) };
            (StatusCode::SERVICE_UNAVAILABLE, Json(ill))
        }
    }
}
