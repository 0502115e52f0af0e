//! What the owner of a Gull orders: one message on its standard input, before the renewals of the lease.
//!
//! A message and no command line: whoever may list processes does not read hosts and paths there, and both ends have
//! one type for it.

use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use cove_core::NetworkPolicy;
use cove_runtime_api::Endpoint;
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};

use crate::gull::GullError;
use crate::lease::{LEASE_END, lease_over};
use crate::options::{GullOptions, Listen};
use crate::server::serve;

/// The argument that says that the order comes on standard input.
pub const SPEC_ARGUMENT: &str = "--spec";

/// An order holds a few paths and hosts.
const MAX_SPEC_BYTES: usize = 4 << 20;

/// The owner's order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GullSpec {
    /// The sandbox's folder, `/workspace` to its commands.
    pub workspace: PathBuf,
    /// Where cookies and the browser's profile are kept between two starts.
    pub state_dir: PathBuf,
    /// What the profile, downloads on their way and temporary files may take on disk together.
    pub disk_bytes: u64,
    /// The sandbox's id.
    pub session: String,
    /// The socket to listen on.
    pub socket: PathBuf,
    /// Which hosts the browser may reach.
    pub network: NetworkPolicy,
    /// Memory of the browser's processes together, and of any one of them beyond what it starts with.
    pub memory_bytes: u64,
    /// Processors of the browser's processes together.
    pub cpus: f64,
    /// Use control groups where available.
    pub control_groups: bool,
    /// The socket of a proxy that decides what the browser reaches, and whose policy may change.
    pub egress: Option<PathBuf>,
    /// The socket of a proxy that leads to the programs of the same sandbox.
    pub inside: Option<PathBuf>,
    /// A file of addresses that pages never reach. It may change.
    pub reserved_list: PathBuf,
    /// When it ends, unless that is renewed; by the machine's uptime. None: never by itself.
    pub lease_until_ms: Option<u64>,
}

impl GullSpec {
    /// The message: its length, then JSON.
    pub fn message(&self) -> io::Result<Vec<u8>> {
        let body = serde_json::to_vec(self)?;
        let length = u32::try_from(body.len()).map_err(|_| io::Error::other("the spec is too long"))?;
        Ok([&length.to_be_bytes()[..], &body].concat())
    }

    /// Reads the message, and not a byte more.
    fn receive(mut from: impl Read) -> io::Result<Self> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > MAX_SPEC_BYTES {
            return Err(io::Error::other("the spec is too long"));
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }

    fn options(self) -> GullOptions {
        let mut options = GullOptions::new(self.workspace, self.session);
        options.state_dir = Some(self.state_dir);
        options.disk_bytes = self.disk_bytes;
        options.listen = Listen::Unix(self.socket);
        options.network = self.network;
        options.process_memory_bytes = self.memory_bytes;
        options.memory_bytes = Some(self.memory_bytes);
        options.cpus = Some(self.cpus);
        options.control_groups = self.control_groups;
        options.reserved_list = Some(self.reserved_list);
        options.egress = self.egress;
        options.inside = self.inside;
        options
    }
}

/// Serves what is ordered on standard input, until it is asked to end or its lease is over. `listening` is called once it
/// can be reached.
pub async fn serve_ordered(listening: impl FnOnce(&Endpoint) -> io::Result<()>) -> Result<(), GullError> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |source| GullError::Folder { what, source }
    };
    // Not through the buffer of standard input: what follows is for the lease.
    let input = io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let spec = input.and_then(GullSpec::receive).map_err(failed("the spec cannot be read"))?;
    let lease_until_ms = spec.lease_until_ms;
    let signals = || Ok((signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?));
    let (mut term, mut int) = signals().map_err(failed("signals cannot be received"))?;
    let mut server = serve(spec.options()).await?;
    listening(server.endpoint()).map_err(failed("the address that it listens on could not be reported"))?;
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
        () = server.ended() => {}
        over = lease_over(lease_until_ms.unwrap_or_default()), if lease_until_ms.is_some() => {
            // Bay is frozen, or gone. Another one may be about to use the same workspace: the browser ends with us.
            if over.is_err() || tokio::time::timeout(LEASE_END, server.close()).await.is_err() {
                return Err(GullError::Unavailable("the lease is over, and the browser did not end in time".to_owned()));
            }
            return Ok(());
        }
    }
    server.close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_to_its_end_and_no_further() {
        let spec = GullSpec {
            workspace: "/w".into(),
            state_dir: "/s".into(),
            disk_bytes: 1,
            session: "a".to_owned(),
            socket: "/x".into(),
            network: NetworkPolicy { allow_hosts: vec!["example.com".to_owned()], ..NetworkPolicy::default() },
            memory_bytes: 2,
            cpus: 0.5,
            control_groups: true,
            egress: Some("/e".into()),
            inside: Some("/i".into()),
            reserved_list: "/r".into(),
            lease_until_ms: Some(3),
        };
        let mut line = spec.message().unwrap();
        line.extend_from_slice(b"17\n");
        let mut rest = line.as_slice();
        assert_eq!(GullSpec::receive(&mut rest).unwrap(), spec);
        assert_eq!(rest, b"17\n");
        assert!(GullSpec::receive(&line[..9]).is_err());
        assert!(GullSpec::receive(&[0xff; 8][..]).is_err());
    }
}
