//! Asking a program one short question: started, heard and ended within a deadline, whatever it does.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;

/// How long an answer may take. A program that is read from a cold disk needs a second or two.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is read of an answer: a version, or a short list.
const MAX_ANSWER_BYTES: u64 = 16 << 10;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    NotStarted(std::io::Error),
    Silent,
    Failed(std::process::ExitStatus),
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStarted(error) => write!(f, "it could not be started: {error}"),
            Self::Silent => write!(f, "it did not answer within {} s", PATIENCE.as_secs()),
            Self::Failed(status) => write!(f, "it failed ({status})"),
        }
    }
}

/// What a program writes to its standard output.
#[expect(clippy::disallowed_methods, reason = "the child is ended with this function, by its end or by being dropped")]
pub(crate) async fn ask(program: &Path, args: &[impl AsRef<OsStr>]) -> Result<String, NoAnswer> {
    let mut command = tokio::process::Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    if let Some(libraries) = cove_chrome::libraries_of(program) {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let mut child = command.spawn().map_err(NoAnswer::NotStarted)?;
    let answer = async {
        let mut bytes = Vec::new();
        if let Some(out) = child.stdout.take() {
            let _ = out.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes).await;
        }
        let ended = child.wait().await.map_err(NoAnswer::NotStarted)?;
        if ended.success() {
            Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
        } else {
            Err(NoAnswer::Failed(ended))
        }
    };
    tokio::time::timeout(PATIENCE, answer).await.unwrap_or(Err(NoAnswer::Silent))
}

/// The first line of what a program says of its version.
pub(crate) async fn version(program: &Path) -> Result<String, NoAnswer> {
    let said = ask(program, &["--version"]).await?;
    Ok(said.lines().next().unwrap_or_default().trim().to_owned())
}
