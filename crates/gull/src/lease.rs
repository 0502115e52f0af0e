//! The lease of a Gull that belongs to a Bay: unless Bay renews it, it is over.
//!
//! A Bay that is frozen cannot end its browsers, and another one may go on with their sandboxes. So Bay says on standard
//! input, again and again, until when this process may go on, as a moment of the machine's uptime in milliseconds.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::pipe;

/// How often the uptime is looked at: a machine that slept may have slept through the lease's end.
const LOOK: Duration = Duration::from_millis(900);

/// How long a Gull whose lease is over may take to end its browser; then it goes, and the kernel ends the browser.
pub(crate) const LEASE_END: Duration = Duration::from_secs(3);

/// A line is a number; whoever writes more is not Bay.
const MAX_LINE: u64 = 32;

/// Waits until the lease is over: its time has come without a renewal, or standard input has ended.
pub(crate) async fn lease_over(mut until_ms: u64) -> io::Result<()> {
    let input = pipe::Receiver::from_owned_fd(io::stdin().as_fd().try_clone_to_owned()?)?;
    let mut lines = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        let left = until_ms.saturating_sub(cove_cgroup::uptime_ms()?);
        if left == 0 {
            return Ok(());
        }
        let mut limited = (&mut lines).take(MAX_LINE - line.len() as u64);
        tokio::select! {
            read = limited.read_until(b'\n', &mut line) => {
                if read? == 0 || !line.ends_with(b"\n") {
                    return Ok(());
                }
                let said = std::str::from_utf8(&line).ok().and_then(|text| text.trim().parse().ok());
                until_ms = until_ms.max(said.unwrap_or(0));
                line.clear();
            }
            () = tokio::time::sleep(LOOK.min(Duration::from_millis(left))) => {}
        }
    }
}
