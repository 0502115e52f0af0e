//! Ship alone, for tests and for images that need nothing else; `cove ship` is the same.

use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "says why it did not start, to a log")]
fn main() -> ExitCode {
    // First: JavaScript runs in workers that are this very program.
    cove_embedded::worker::enter_if_asked();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (code, message) = cove_runtime::ship::command(&args);
    if let Some(message) = message {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "ship: {message}");
    }
    ExitCode::from(code)
}
