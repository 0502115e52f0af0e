//! The network of sandboxes while they run: what their owners have made of what their profiles open, and a log of each.
//!
//! An owner may close what the profile opens, and open what the profile lets be opened (`may_allow`), and nothing else:
//! operators stay in charge. What is wished is kept with the sandbox and outlives its sessions; connections ask what holds
//! at their moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_api::{
    BayError, ConnectionVerdict, ErrorCode, EventKind, Moment, NetworkConnection, SandboxId, SandboxNetwork, SetNetwork,
};
use cove_config::{ContainerSpec, Profile};
use cove_network::{AddressRule, Connection, ConnectionLog, LiveNetwork, NotToBeOpened, Verdict};
use cove_store::SandboxAmendment;
use serde_json::{Map, json};

use crate::{Bay, BayResult, Owner};

/// Hosts that one sandbox may name.
const MAX_HOSTS: usize = 200;

/// The networks of the sandboxes that have used theirs here.
#[derive(Debug, Default)]
pub(crate) struct Networks(Mutex<HashMap<SandboxId, Arc<WaysOut>>>);

/// The ways out of one sandbox: one for each container of its profile, all with one log.
#[derive(Debug)]
struct WaysOut {
    log: ConnectionLog,
    of_containers: Vec<(String, LiveNetwork)>,
    /// One at a time reads what the owner wishes and makes it so.
    turn: tokio::sync::Mutex<()>,
}

impl Networks {
    /// The sandbox is gone.
    pub(crate) fn remove(&self, id: &SandboxId) {
        self.all().remove(id);
    }

    fn get(&self, id: &SandboxId) -> Option<Arc<WaysOut>> {
        self.all().get(id).cloned()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SandboxId, Arc<WaysOut>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaysOut {
    fn of(&self, container: &str) -> Option<LiveNetwork> {
        self.of_containers.iter().find(|(name, _)| name == container).map(|(_, network)| network.clone())
    }
}

impl Bay {
    /// The way out of a container of a sandbox, as its owner wishes it.
    pub(crate) async fn live_network(
        &self,
        id: &SandboxId,
        profile: &Profile,
        spec: &ContainerSpec,
    ) -> BayResult<LiveNetwork> {
        let ways = self.refreshed_ways(id, profile).await?;
        Ok(ways.of(&spec.name).unwrap_or_else(|| LiveNetwork::new(&spec.network)))
    }

    /// The same for code that runs in this process, which looks it up for every run: what is known here is up to date,
    /// because wishes come to the Bay where the sandbox lives.
    pub(crate) async fn known_network(
        &self,
        id: &SandboxId,
        profile: &Profile,
        spec: &ContainerSpec,
    ) -> BayResult<LiveNetwork> {
        match self.inner.networks.get(id).and_then(|ways| ways.of(&spec.name)) {
            Some(known) => Ok(known),
            None => self.live_network(id, profile, spec).await,
        }
    }

    /// What a sandbox may reach, and what it has reached.
    pub async fn network(&self, owner: &Owner, id: &SandboxId) -> BayResult<SandboxNetwork> {
        let row = self.alive_row(owner, id).await?;
        let profile = self.profile_of(&row)?;
        Ok(self.network_info(id, &profile, row.attributes.network.as_deref()))
    }

    /// Opens these hosts and no others, at once and from now on.
    pub async fn set_network(&self, owner: &Owner, id: &SandboxId, wish: SetNetwork) -> BayResult<SandboxNetwork> {
        let row = self.alive_row(owner, id).await?;
        let profile = self.profile_of(&row)?;
        if let Some(hosts) = &wish.allow_hosts {
            self.check_hosts(&profile, hosts)?;
        }
        let amendment = SandboxAmendment { network: Some(wish.allow_hosts.clone()), ..SandboxAmendment::default() };
        let amended = self.inner.store.amend_sandbox(owner, id, &amendment, Moment::now()).await?;
        amended.ok_or_else(|| crate::sandboxes::not_found(id))?;
        self.refreshed_ways(id, &profile).await?;
        Ok(self.network_info(id, &profile, wish.allow_hosts.as_deref()))
    }

    fn check_hosts(&self, profile: &Profile, hosts: &[String]) -> BayResult<()> {
        if hosts.len() > MAX_HOSTS {
            let message = format!("`allow_hosts` has {} entries; the limit is {MAX_HOSTS}", hosts.len());
            return Err(BayError::new(ErrorCode::ValidationError, message));
        }
        for host in hosts {
            let mut last = Ok(());
            for spec in &profile.containers {
                last = AddressRule::may_open(&spec.network, host);
                if last.is_ok() {
                    break;
                }
            }
            if let Err(why) = last {
                let code = match why {
                    NotToBeOpened::NotAHost(_) => ErrorCode::ValidationError,
                    NotToBeOpened::Private(_) | NotToBeOpened::NotInProfile(_) => ErrorCode::Forbidden,
                };
                let known = may_allow(profile);
                return Err(BayError::new(code, why.to_string()).with("host", host.as_str()).with("may_allow", known));
            }
            if let Some(blocked) = self.inner.config.blocks_host(host) {
                let message = format!("{host:?} cannot be opened: this server closes {blocked}");
                return Err(BayError::new(ErrorCode::Forbidden, message).with("host", host.as_str()));
            }
        }
        Ok(())
    }

    /// The ways out of a sandbox, made if there are none, and as its record says now.
    async fn refreshed_ways(&self, id: &SandboxId, profile: &Profile) -> BayResult<Arc<WaysOut>> {
        let ways = Arc::clone(self.inner.networks.all().entry(id.clone()).or_insert_with(|| self.ways_of(id, profile)));
        let turn = ways.turn.lock().await;
        let row = self.inner.store.any_sandbox(id).await?;
        let hosts = row.and_then(|row| row.attributes.network);
        for (_, network) in &ways.of_containers {
            network.open_only(hosts.as_deref());
        }
        drop(turn);
        Ok(ways)
    }

    fn ways_of(&self, id: &SandboxId, profile: &Profile) -> Arc<WaysOut> {
        let (bay, sandbox) = (Arc::downgrade(&self.inner), id.clone());
        let log = ConnectionLog::telling(Arc::new(move |connection: &Connection| {
            let Some(inner) = bay.upgrade() else { return };
            let told = json!({
                "host": connection.host, "port": connection.port, "verdict": verdict(connection.verdict),
            });
            let told: Map<_, _> = told.as_object().cloned().unwrap_or_default();
            inner.events.emit(&sandbox, EventKind::Network, &told);
        }));
        let of_containers =
            profile.containers.iter().map(|spec| (spec.name.clone(), LiveNetwork::logged(&spec.network, log.clone())));
        Arc::new(WaysOut { of_containers: of_containers.collect(), log, turn: tokio::sync::Mutex::default() })
    }

    fn network_info(&self, id: &SandboxId, profile: &Profile, wished: Option<&[String]>) -> SandboxNetwork {
        let connections = self.inner.networks.get(id).map(|ways| ways.log.list()).unwrap_or_default();
        SandboxNetwork {
            allow_hosts: match wished {
                Some(hosts) => hosts.to_vec(),
                None => once_each(profile.containers.iter().flat_map(|spec| &spec.network.allow_hosts)),
            },
            may_allow: may_allow(profile),
            connections: connections.into_iter().map(wire).collect(),
        }
    }
}

/// What an owner may open under a profile.
fn may_allow(profile: &Profile) -> Vec<String> {
    let networks = || profile.containers.iter().map(|spec| &spec.network);
    once_each(
        networks()
            .flat_map(|network| network.allow_hosts.iter().chain(&network.allow_private).chain(&network.may_allow)),
    )
}

fn once_each<'a>(hosts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for host in hosts {
        if !once.contains(host) {
            once.push(host.clone());
        }
    }
    once
}

fn wire(connection: Connection) -> NetworkConnection {
    let since = connection.at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    NetworkConnection {
        host: connection.host,
        port: connection.port,
        at: Moment::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX)),
        up_bytes: connection.up,
        down_bytes: connection.down,
        verdict: verdict(connection.verdict),
    }
}

fn verdict(verdict: Verdict) -> ConnectionVerdict {
    match verdict {
        Verdict::Open => ConnectionVerdict::Open,
        Verdict::Ended => ConnectionVerdict::Ended,
        Verdict::Closed => ConnectionVerdict::Closed,
        Verdict::Refused => ConnectionVerdict::Refused,
        Verdict::Unreachable => ConnectionVerdict::Unreachable,
    }
}
