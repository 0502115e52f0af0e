//! The proxy ports: one listener per policy that is in use, all bound before the browser starts.
//!
//! The browser resolves nothing but the names of these ports, and each of those to one port of ours, so a page without
//! a policy that asks for a port by name meets a listener that takes proxy requests only, which a page cannot write.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_core::{EffectGate, NetworkPolicy, SessionOptions};
use cove_network::LiveNetwork;
use tokio::task::AbortHandle;

use super::proxy;

/// Different policies that may be in use at the same time: more than there are sessions of sandboxes, whose policies may
/// change and are shared with nobody.
const PORTS: usize = 48;

struct ProxyPort {
    port: u16,
    listener: TcpListener,
    users: usize,
    open: Option<Opened>,
}

/// What a port is open for.
struct Opened {
    /// As the policy is written; none where it is one session's own, because each of its connections is asked for or its
    /// policy may change.
    shared: Option<NetworkPolicy>,
    serving: AbortHandle,
}

/// What a session wants of the network.
#[derive(Clone)]
pub(crate) struct Wish {
    policy: NetworkPolicy,
    network: LiveNetwork,
    is_live: bool,
    gate: Option<EffectGate>,
}

impl Wish {
    pub(crate) fn of(options: &SessionOptions) -> Self {
        Self {
            policy: options.network.clone(),
            network: LiveNetwork::of_session(options),
            is_live: options.live_network.is_some(),
            gate: options.gate.clone(),
        }
    }

    /// Whether there is nothing to reach.
    pub(crate) fn is_closed(&self) -> bool {
        self.policy.is_closed()
    }
}

/// All ports of one engine.
pub(crate) struct Proxies {
    ports: Mutex<Vec<ProxyPort>>,
    /// The user that the browser runs as.
    user: u32,
}

/// The right to use a port. Dropping the last one closes it, and every connection through it.
pub(crate) struct Lease {
    proxies: Arc<Proxies>,
    index: usize,
}

impl Proxies {
    pub(crate) fn bind(user: u32) -> io::Result<Self> {
        let ports = (0..PORTS).map(|_| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            listener.set_nonblocking(true)?;
            Ok(ProxyPort { port: listener.local_addr()?.port(), listener, users: 0, open: None })
        });
        Ok(Self { ports: Mutex::new(ports.collect::<io::Result<_>>()?), user })
    }

    /// What the browser may resolve: the ports, and nothing else.
    pub(crate) fn resolver_rules(&self) -> String {
        let ports = self
            .lock()
            .iter()
            .enumerate()
            .map(|(index, proxy_port)| format!("MAP {} 127.0.0.1:{}", name(index), proxy_port.port))
            .collect::<Vec<_>>();
        format!("{},MAP * ~NOTFOUND", ports.join(","))
    }

    /// A port for a policy: one that is open for the same policy already, or a free one. A session with a gate gets one
    /// of its own, so that it is known whose connections they are.
    pub(crate) fn lease(self: &Arc<Self>, wish: &Wish) -> Result<Lease, String> {
        let mut ports = self.lock();
        let shared = (wish.gate.is_none() && !wish.is_live).then(|| wish.policy.clone());
        let same = |proxy_port: &ProxyPort| {
            shared.is_some() && proxy_port.open.as_ref().is_some_and(|open| open.shared == shared)
        };
        let index =
            ports.iter().position(same).or_else(|| ports.iter().position(|proxy_port| proxy_port.open.is_none()));
        let proxy_port = index.and_then(|index| ports.get_mut(index));
        let (Some(index), Some(proxy_port)) = (index, proxy_port) else {
            return Err(format!("more than {PORTS} different network policies are in use"));
        };
        if proxy_port.open.is_none() {
            let listener = proxy_port.listener.try_clone().and_then(tokio::net::TcpListener::from_std);
            let listener = listener.map_err(|error| format!("the network proxy could not be started: {error}"))?;
            let (network, gate) = (wish.network.clone(), wish.gate.clone());
            let serving = tokio::spawn(proxy::serve(listener, network, None, Some(self.user), gate)).abort_handle();
            proxy_port.open = Some(Opened { shared, serving });
        }
        proxy_port.users += 1;
        drop(ports);
        Ok(Lease { proxies: self.clone(), index })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ProxyPort>> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// What the browser is told: a name that only its resolver rules know.
    pub(crate) fn address(&self) -> String {
        format!("http://{}:1080", name(self.index))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut ports = self.proxies.lock();
        let Some(proxy_port) = ports.get_mut(self.index) else { return };
        proxy_port.users -= 1;
        if proxy_port.users == 0
            && let Some(open) = proxy_port.open.take()
        {
            open.serving.abort();
        }
    }
}

fn name(index: usize) -> String {
    format!("door{index}.cove-proxy.invalid")
}
