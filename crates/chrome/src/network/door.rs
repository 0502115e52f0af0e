//! The doors to the network: one listener per policy that is in use, all bound before the browser starts.
//!
//! The browser resolves nothing but the names of these doors, and each of those to one port of ours, so a page without
//! a policy that asks for a door by name meets a listener that takes proxy requests only, which a page cannot write.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_core::NetworkPolicy;
use cove_network::AddressRule;
use tokio::task::AbortHandle;

use super::proxy;

/// Different policies that may be in use at the same time.
const DOORS: usize = 16;

struct Door {
    port: u16,
    listener: TcpListener,
    users: usize,
    open: Option<(AddressRule, AbortHandle)>,
}

/// All doors of one engine.
pub(crate) struct Proxies {
    doors: Mutex<Vec<Door>>,
    /// The user that the browser runs as.
    user: u32,
}

/// The right to use a door. Dropping the last one closes it, and every connection through it.
pub(crate) struct Lease {
    proxies: Arc<Proxies>,
    index: usize,
}

impl Proxies {
    pub(crate) fn bind(user: u32) -> io::Result<Self> {
        let doors = (0..DOORS).map(|_| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            listener.set_nonblocking(true)?;
            Ok(Door { port: listener.local_addr()?.port(), listener, users: 0, open: None })
        });
        Ok(Self { doors: Mutex::new(doors.collect::<io::Result<_>>()?), user })
    }

    /// What the browser may resolve: the doors, and nothing else.
    pub(crate) fn resolver_rules(&self) -> String {
        let doors = self
            .lock()
            .iter()
            .enumerate()
            .map(|(index, door)| format!("MAP {} 127.0.0.1:{}", name(index), door.port))
            .collect::<Vec<_>>();
        format!("{},MAP * ~NOTFOUND", doors.join(","))
    }

    /// A door for a policy: one that is open for the same policy already, or a free one.
    pub(crate) fn lease(self: &Arc<Self>, policy: &NetworkPolicy) -> Result<Lease, String> {
        let rule = AddressRule::new(policy);
        let mut doors = self.lock();
        let same = |door: &Door| door.open.as_ref().is_some_and(|(open, _)| *open == rule);
        let index = doors.iter().position(same).or_else(|| doors.iter().position(|door| door.open.is_none()));
        let door = index.and_then(|index| doors.get_mut(index));
        let (Some(index), Some(door)) = (index, door) else {
            return Err(format!("more than {DOORS} different network policies are in use"));
        };
        if door.open.is_none() {
            let listener = door.listener.try_clone().and_then(tokio::net::TcpListener::from_std);
            let listener = listener.map_err(|error| format!("the network proxy could not be started: {error}"))?;
            let serving = tokio::spawn(proxy::serve(listener, rule.clone(), Some(self.user)));
            door.open = Some((rule, serving.abort_handle()));
        }
        door.users += 1;
        drop(doors);
        Ok(Lease { proxies: self.clone(), index })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Door>> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut doors = self.proxies.lock();
        let Some(door) = doors.get_mut(self.index) else { return };
        door.users -= 1;
        if door.users == 0
            && let Some((_, serving)) = door.open.take()
        {
            serving.abort();
        }
    }
}

fn name(index: usize) -> String {
    format!("door{index}.cove-proxy.invalid")
}
