//! Over standard streams, as clients on the same machine start a server.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use cove_bay::{Bay, Owner};
use rmcp::ServiceExt as _;
use tokio::io::{AsyncRead, ReadBuf};

use crate::{CoveMcp, McpOptions};

/// One message at most, as over HTTP and a little more: `upload_file` carries base64.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Input whose lines end somewhere: one without an end would be kept until there is no memory left.
struct Lines<R> {
    input: R,
    /// Bytes since the last line's end.
    pending: usize,
}

impl<R> Lines<R> {
    fn new(input: R) -> Self {
        Self { input, pending: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.input).poll_read(context, buffer))?;
        let came = &buffer.filled()[before..];
        self.pending = match came.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => came.len() - end - 1,
            None => self.pending + came.len(),
        };
        if self.pending > MAX_LINE_BYTES {
            // A failed read has read nothing.
            buffer.set_filled(before);
            tracing::warn!("message larger than {MAX_LINE_BYTES} bytes; connection closed");
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "a message is too long")));
        }
        Poll::Ready(Ok(()))
    }
}

/// Why the conversation could not begin.
#[derive(Debug, thiserror::Error)]
#[error("the client did not initialize as the protocol requires: {0}")]
pub struct StdioError(String);

/// Serves the client at the other end of the standard streams until it leaves or `until` comes, then deletes the
/// server's own sandbox. Closing Bay is left to the caller.
pub async fn serve_stdio(
    bay: Bay,
    owner: Owner,
    options: McpOptions,
    until: impl Future<Output = ()>,
) -> Result<(), StdioError> {
    let server = CoveMcp::new(bay, owner, options);
    let serving = async {
        let (input, output) = rmcp::transport::io::stdio_pipes();
        let running = match server.clone().serve((Lines::new(input), output)).await {
            Ok(running) => running,
            // One that left before it said anything is no failure.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(StdioError(error.to_string())),
        };
        let _ = running.waiting().await;
        Ok(())
    };
    let served = tokio::select! {
        served = serving => served,
        () = until => Ok(()),
    };
    server.end().await;
    served
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn a_line_without_an_end_ends_the_input() {
        let line = || [vec![b'x'; MAX_LINE_BYTES - 1], vec![b'\n']].concat();
        let many = [line(), line()].concat();
        let mut read = Vec::new();
        assert_eq!(Lines::new(&many[..]).read_to_end(&mut read).await.unwrap(), many.len());
        let endless = tokio::io::repeat(b'x');
        let mut read = Vec::new();
        let error = Lines::new(endless).read_to_end(&mut read).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(read.len() <= 4 * MAX_LINE_BYTES, "{}", read.len());
    }
}
