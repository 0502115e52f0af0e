//! Sandboxes: made, listed, prolonged, stopped, deleted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cove_api::{
    AmendSandbox, BayError, ContainerNetwork, CreateSandbox, ErrorCode, ExtendTtl, Moment, RuntimeCause, SandboxInfo,
    SandboxList, SandboxQuery, SandboxStatus,
};
use cove_core::{CargoId, SandboxId, shorten_word};
use serde_json::Value;

use crate::id::fresh;
use crate::peers::SessionHome;
use crate::session::ContainerRecord;
use crate::{Bay, BayResult, IdempotencyKey, Owner};
use cove_config::{ContainerSpec, DiskLimit, Profile};
use cove_drivers::CargoLimit;
use cove_network::AddressRule;
use cove_store::{
    CargoChoice, Cursor, Done, Extension, NewCargo, NewSandbox, Once, SandboxAmendment, SandboxAttributes,
    SandboxDeletion, SandboxRow, WarmClaim,
};

/// Entries of a sandbox's metadata.
const MAX_METADATA: usize = 64;

/// Bytes of a name in it.
const MAX_METADATA_KEY: usize = 256;

/// Bytes of a value in it.
const MAX_METADATA_VALUE: usize = 4 << 10;

/// How long a deletion waits for the folder to be gone; the rest is done behind its back.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(2);

/// Refused: its end has come.
pub(crate) fn expired() -> BayError {
    BayError::new(ErrorCode::SandboxExpired, "the sandbox has expired")
}

/// Refused: no such sandbox, or another's.
pub(crate) fn not_found(id: &str) -> BayError {
    let shown = shorten_word(id);
    BayError::new(ErrorCode::NotFound, format!("there is no sandbox {shown}")).with("id", shown)
}

/// Refused: a value that cannot be.
pub(crate) fn invalid(message: impl Into<String>) -> BayError {
    BayError::new(ErrorCode::ValidationError, message)
}

/// Refused: the profile wants limits that the kernel enforces, and it does not.
pub(crate) fn not_enforced(profile: &str, warnings: &[String]) -> BayError {
    let message = format!(
        "profile {profile} has `require_enforced_limits`, and on this machine: {}. Run `cove serve` as root or in a \
         delegated control group (`systemd-run --user --scope -p Delegate=yes cove serve`); `cove doctor` shows what is \
         enforced",
        warnings.join("; ")
    );
    BayError::new(ErrorCode::Conflict, message)
        .with("reason", "limits_not_enforced")
        .with("warnings", warnings.to_vec())
}

/// Refuses metadata that is too much to keep with each sandbox.
fn check_metadata(metadata: &BTreeMap<String, String>) -> BayResult<()> {
    if metadata.len() > MAX_METADATA {
        return Err(invalid(format!("`metadata` has {} entries; the limit is {MAX_METADATA}", metadata.len())));
    }
    let long = metadata.iter().find(|(key, value)| key.len() > MAX_METADATA_KEY || value.len() > MAX_METADATA_VALUE);
    match long {
        Some((key, _)) => Err(invalid(format!(
            "`metadata` has an entry that is too long: {:?}; a name has at most {MAX_METADATA_KEY} bytes, a value \
             {MAX_METADATA_VALUE}",
            shorten_word(key)
        ))),
        None => Ok(()),
    }
}

/// How many of a list: 1 to 200, 50 unless said otherwise.
pub(crate) fn page_size(limit: Option<u32>) -> BayResult<u32> {
    match limit.unwrap_or(50) {
        size @ 1..=200 => Ok(size),
        other => Err(invalid(format!("`limit` is {other}; it must be 1 to 200"))),
    }
}

impl Bay {
    /// Refuses where the profile wants a hard limit that this machine, or the wished cargo, cannot have.
    async fn hard_limit_can_be(&self, owner: &Owner, profile: &Profile, cargo_id: Option<&CargoId>) -> BayResult<()> {
        if profile.disk != DiskLimit::Hard {
            return Ok(());
        }
        let refused = |why: &str, reason: &str| {
            let message = format!("profile {} has `disk: hard`, and {why}", profile.id);
            Err(BayError::new(ErrorCode::Conflict, message).with("reason", reason))
        };
        if let Some(why) = self.inner.driver.cargos().no_hard_limit() {
            return refused(why, "limits_not_enforced");
        }
        match cargo_id {
            Some(id) if self.cargo(owner, id).await?.backend != self.inner.driver.cargos().backend(DiskLimit::Hard) => {
                let why = "this cargo was made without a hard limit: leave out `cargo_id`, and copy the files";
                refused(why, "cargo_without_hard_limit")
            }
            _ => Ok(()),
        }
    }

    /// A new sandbox; `ready` where a warm one could be had, else `idle`.
    pub async fn create_sandbox(
        &self,
        owner: &Owner,
        wish: CreateSandbox,
        key: Option<&IdempotencyKey>,
    ) -> BayResult<SandboxInfo> {
        self.open_for_work()?;
        self.may_grow()?;
        let key = key.filter(|_| self.inner.config.idempotency.enabled);
        let profile = self.profile(&wish.profile).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.inner.profiles.iter().map(|profile| profile.id.as_str()).collect();
            invalid(format!("there is no profile {:?}", wish.profile)).with("available", known)
        })?;
        if profile.require_enforced_limits && !self.inner.driver.warnings().is_empty() {
            return Err(not_enforced(&profile.id, &self.inner.driver.warnings()));
        }
        let ttl = wish.ttl.unwrap_or(0);
        if ttl < 0 {
            return Err(invalid(format!("`ttl` is {ttl}; it must be 0 or more seconds")));
        }
        check_metadata(&wish.metadata)?;
        let attributes = SandboxAttributes {
            metadata: wish.metadata.clone(),
            note: wish.note.clone(),
            keeps_session: wish.keep_session,
            network: None,
            session_ends_at: wish.session_ends_at,
        };
        let existing: Option<CargoId> = match &wish.cargo_id {
            Some(id) => Some(id.parse().map_err(|_| crate::cargos::not_found(id))?),
            None => None,
        };
        self.hard_limit_can_be(owner, &profile, existing.as_ref()).await?;
        let request = format!("POST /v1/sandboxes {}", serde_json::to_value(&wish).unwrap_or_default());
        let now = Moment::now();
        if let Some(key) = key
            && let Some(answer) = self.inner.store.answered(owner, key, &request, now).await?
        {
            return stored(answer);
        }
        for spec in &profile.containers {
            self.inner.driver.try_out(spec).await;
        }
        let answer = |row: &SandboxRow| serde_json::to_value(self.info(row)).unwrap_or_default();
        let once = key.map(|key| Once { key, request: &request, answer: &answer });
        let expires_at = (ttl > 0).then(|| now.plus_secs(ttl));
        let max_sandboxes = self.max_sandboxes(owner);
        if wish.cargo_id.is_none() && profile.warm_pool_size > 0 && self.inner.config.warm_pool.enabled {
            let claim = WarmClaim {
                profile: &profile.id,
                instance_id: &self.inner.instance_id,
                alive_since: self.alive_since(),
                expires_at,
                idle_expires_at: crate::session::idle_end(&profile),
                attributes: Some(&attributes),
                max_sandboxes,
            };
            let claimed = self.inner.store.claim_warm(owner, &claim, once.as_ref(), now).await?;
            self.inner.warm.refill();
            match claimed {
                Some(Done::Before(answer)) => return stored(answer),
                Some(Done::Now(row)) => {
                    if let Some(live) = self.inner.sessions.get(&row.id) {
                        live.touch();
                    }
                    return Ok(self.info(&row));
                }
                None => {}
            }
        }
        let (id, cargo_id) = (fresh::<SandboxId>()?, fresh::<CargoId>()?);
        let cargo = match &existing {
            Some(existing) => CargoChoice::Existing(existing),
            None => CargoChoice::New(NewCargo {
                id: &cargo_id,
                backend: self.inner.driver.cargos().backend(profile.disk),
                size_limit_mb: self.inner.config.cargo.default_size_limit_mb,
            }),
        };
        if wish.cargo_id.is_none() {
            // Before the row: what a crash leaves of it, the collector takes for an orphan.
            let bytes = u64::from(self.inner.config.cargo.default_size_limit_mb) << 20;
            let limit = CargoLimit::new(profile.disk, bytes);
            self.inner.driver.cargos().prepare(&cargo_id, limit).await.map_err(|error| driver_fault(&error))?;
        }
        let new = NewSandbox {
            id: &id,
            profile: &profile.id,
            cargo,
            expires_at,
            attributes: Some(&attributes),
            max_sandboxes,
        };
        let made = self.inner.store.insert_sandbox(owner, &new, once.as_ref(), now).await;
        if wish.cargo_id.is_none() && !matches!(made, Ok(Done::Now(_))) {
            let _ = self.inner.driver.cargos().delete(&cargo_id).await;
        }
        match made? {
            Done::Before(answer) => stored(answer),
            Done::Now(row) => Ok(self.info(&row)),
        }
    }

    /// A page of the owner's sandboxes.
    pub async fn list_sandboxes(&self, owner: &Owner, query: SandboxQuery) -> BayResult<SandboxList> {
        let (limit, cursor) = (page_size(query.limit)?, Cursor::parse(query.cursor.as_deref())?);
        let store = &self.inner.store;
        let page = store.list_sandboxes(owner, query.status, cursor.as_ref(), limit, Moment::now()).await?;
        self.check_health_of_all(page.items.iter().map(|row| &row.id)).await;
        let mut items: Vec<SandboxInfo> = page.items.iter().map(|row| self.info(row)).collect();
        if query.usage {
            self.count_usage(&mut items).await;
        }
        Ok(SandboxList { items, next_cursor: page.next.map(|cursor| cursor.to_string()) })
    }

    /// One sandbox, with its containers and their health.
    pub async fn sandbox(&self, owner: &Owner, id: &SandboxId) -> BayResult<SandboxInfo> {
        let row = self.row(owner, id).await?;
        self.check_health(id).await;
        Ok(SandboxInfo { network: self.open_networks(&row), ..self.info(&row) })
    }

    /// More time.
    pub async fn extend_ttl(
        &self,
        owner: &Owner,
        id: &SandboxId,
        wish: ExtendTtl,
        key: Option<&IdempotencyKey>,
    ) -> BayResult<SandboxInfo> {
        let key = key.filter(|_| self.inner.config.idempotency.enabled);
        if wish.extend_by < 1 {
            return Err(invalid(format!("`extend_by` is {}; it must be 1 or more seconds", wish.extend_by)));
        }
        let request = format!("POST /v1/sandboxes/{id}/extend_ttl {}", wish.extend_by);
        let answer = |row: &SandboxRow| serde_json::to_value(self.info(row)).unwrap_or_default();
        let once = key.map(|key| Once { key, request: &request, answer: &answer });
        let store = &self.inner.store;
        match store.extend_sandbox(owner, id, wish.extend_by, once.as_ref(), Moment::now()).await? {
            Extension::Done(Done::Now(row)) => Ok(self.info(&row)),
            Extension::Done(Done::Before(answer)) => stored(answer),
            Extension::Missing => Err(not_found(id)),
            Extension::Expired => Err(expired()),
            Extension::Infinite => {
                Err(BayError::new(ErrorCode::SandboxTtlInfinite, "the sandbox has no expiry that could be extended"))
            }
        }
    }

    /// Changes how long it lives, or what is said of it.
    pub async fn amend_sandbox(&self, owner: &Owner, id: &SandboxId, wish: AmendSandbox) -> BayResult<SandboxInfo> {
        let expires_at = match wish.ttl {
            None => None,
            Some(0) => Some(None),
            Some(ttl @ 1..) => Some(Some(Moment::now().plus_secs(ttl))),
            Some(ttl) => return Err(invalid(format!("`ttl` is {ttl}; it must be 0 or more seconds"))),
        };
        if let Some(metadata) = &wish.metadata {
            check_metadata(metadata)?;
        }
        let AmendSandbox { metadata, note, session_ends_at, .. } = wish;
        let amendment = SandboxAmendment { expires_at, metadata, note, network: None, session_ends_at };
        let now = Moment::now();
        let row = self.inner.store.amend_sandbox(owner, id, &amendment, now).await?.ok_or_else(|| not_found(id))?;
        if row.expired(now) { Err(expired()) } else { Ok(self.info(&row)) }
    }

    /// Whose sandbox this is, and the sandbox: for a door that checks a secret of its own, which its note has. None: there
    /// is no such sandbox, it has ended, or no door keeps anything with it.
    pub async fn noted_sandbox(&self, id: &SandboxId) -> BayResult<Option<(Owner, SandboxInfo)>> {
        let row = self.inner.store.any_sandbox(id).await?;
        let row = row.filter(|row| row.attributes.note.is_some() && !row.expired(Moment::now()));
        let owner = row.as_ref().and_then(|row| row.owner.as_deref()).map(Owner::new);
        Ok(row.and_then(|row| Some((owner?, self.info(&row)))))
    }

    /// Moves the end of idleness; starts nothing.
    pub async fn keepalive(&self, owner: &Owner, id: &SandboxId) -> BayResult<()> {
        let row = self.alive_row(owner, id).await?;
        if row.session.is_some() {
            let end = crate::session::idle_end(self.profile_of(&row)?.as_ref());
            if let Some(live) = self.inner.sessions.get(id) {
                live.touch();
            }
            self.inner.store.touch_session(id, end, Moment::now()).await?;
        }
        Ok(())
    }

    /// Ends the session; the cargo stays.
    pub async fn stop_sandbox(&self, owner: &Owner, id: &SandboxId) -> BayResult<()> {
        let row = self.alive_row(owner, id).await?;
        self.end_javascript(id).await;
        self.end_session_of(id, None).await?;
        self.end_elsewhere(&row).await?;
        self.tell_state(id, "idle", None);
        Ok(())
    }

    /// Ends and hides it, with its managed cargo. Repeating it is fine.
    pub async fn delete_sandbox(&self, owner: &Owner, id: &SandboxId) -> BayResult<()> {
        let deletion = self.write_deletion(Some(owner), id).await?;
        let deletion = deletion.ok_or_else(|| not_found(id))?;
        self.clear_away(&deletion.sandbox, deletion.cargo_gone).await
    }

    /// Writes a deletion down, also where the disk is full: then the reserve is given up for it, and if that is gone, too,
    /// what the sandbox holds goes first.
    pub(crate) async fn write_deletion(
        &self,
        owner: Option<&Owner>,
        id: &SandboxId,
    ) -> BayResult<Option<SandboxDeletion>> {
        let (store, now) = (&self.inner.store, Moment::now());
        let written = store.must(|| store.delete_sandbox(owner, id, now)).await;
        if !written.as_ref().is_err_and(cove_store::StoreError::is_full) {
            return Ok(written?);
        }
        let Some(row) = store.any_sandbox(id).await? else { return Ok(None) };
        let may = match owner {
            Some(owner) => row.owner.as_deref() == Some(owner.as_str()),
            None => row.expired(now),
        };
        if !may {
            return Ok(None);
        }
        self.end_javascript(id).await;
        // What it writes may fail as well; what it ends has ended.
        let _ = self.end_session_of(id, None).await;
        self.remove_artifacts(id).await;
        if store.goes_with(&row.cargo_id, id).await? {
            self.inner.driver.cargos().delete(&row.cargo_id).await.map_err(|error| driver_fault(&error))?;
        }
        Ok(store.delete_sandbox(owner, id, now).await?)
    }

    /// Where its session lives, if that is another Bay that is alive: the one to hand the request on to.
    pub async fn session_elsewhere(&self, owner: &Owner, id: &SandboxId) -> BayResult<Option<SessionHome>> {
        let row = self.row(owner, id).await?;
        let Some(session) = row.session.filter(|session| session.instance_id != self.inner.instance_id) else {
            return Ok(None);
        };
        let home = self.inner.store.live_instance(&session.instance_id, self.alive_since()).await?;
        Ok(home.and_then(|home| home.advertise_url.map(|url| SessionHome { instance_id: home.id, url })))
    }

    /// Ends what is left of a sandbox that is hidden already.
    pub(crate) async fn clear_away(&self, row: &SandboxRow, cargo_gone: bool) -> BayResult<()> {
        self.end_javascript(&row.id).await;
        self.end_session_of(&row.id, None).await?;
        self.end_elsewhere(row).await?;
        self.inner.events.end(&row.id);
        self.inner.networks.remove(&row.id);
        self.inner.deferred.take(&row.id);
        self.remove_artifacts(&row.id).await;
        if cargo_gone {
            let (bay, cargo_id) = (self.clone(), row.cargo_id.clone());
            let removal = tokio::spawn(async move { bay.remove_cargo(&cargo_id).await });
            let _ = tokio::time::timeout(REMOVAL_PATIENCE, removal).await;
        }
        Ok(())
    }

    /// Removes the folder of a deleted cargo, then its row. Left undone, the collector does it.
    pub(crate) async fn remove_cargo(&self, cargo_id: &CargoId) -> bool {
        match self.inner.driver.cargos().delete(cargo_id).await {
            Ok(()) => self.inner.store.must(|| self.inner.store.forget_cargo(cargo_id)).await.is_ok(),
            Err(error) => {
                tracing::warn!(cargo = %cargo_id, %error, "a cargo could not be removed");
                false
            }
        }
    }

    /// A session row that is not of this Bay's living: gone if its Bay is; that Bay's own affair if not.
    async fn end_elsewhere(&self, row: &SandboxRow) -> BayResult<()> {
        let Some(session) = &row.session else { return Ok(()) };
        let alive = self.inner.store.live_instance(&session.instance_id, self.alive_since()).await?;
        if alive.is_none() || session.instance_id == self.inner.instance_id {
            self.inner.store.must(|| self.inner.store.end_session(&session.id)).await?;
        }
        Ok(())
    }

    /// An owner's sandbox.
    pub(crate) async fn row(&self, owner: &Owner, id: &SandboxId) -> BayResult<SandboxRow> {
        self.inner.store.sandbox(owner, id).await?.ok_or_else(|| not_found(id))
    }

    /// For the wire.
    pub(crate) fn info(&self, row: &SandboxRow) -> SandboxInfo {
        let profile = self.profile(&row.profile);
        let live = self.inner.sessions.get(&row.id);
        let home = live.as_ref().filter(|live| row.session.as_ref().is_some_and(|session| session.id == live.id));
        let status = match row.status(Moment::now()) {
            SandboxStatus::Ready if home.is_some_and(|session| !Self::is_well(session)) => SandboxStatus::Failed,
            status => status,
        };
        let records: Option<Vec<ContainerRecord>> = match (home, &row.session) {
            (Some(live), _) => Some(live.records()),
            (None, Some(session)) if session.containers.is_some() => session.containers().ok(),
            _ => None,
        };
        let health = |name: &str| {
            let all = home?.all();
            all.iter().find(|container| container.spec.name == name).map(|container| container.is_well())
        };
        let containers = records.map(|records| {
            records
                .into_iter()
                .map(|record| {
                    let healthy = health(&record.name);
                    record.info(healthy)
                })
                .collect()
        });
        let endless = profile.is_some_and(|profile| profile.idle_timeout == 0);
        let idle_expires_at = home.map(|live| live.idle_expires_at()).or_else(|| row.idle_expires_at());
        SandboxInfo {
            id: row.id.clone(),
            status,
            profile: row.profile.clone(),
            cargo_id: row.cargo_id.clone(),
            capabilities: profile.map(|profile| profile.capability_words()).unwrap_or_default(),
            created_at: row.created_at,
            expires_at: row.expires_at,
            idle_expires_at: idle_expires_at.filter(|_| !endless && !row.attributes.keeps_session_at(Moment::now())),
            containers,
            network: None,
            warnings: self.warnings(profile),
            usage: None,
            metadata: row.attributes.metadata.clone(),
            note: row.attributes.note.clone(),
        }
    }

    /// Where the containers of a sandbox may connect to: as its profile says, or its owner.
    fn open_networks(&self, row: &SandboxRow) -> Option<Vec<ContainerNetwork>> {
        let of = |spec: &ContainerSpec| {
            let (allow_hosts, allow_private) = match &row.attributes.network {
                None => (spec.network.allow_hosts.clone(), spec.network.allow_private.clone()),
                Some(hosts) => {
                    let open = hosts.iter().filter(|host| AddressRule::may_open(&spec.network, host).is_ok());
                    (open.cloned().collect(), Vec::new())
                }
            };
            ContainerNetwork { container: spec.name.clone(), allow_hosts, allow_private }
        };
        Some(self.profile(&row.profile)?.containers.iter().map(of).collect())
    }

    /// What the one who made a sandbox of this profile should know.
    fn warnings(&self, profile: Option<&Arc<Profile>>) -> Vec<String> {
        let driver = &self.inner.driver;
        let missing = profile.into_iter().flat_map(|profile| &profile.containers).flat_map(|spec| driver.missing(spec));
        driver.warnings().into_iter().chain(missing).collect()
    }
}

/// The answer that was given before.
fn stored<T: serde::de::DeserializeOwned>(answer: Value) -> BayResult<T> {
    serde_json::from_value(answer)
        .map_err(|error| BayError::new(ErrorCode::InternalError, format!("a stored response cannot be read: {error}")))
}

/// The driver could not.
pub(crate) fn driver_fault(error: &cove_drivers::DriverError) -> BayError {
    tracing::error!(%error, "the driver failed");
    if let Some(cause) = error.cause.as_str() {
        let told = BayError::new(ErrorCode::ShipError, error.to_string());
        return told.caused_by(RuntimeCause::NotStarted).with("driver_cause", cause);
    }
    BayError::new(ErrorCode::InternalError, "the workspace could not be created; see the server's log")
}
