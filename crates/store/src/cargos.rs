//! Cargos: what is in a workspace outlives the sessions that use it, and never vanishes under one.

use cove_api::{CargoId, CargoInfo, Moment, Owner};
use sqlx::{Any, Transaction};

use crate::{Cursor, Done, Once, Page, Store, StoreError, StoreResult, ask::Row, ask::ask};

/// A cargo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CargoRow {
    /// Whose it is; none: of a warm sandbox.
    pub owner: Option<String>,
    /// What clients see of it.
    pub info: CargoInfo,
}

/// A cargo to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewCargo<'a> {
    /// Its id.
    pub id: &'a CargoId,
    /// What holds it.
    pub backend: &'a str,
    /// What may be in it.
    pub size_limit_mb: u32,
}

/// What an owner may have of cargos that belong to no sandbox.
#[derive(Debug, Clone, Copy)]
pub struct CargoQuota {
    /// How many.
    pub count: i64,
    /// What all of them may be allowed to hold together.
    pub mebibytes: i64,
}

/// What came of a wish to delete a cargo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CargoRemoval {
    /// Deleted: its folder can go, then [`Store::forget_cargo`].
    Gone,
    /// These sandboxes use it.
    InUse(Vec<String>),
    /// No such cargo of this owner.
    Missing,
}

fn cargo(row: &Row) -> StoreResult<CargoRow> {
    let managed_by_sandbox_id = row.id_or("managed_by")?;
    Ok(CargoRow {
        owner: row.text_or("owner")?,
        info: CargoInfo {
            id: row.id("id")?,
            managed: managed_by_sandbox_id.is_some(),
            managed_by_sandbox_id,
            backend: row.text("backend")?,
            size_limit_mb: u32::try_from(row.int("size_limit_mb")?).unwrap_or(u32::MAX),
            created_at: row.at("created_at")?,
            last_accessed_at: row.at("last_accessed_at")?,
        },
    })
}

impl Store {
    /// Makes a cargo that belongs to no sandbox, with the answer to its key.
    pub async fn insert_cargo(
        &self,
        owner: &Owner,
        new: &NewCargo<'_>,
        quota: CargoQuota,
        once: Option<&Once<'_, CargoRow>>,
        now: Moment,
    ) -> StoreResult<Done<CargoRow>> {
        let mut tx = self.begin().await?;
        if let Some(answer) = self.take_key(&mut tx, owner, once, now).await? {
            return Ok(Done::Before(answer));
        }
        self.in_turn(&mut tx, owner.as_str()).await?;
        let question = "SELECT COUNT(*) AS cargos, CAST(COALESCE(SUM(size_limit_mb), 0) AS BIGINT) AS mebibytes \
                        FROM cargos WHERE owner = $1 AND managed_by IS NULL AND deleted_at IS NULL";
        if let Some(row) = ask(question).text(owner.as_str()).one(&mut *tx).await? {
            let next = "delete cargos that you no longer need, or ask the operator to raise the limit";
            if row.int("cargos")? >= quota.count {
                let (what, name) = ("cargos of your own", "limits.max_cargos");
                return Err(StoreError::Quota { what, name, limit: quota.count, next });
            }
            if row.int("mebibytes")? + i64::from(new.size_limit_mb) > quota.mebibytes {
                let (what, name) =
                    ("MB in all cargos of your own (the sum of size_limit_mb)", "limits.max_cargo_total_mb");
                return Err(StoreError::Quota { what, name, limit: quota.mebibytes, next });
            }
        }
        let made = self.put_cargo(&mut tx, Some(owner.as_str()), new, None, now).await?;
        self.keep_answer(&mut tx, owner, once, &made).await?;
        tx.commit().await?;
        Ok(Done::Now(made))
    }

    pub(crate) async fn put_cargo(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: Option<&str>,
        new: &NewCargo<'_>,
        managed_by: Option<&str>,
        now: Moment,
    ) -> StoreResult<CargoRow> {
        let question = "INSERT INTO cargos \
                        (id, owner, managed_by, backend, size_limit_mb, created_at, last_accessed_at) \
                        VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING *";
        let question = ask(question).text(new.id).text_or(owner).text_or(managed_by).text(new.backend);
        let row = question.int(new.size_limit_mb.into()).at(now).one(&mut **tx).await?;
        row.as_ref().map_or(Err(sqlx::Error::RowNotFound.into()), cargo)
    }

    /// One of an owner's cargos.
    pub async fn cargo(&self, owner: &Owner, id: &str) -> StoreResult<Option<CargoRow>> {
        let question = "SELECT * FROM cargos WHERE id = $1 AND owner = $2 AND deleted_at IS NULL";
        ask(question).text(id).text(owner.as_str()).one(&self.read).await?.as_ref().map(cargo).transpose()
    }

    /// Any cargo, unless deleted; for Bay itself, not for clients.
    pub async fn any_cargo(&self, id: &str) -> StoreResult<Option<CargoRow>> {
        let question = "SELECT * FROM cargos WHERE id = $1 AND deleted_at IS NULL";
        ask(question).text(id).one(&self.read).await?.as_ref().map(cargo).transpose()
    }

    /// A page of an owner's cargos: those that go with a sandbox, or all others.
    pub async fn list_cargos(
        &self,
        owner: &Owner,
        managed: bool,
        after: Option<&Cursor>,
        limit: u32,
    ) -> StoreResult<Page<CargoRow>> {
        let question = "SELECT * FROM cargos WHERE owner = $1 AND deleted_at IS NULL \
                        AND (CASE WHEN managed_by IS NULL THEN 0 ELSE 1 END) = $5 \
                        AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4";
        let (created_at, id) = Cursor::bounds(after);
        let question = ask(question).text(owner.as_str()).int(created_at).text(id).int(i64::from(limit) + 1);
        let question = question.flag(managed);
        let items = question.each(&self.read, cargo).await?;
        Ok(Page::cut(items, limit, |row| Cursor::after(row.info.created_at, &row.info.id)))
    }

    /// Deletes a cargo that no sandbox uses.
    pub async fn delete_cargo(&self, owner: &Owner, id: &str, now: Moment) -> StoreResult<CargoRemoval> {
        let mut tx = self.begin().await?;
        // Written first, looked at second: the row is ours by then, and a sandbox that wants it waits or was before.
        let question = "UPDATE cargos SET deleted_at = $3 WHERE id = $1 AND owner = $2 AND deleted_at IS NULL";
        if ask(question).text(id).text(owner.as_str()).at(now).run(&mut *tx).await? == 0 {
            return Ok(CargoRemoval::Missing);
        }
        let question = "SELECT id FROM sandboxes WHERE cargo_id = $1 AND deleted_at IS NULL ORDER BY id LIMIT 20";
        let users = ask(question).text(id).each(&mut *tx, |row| row.text("id")).await?;
        if !users.is_empty() {
            return Ok(CargoRemoval::InUse(users));
        }
        tx.commit().await?;
        Ok(CargoRemoval::Gone)
    }

    /// Whether this is an owner's cargo that no sandbox uses; asked without writing anything.
    pub async fn is_unused(&self, owner: &Owner, id: &str) -> StoreResult<bool> {
        let question = "SELECT id FROM cargos WHERE id = $1 AND owner = $2 AND deleted_at IS NULL AND NOT EXISTS \
                        (SELECT 1 FROM sandboxes s WHERE s.cargo_id = $1 AND s.deleted_at IS NULL)";
        Ok(ask(question).text(id).text(owner.as_str()).one(&self.read).await?.is_some())
    }

    /// Whether a cargo is managed and no sandbox but this one uses it; asked without writing anything.
    pub async fn goes_with(&self, id: &str, sandbox_id: &str) -> StoreResult<bool> {
        let question = "SELECT id FROM cargos WHERE id = $1 AND managed_by IS NOT NULL AND NOT EXISTS \
                        (SELECT 1 FROM sandboxes s WHERE s.cargo_id = $1 AND s.id <> $2 AND s.deleted_at IS NULL)";
        Ok(ask(question).text(id).text(sandbox_id).one(&self.read).await?.is_some())
    }

    /// Deletes a managed cargo that no sandbox uses any more; whether it did.
    pub(crate) async fn drop_unused_managed(
        &self,
        tx: &mut Transaction<'static, Any>,
        id: &str,
        now: Moment,
    ) -> StoreResult<bool> {
        let lock = "UPDATE cargos SET last_accessed_at = last_accessed_at WHERE id = $1";
        ask(lock).text(id).run(&mut **tx).await?;
        let question = "UPDATE cargos SET deleted_at = $2 \
                        WHERE id = $1 AND managed_by IS NOT NULL AND deleted_at IS NULL \
                        AND NOT EXISTS (SELECT 1 FROM sandboxes s WHERE s.cargo_id = $1 AND s.deleted_at IS NULL)";
        Ok(ask(question).text(id).at(now).run(&mut **tx).await? == 1)
    }

    /// A sandbox used it.
    pub async fn touch_cargo(&self, id: &str, now: Moment) -> StoreResult<()> {
        ask("UPDATE cargos SET last_accessed_at = $2 WHERE id = $1").text(id).at(now).run(&self.write).await?;
        Ok(())
    }

    /// Deletes managed cargos that no sandbox uses any more, as when two sandboxes that shared one went at once; how
    /// many those were.
    pub async fn drop_orphan_cargos(&self, now: Moment) -> StoreResult<u64> {
        let orphans = "SELECT c.id FROM cargos c WHERE c.managed_by IS NOT NULL AND c.deleted_at IS NULL \
                       AND NOT EXISTS (SELECT 1 FROM sandboxes s WHERE s.cargo_id = c.id AND s.deleted_at IS NULL) \
                       LIMIT 500";
        let mut dropped = 0;
        for id in ask(orphans).each(&self.read, |row| row.text("id")).await? {
            let mut tx = self.begin().await?;
            dropped += u64::from(self.drop_unused_managed(&mut tx, &id, now).await?);
            tx.commit().await?;
        }
        Ok(dropped)
    }

    /// Deleted cargos whose folder may still be there.
    pub async fn deleted_cargos(&self, limit: u32) -> StoreResult<Vec<CargoRow>> {
        let question = "SELECT * FROM cargos WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT $1";
        ask(question).int(limit.into()).each(&self.read, cargo).await
    }

    /// The folder of a deleted cargo is gone: nothing is left to remember.
    pub async fn forget_cargo(&self, id: &str) -> StoreResult<()> {
        let question = "DELETE FROM cargos WHERE id = $1 AND deleted_at IS NOT NULL";
        ask(question).text(id).run(&self.write).await?;
        Ok(())
    }

    /// Whether a folder's name is that of a cargo, deleted or not; a folder that is not (and not new) is an orphan.
    pub async fn cargo_known(&self, id: &str) -> StoreResult<bool> {
        Ok(ask("SELECT id FROM cargos WHERE id = $1").text(id).one(&self.read).await?.is_some())
    }
}
