//! Cargos: made, listed, deleted.

use std::time::Duration;

use cove_api::{BayError, CargoId, CargoInfo, CargoList, CargoQuery, CreateCargo, ErrorCode, MAX_CARGO_MB, Moment};

use crate::id::fresh;
use crate::sandboxes::{driver_fault, invalid, page_size};
use crate::{Bay, BayResult, IdempotencyKey, Owner};
use cove_config::DiskLimit;
use cove_core::shorten_word;
use cove_drivers::CargoLimit;
use cove_store::{CargoQuota, CargoRemoval, CargoRow, Cursor, Done, NewCargo, Once};

/// How long what a cargo holds may take to be counted.
const WEIGHING: Duration = Duration::from_millis(500);

pub(crate) fn not_found(id: &str) -> BayError {
    BayError::new(ErrorCode::NotFound, format!("there is no cargo {}", shorten_word(id)))
}

impl Bay {
    /// A new cargo that belongs to no sandbox.
    pub async fn create_cargo(
        &self,
        owner: &Owner,
        wish: CreateCargo,
        key: Option<&IdempotencyKey>,
    ) -> BayResult<CargoInfo> {
        self.open_for_work()?;
        self.may_grow()?;
        let key = key.filter(|_| self.inner.config.idempotency.enabled);
        let size_limit_mb = wish.size_limit_mb.unwrap_or(self.inner.config.cargo.default_size_limit_mb);
        if !(1..=MAX_CARGO_MB).contains(&size_limit_mb) {
            return Err(invalid(format!("`size_limit_mb` is {size_limit_mb}; it must be 1 to {MAX_CARGO_MB}")));
        }
        let request = format!("POST /v1/cargos {}", serde_json::to_value(&wish).unwrap_or_default());
        let read = |answer| {
            serde_json::from_value(answer).map_err(|error| {
                BayError::new(ErrorCode::InternalError, format!("a stored response cannot be read: {error}"))
            })
        };
        let now = Moment::now();
        if let Some(key) = key
            && let Some(answer) = self.inner.store.answered(owner, key, &request, now).await?
        {
            return read(answer);
        }
        let answer = |row: &CargoRow| serde_json::to_value(&row.info).unwrap_or_default();
        let once = key.map(|key| Once { key, request: &request, answer: &answer });
        let id = fresh::<CargoId>()?;
        let limit = CargoLimit::Watched { bytes: u64::from(size_limit_mb) << 20 };
        self.inner.driver.cargos().prepare(&id, limit).await.map_err(|error| driver_fault(&error))?;
        let new = NewCargo { id: &id, backend: self.inner.driver.cargos().backend(DiskLimit::Watched), size_limit_mb };
        let limits = &self.inner.config.limits;
        let mebibytes = i64::try_from(limits.max_cargo_total_mb).unwrap_or(i64::MAX);
        let quota = CargoQuota { count: limits.max_cargos.into(), mebibytes };
        let made = self.inner.store.insert_cargo(owner, &new, quota, once.as_ref(), now).await;
        if !matches!(made, Ok(Done::Now(_))) {
            let _ = self.inner.driver.cargos().delete(&id).await;
        }
        match made? {
            Done::Now(row) => Ok(row.info),
            Done::Before(answer) => read(answer),
        }
    }

    /// A page of the owner's cargos: of their own making, or those that were made for their sandboxes.
    pub async fn list_cargos(&self, owner: &Owner, query: CargoQuery) -> BayResult<CargoList> {
        let (limit, cursor) = (page_size(query.limit)?, Cursor::parse(query.cursor.as_deref())?);
        let page = self.inner.store.list_cargos(owner, query.managed.unwrap_or(false), cursor.as_ref(), limit).await?;
        Ok(CargoList {
            items: page.items.into_iter().map(|row| row.info).collect(),
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// One cargo.
    pub async fn cargo(&self, owner: &Owner, id: &CargoId) -> BayResult<CargoInfo> {
        let found = self.inner.store.cargo(owner, id).await?;
        found.map(|row| row.info).ok_or_else(|| not_found(id))
    }

    /// What it holds, in bytes; none: that took too long to count.
    pub async fn cargo_bytes(&self, cargo: &CargoInfo) -> Option<u64> {
        let limit_bytes = u64::from(cargo.size_limit_mb) << 20;
        let weighing = self.inner.driver.cargos().weight(&cargo.id, limit_bytes);
        tokio::time::timeout(WEIGHING, weighing).await.ok()?.ok().map(|weight| weight.bytes)
    }

    /// Deletes it; refused while a sandbox uses it.
    pub async fn delete_cargo(&self, owner: &Owner, id: &CargoId) -> BayResult<()> {
        let (store, now) = (&self.inner.store, Moment::now());
        let mut removal = store.must(|| store.delete_cargo(owner, id, now)).await;
        if removal.as_ref().is_err_and(cove_store::StoreError::is_full) && store.is_unused(owner, id).await? {
            // No room even to write it down: its files go first, and make some.
            self.inner.driver.cargos().delete(id).await.map_err(|error| driver_fault(&error))?;
            removal = store.delete_cargo(owner, id, now).await;
        }
        match removal? {
            CargoRemoval::Missing => Err(not_found(id)),
            CargoRemoval::InUse(sandboxes) => {
                let refusal = BayError::new(ErrorCode::Conflict, "the cargo is in use");
                Err(refusal.with("active_sandbox_ids", sandboxes))
            }
            CargoRemoval::Gone => {
                let (bay, id) = (self.clone(), id.clone());
                let removal = tokio::spawn(async move { bay.remove_cargo(&id).await });
                let _ = tokio::time::timeout(std::time::Duration::from_secs(2), removal).await;
                Ok(())
            }
        }
    }
}
