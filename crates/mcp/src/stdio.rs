//! Over standard streams, as clients on the same machine start a server.

use std::future::Future;

use cove_bay::{Bay, Owner};
use rmcp::ServiceExt as _;

use crate::{CoveMcp, McpOptions};

/// Why the conversation could not begin.
#[derive(Debug, thiserror::Error)]
#[error("the client did not begin as the protocol says: {0}")]
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
        let running = match server.clone().serve(rmcp::transport::io::stdio_pipes()).await {
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
