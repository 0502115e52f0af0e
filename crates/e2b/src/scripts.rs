//! Small programs that run in a sandbox as its user, for what clients ask of paths anywhere in it.
//!
//! They have the guest's own rights, so no path needs to be confined. What happened is their exit code, never a
//! sentence that somebody would have to read.

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_bay::{Bay, ProcessRecord};
use cove_runtime_api::{ProcessFrame, ProcessStream, StartProcess};

use crate::door::Guest;
use crate::refusal::Refused;

/// The path is not there.
pub(crate) const MISSING: i32 = 44;
/// Something is there already.
pub(crate) const EXISTS: i32 = 49;
/// It is no folder.
pub(crate) const NO_FOLDER: i32 = 40;
/// It is a folder.
pub(crate) const IS_FOLDER: i32 = 41;

/// How long one may take.
const LIMIT_SECONDS: f64 = 60.0;

/// The most that one may say.
const MAX_SAID_BYTES: usize = 16 << 20;

/// What one has written, and how it ended.
pub(crate) struct Said {
    pub(crate) out: Vec<u8>,
    err: Vec<u8>,
    code: i32,
}

/// A program that runs `script` with these arguments.
pub(crate) fn order(script: &str, args: &[&str], input: bool) -> StartProcess {
    let words = ["-c", script, "sh"].into_iter().chain(args.iter().copied());
    StartProcess {
        program: "/bin/sh".to_owned(),
        args: words.map(str::to_owned).collect(),
        input,
        timeout: Some(LIMIT_SECONDS),
        ..StartProcess::default()
    }
}

/// Runs a script to its end; what it said, unless it failed.
pub(crate) async fn run(bay: &Bay, guest: &Guest, script: &str, args: &[&str]) -> Result<Vec<u8>, Refused> {
    let mut process = bay.run_process(&guest.owner, &guest.id, order(script, args, false), ProcessRecord::None).await?;
    let mut said = Said { out: Vec::new(), err: Vec::new(), code: 0 };
    loop {
        match process.next().await? {
            ProcessFrame::Output(chunk) => {
                let bytes = STANDARD.decode(&chunk.data).unwrap_or_default();
                if said.out.len() + bytes.len() > MAX_SAID_BYTES {
                    return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "the answer is too long: ask for less"));
                }
                match chunk.stream {
                    ProcessStream::Stderr => said.err.extend_from_slice(&bytes),
                    _ => said.out.extend_from_slice(&bytes),
                }
            }
            ProcessFrame::Ended(info) => {
                said.code = info.return_code.unwrap_or(-1);
                return verdict(said, args.first().copied().unwrap_or_default());
            }
            ProcessFrame::Process(_) | ProcessFrame::Alive => {}
        }
    }
}

fn verdict(said: Said, path: &str) -> Result<Vec<u8>, Refused> {
    refusal_of(said.code, &said.err, path).map_or(Ok(said.out), Err)
}

/// What an exit code means; none: it went well.
pub(crate) fn refusal_of(code: i32, err: &[u8], path: &str) -> Option<Refused> {
    Some(match code {
        0 => return None,
        MISSING => Refused::missing(format!("file not found: {path}")),
        EXISTS => Refused::new(StatusCode::CONFLICT, format!("it exists already: {path}")),
        NO_FOLDER => Refused::invalid(format!("not a directory: {path}")),
        IS_FOLDER => Refused::invalid(format!("it is a directory: {path}")),
        _ => {
            let told = String::from_utf8_lossy(err);
            let told = told.lines().last().unwrap_or("the operation failed").chars().take(300).collect::<String>();
            Refused::new(StatusCode::FORBIDDEN, format!("{path}: {told}"))
        }
    })
}
