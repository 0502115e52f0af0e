//! The one way out of a cell whose profile has one: a proxy on the host that connects to named hosts only.
//!
//! The cell keeps its empty network namespace. Inside, Ship listens on its loopback and passes connections to this
//! proxy's socket; here `cove-network` looks at every host and address. So a guest that ignores the proxy reaches nothing,
//! and one that uses it reaches what the profile names.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cove_network::{LiveNetwork, SandboxPorts, accept_each, converse};
use tokio::net::UnixListener;
use tokio::task::JoinHandle;

/// Connections of one cell at the same time.
const MAX_CONNECTIONS: usize = 128;

/// A cell's proxy. Dropping it ends all its connections.
#[derive(Debug)]
pub struct Egress {
    path: PathBuf,
    server: JoinHandle<()>,
}

impl Egress {
    /// Opens the proxy's socket in a folder that only the owner can reach. `inside`: the sandbox that `localhost` is, where
    /// whoever asks is not in it.
    pub fn open(network: LiveNetwork, inside: Option<SandboxPorts>, path: PathBuf) -> io::Result<Self> {
        let listener = UnixListener::bind(&path)?;
        // The guest is somebody else, and sees nothing of the folder but this socket.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666))?;
        let ways = Arc::new((network, inside));
        let server = tokio::spawn(accept_each(listener, MAX_CONNECTIONS, move |client| {
            let ways = Arc::clone(&ways);
            async move {
                let _ = converse(client, &ways.0, ways.1.as_ref()).await;
            }
        }));
        Ok(Self { path, server })
    }

    /// Where its socket is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.server.abort();
        let _ = std::fs::remove_file(&self.path);
    }
}
