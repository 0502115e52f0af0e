//! Sandboxes: rows with their session, made, found, prolonged, deleted.
//!
//! A status is never stored: it follows from the clock and from the session's row. So an expired sandbox is expired at
//! that microsecond, not when a collector comes.

use std::collections::BTreeMap;

use cove_api::{CargoId, Moment, Owner, SandboxId, SandboxStatus};
use sqlx::{Any, Transaction};

use crate::{
    Cursor, Done, NewCargo, Once, Page, SessionRow, Store, StoreError, StoreResult, ask::Row, ask::ask, sessions,
};

/// A sandbox, with its session if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxRow {
    /// Its id.
    pub id: SandboxId,
    /// Whose it is; none: warm, nobody's yet.
    pub owner: Option<String>,
    /// The profile's name.
    pub profile: String,
    /// Its cargo.
    pub cargo_id: CargoId,
    /// When it was made (or claimed).
    pub created_at: Moment,
    /// When it ends; none: never.
    pub expires_at: Option<Moment>,
    /// What else is kept of it.
    pub attributes: SandboxAttributes,
    /// Its session.
    pub session: Option<SessionRow>,
}

/// What else is kept of a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxAttributes {
    /// What its owner says of it.
    pub metadata: BTreeMap<String, String>,
    /// What a door keeps with it, for itself alone.
    pub note: Option<String>,
    /// Whether its session ends only with it, and not for want of calls.
    pub keeps_session: bool,
    /// The hosts that its owner has opened; none: those of its profile.
    pub network: Option<Vec<String>>,
    /// When its session ends all the same, with everything that runs in it.
    pub session_ends_at: Option<Moment>,
}

/// What is to be changed of a sandbox; none: it stays as it is.
#[derive(Debug, Clone, Default)]
pub struct SandboxAmendment {
    /// When it ends; none within: never.
    pub expires_at: Option<Option<Moment>>,
    /// What its owner says of it.
    pub metadata: Option<BTreeMap<String, String>>,
    /// What a door keeps with it.
    pub note: Option<String>,
    /// The hosts that its owner opens; none within: those of its profile.
    pub network: Option<Option<Vec<String>>>,
    /// When its session ends though it is kept; none within: with the sandbox.
    pub session_ends_at: Option<Option<Moment>>,
}

impl SandboxAttributes {
    /// Whether its session goes on now without calls.
    pub fn keeps_session_at(&self, now: Moment) -> bool {
        self.keeps_session && self.session_ends_at.is_none_or(|end| end > now)
    }

    /// As the column has it.
    pub(crate) fn metadata_text(&self) -> Option<String> {
        metadata_text(&self.metadata)
    }
}

fn metadata_text(metadata: &BTreeMap<String, String>) -> Option<String> {
    // A map of texts always serialises.
    (!metadata.is_empty()).then(|| serde_json::to_string(metadata).unwrap_or_default())
}

/// As the column has it: an empty list is not none.
fn hosts_text(hosts: Option<&[String]>) -> Option<String> {
    hosts.map(|hosts| serde_json::to_string(hosts).unwrap_or_default())
}

impl SandboxRow {
    /// What it is doing.
    pub fn status(&self, now: Moment) -> SandboxStatus {
        match &self.session {
            _ if self.expired(now) => SandboxStatus::Expired,
            Some(session) => session.state.status(),
            None => SandboxStatus::Idle,
        }
    }

    /// Whether its end has come.
    pub fn expired(&self, now: Moment) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// When its session ends for want of calls.
    pub fn idle_expires_at(&self) -> Option<Moment> {
        self.session.as_ref().and_then(|session| session.idle_expires_at)
    }
}

/// Where a new sandbox gets its cargo from.
#[derive(Debug, Clone)]
pub enum CargoChoice<'a> {
    /// A new one, that goes with the sandbox.
    New(NewCargo<'a>),
    /// The owner's own, that is there already.
    Existing(&'a CargoId),
}

/// A sandbox to be made.
#[derive(Debug, Clone)]
pub struct NewSandbox<'a> {
    /// Its id.
    pub id: &'a SandboxId,
    /// The profile's name.
    pub profile: &'a str,
    /// Its cargo.
    pub cargo: CargoChoice<'a>,
    /// When it ends.
    pub expires_at: Option<Moment>,
    /// What else is kept of it.
    pub attributes: Option<&'a SandboxAttributes>,
    /// How many sandboxes the owner may have at a time.
    pub max_sandboxes: Option<i64>,
}

/// What came of a wish for more time.
#[expect(clippy::large_enum_variant, reason = "made once for each call and taken apart at once")]
#[derive(Debug, Clone, PartialEq)]
pub enum Extension {
    /// More time, now or before.
    Done(Done<SandboxRow>),
    /// No such sandbox of this owner.
    Missing,
    /// It has no end.
    Infinite,
    /// Its end has come.
    Expired,
}

/// What a deletion left to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxDeletion {
    /// The sandbox as it was; its session's row is still there, for the one who ends the session.
    pub sandbox: SandboxRow,
    /// Whether its managed cargo was deleted with it: its folder can go.
    pub cargo_gone: bool,
    /// Whether it had been deleted before.
    pub again: bool,
}

macro_rules! sandboxes {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.owner, s.profile, s.cargo_id, s.created_at, s.expires_at, s.metadata, s.note, s.network, ",
            "s.keeps_session, s.session_ends_at, e.id AS session_id, ",
            "e.sandbox_id, e.instance_id, e.state, e.containers, e.error, e.started_at, e.last_used_at, ",
            "e.idle_expires_at FROM sandboxes s LEFT JOIN sessions e ON e.sandbox_id = s.id ",
            $rest
        )
    };
}
pub(crate) use sandboxes;

pub(crate) fn sandbox(row: &Row) -> StoreResult<SandboxRow> {
    let session = if row.text_or("session_id")?.is_some() { Some(sessions::session(row)?) } else { None };
    Ok(SandboxRow {
        id: row.id("id")?,
        owner: row.text_or("owner")?,
        profile: row.text("profile")?,
        cargo_id: row.id("cargo_id")?,
        created_at: row.at("created_at")?,
        expires_at: row.at_or("expires_at")?,
        attributes: SandboxAttributes {
            metadata: row.json_or("metadata")?.unwrap_or_default(),
            note: row.text_or("note")?,
            keeps_session: row.flag("keeps_session")?,
            network: row.json_or("network")?,
            session_ends_at: row.at_or("session_ends_at")?,
        },
        session,
    })
}

impl Store {
    /// Makes a sandbox, with its cargo and the answer to its key, all or nothing.
    pub async fn insert_sandbox(
        &self,
        owner: &Owner,
        new: &NewSandbox<'_>,
        once: Option<&Once<'_, SandboxRow>>,
        now: Moment,
    ) -> StoreResult<Done<SandboxRow>> {
        let mut tx = self.begin().await?;
        if let Some(answer) = self.take_key(&mut tx, owner, once, now).await? {
            return Ok(Done::Before(answer));
        }
        self.within_quota(&mut tx, owner, new.max_sandboxes, now).await?;
        let cargo_id = match &new.cargo {
            CargoChoice::New(cargo) => {
                self.put_cargo(&mut tx, Some(owner.as_str()), cargo, Some(new.id), now).await?;
                cargo.id
            }
            // The row is locked by being written: a deletion of this cargo comes before or after, not between.
            CargoChoice::Existing(id) => {
                let question = "UPDATE cargos SET last_accessed_at = $3 \
                                WHERE id = $1 AND owner = $2 AND deleted_at IS NULL";
                if ask(question).text(id).text(owner.as_str()).at(now).run(&mut *tx).await? == 0 {
                    return Err(StoreError::missing("cargo", id));
                }
                id
            }
        };
        put_sandbox(&mut tx, Some(owner.as_str()), new, cargo_id, now).await?;
        let made = SandboxRow {
            id: new.id.clone(),
            owner: Some(owner.as_str().to_owned()),
            profile: new.profile.to_owned(),
            cargo_id: cargo_id.clone(),
            created_at: now,
            expires_at: new.expires_at,
            attributes: new.attributes.cloned().unwrap_or_default(),
            session: None,
        };
        self.keep_answer(&mut tx, owner, once, &made).await?;
        tx.commit().await?;
        Ok(Done::Now(made))
    }

    /// Refuses one sandbox too many; those who ask at once are asked in turn.
    pub(crate) async fn within_quota(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        limit: Option<i64>,
        now: Moment,
    ) -> StoreResult<()> {
        let Some(limit) = limit else { return Ok(()) };
        self.in_turn(tx, owner.as_str()).await?;
        let count = ask(COUNT).text(owner.as_str()).at(now).number(&mut **tx).await?;
        let next = "delete sandboxes that you no longer need";
        let refusal = StoreError::Quota { what: "sandboxes at a time", name: "limits.max_sandboxes", limit, next };
        if count >= limit { Err(refusal) } else { Ok(()) }
    }

    #[cfg(test)]
    /// How many sandboxes an owner has that are neither deleted nor expired.
    pub(crate) async fn count_sandboxes(&self, owner: &Owner, now: Moment) -> StoreResult<i64> {
        ask(COUNT).text(owner.as_str()).at(now).number(&self.read).await
    }

    /// One of an owner's sandboxes, unless deleted.
    pub async fn sandbox(&self, owner: &Owner, id: &str) -> StoreResult<Option<SandboxRow>> {
        let question = sandboxes!("WHERE s.id = $1 AND s.owner = $2 AND s.deleted_at IS NULL");
        ask(question).text(id).text(owner.as_str()).one(&self.read).await?.as_ref().map(sandbox).transpose()
    }

    /// Ids of all of an owner's sandboxes that are not deleted.
    pub async fn sandboxes_of(&self, owner: &Owner) -> StoreResult<Vec<SandboxId>> {
        let question = "SELECT id FROM sandboxes WHERE owner = $1 AND deleted_at IS NULL";
        ask(question).text(owner.as_str()).each(&self.read, |row| row.id("id")).await
    }

    /// Any sandbox, unless deleted; for Bay itself, not for clients.
    pub async fn any_sandbox(&self, id: &str) -> StoreResult<Option<SandboxRow>> {
        let question = sandboxes!("WHERE s.id = $1 AND s.deleted_at IS NULL");
        ask(question).text(id).one(&self.read).await?.as_ref().map(sandbox).transpose()
    }

    /// A page of an owner's sandboxes, exactly: those in other states do not count.
    pub async fn list_sandboxes(
        &self,
        owner: &Owner,
        status: Option<SandboxStatus>,
        after: Option<&Cursor>,
        limit: u32,
        now: Moment,
    ) -> StoreResult<Page<SandboxRow>> {
        let question = sandboxes!(
            "WHERE s.owner = $1 AND s.deleted_at IS NULL AND (s.created_at, s.id) < ($2, $3) \
             AND ($4 IS NULL OR $4 = CASE WHEN s.expires_at <= $5 THEN 'expired' ELSE COALESCE(e.state, 'idle') END) \
             ORDER BY s.created_at DESC, s.id DESC LIMIT $6"
        );
        let (created_at, id) = Cursor::bounds(after);
        let items = ask(question)
            .text(owner.as_str())
            .int(created_at)
            .text(id)
            .text_or(status.map(SandboxStatus::as_str))
            .at(now)
            .int(i64::from(limit) + 1)
            .each(&self.read, sandbox)
            .await?;
        Ok(Page::cut(items, limit, |row| Cursor::after(row.created_at, &row.id)))
    }

    /// Changes what is kept of a sandbox that has not ended; none: there is no such sandbox of this owner.
    pub async fn amend_sandbox(
        &self,
        owner: &Owner,
        id: &str,
        amendment: &SandboxAmendment,
        now: Moment,
    ) -> StoreResult<Option<SandboxRow>> {
        let metadata = amendment.metadata.as_ref().map(|metadata| metadata_text(metadata).unwrap_or_default());
        let mut tx = self.begin().await?;
        let question = "UPDATE sandboxes SET expires_at = CASE WHEN $4 = 1 THEN $5 ELSE expires_at END, \
                        metadata = CASE WHEN $6 = 1 THEN NULLIF($7, '') ELSE metadata END, \
                        note = COALESCE($8, note), network = CASE WHEN $9 = 1 THEN $10 ELSE network END, \
                         session_ends_at = CASE WHEN $11 = 1 THEN $12 ELSE session_ends_at END \
                        WHERE id = $1 AND owner = $2 AND deleted_at IS NULL \
                        AND (expires_at IS NULL OR expires_at > $3)";
        let question = ask(question).text(id).text(owner.as_str()).at(now);
        let question = question.flag(amendment.expires_at.is_some()).at_or(amendment.expires_at.flatten());
        let question = question.flag(metadata.is_some()).text_or(metadata.as_deref());
        let question = question.text_or(amendment.note.as_deref()).flag(amendment.network.is_some());
        let network = amendment.network.as_ref().and_then(|hosts| hosts_text(hosts.as_deref()));
        let question = question.text_or(network.as_deref());
        let question = question.flag(amendment.session_ends_at.is_some()).at_or(amendment.session_ends_at.flatten());
        question.run(&mut *tx).await?;
        let found = sandboxes!("WHERE s.id = $1 AND s.owner = $2 AND s.deleted_at IS NULL");
        let found = ask(found).text(id).text(owner.as_str()).one(&mut *tx).await?.as_ref().map(sandbox).transpose()?;
        tx.commit().await?;
        Ok(found)
    }

    /// More time: one statement decides, so that two at once add up.
    pub async fn extend_sandbox(
        &self,
        owner: &Owner,
        id: &str,
        by_secs: i64,
        once: Option<&Once<'_, SandboxRow>>,
        now: Moment,
    ) -> StoreResult<Extension> {
        let last = Moment::from_micros(i64::MAX).micros();
        let by = by_secs.saturating_mul(1_000_000).clamp(0, last);
        let mut tx = self.begin().await?;
        if let Some(answer) = self.take_key(&mut tx, owner, once, now).await? {
            return Ok(Extension::Done(Done::Before(answer)));
        }
        // No sum that the calendar, or an i64, does not hold.
        let question = "UPDATE sandboxes \
                        SET expires_at = CASE WHEN expires_at > $5 - $4 THEN $5 ELSE expires_at + $4 END \
                        WHERE id = $1 AND owner = $2 AND deleted_at IS NULL AND expires_at > $3";
        let question = ask(question).text(id).text(owner.as_str()).at(now).int(by).int(last);
        let extended = question.run(&mut *tx).await? == 1;
        let found = sandboxes!("WHERE s.id = $1 AND s.owner = $2 AND s.deleted_at IS NULL");
        let found = ask(found).text(id).text(owner.as_str()).one(&mut *tx).await?.as_ref().map(sandbox).transpose()?;
        let Some(found) = found else { return Ok(Extension::Missing) };
        if !extended {
            return Ok(if found.expires_at.is_none() { Extension::Infinite } else { Extension::Expired });
        }
        self.keep_answer(&mut tx, owner, once, &found).await?;
        tx.commit().await?;
        Ok(Extension::Done(Done::Now(found)))
    }

    /// Deletes an owner's sandbox, with its history and traces, and with its managed cargo unless another sandbox uses
    /// that. May be repeated. None: there never was one, or it has been purged.
    ///
    /// Without an owner it is Bay itself that deletes, whoever owns it, but only what has expired at this moment: more
    /// time may have been granted since Bay looked.
    pub async fn delete_sandbox(
        &self,
        owner: Option<&Owner>,
        id: &str,
        now: Moment,
    ) -> StoreResult<Option<SandboxDeletion>> {
        let owner = owner.map(Owner::as_str);
        let mut tx = self.begin().await?;
        let question = "UPDATE sandboxes SET deleted_at = $3 \
                        WHERE id = $1 AND deleted_at IS NULL AND (owner = $2 OR ($2 IS NULL AND expires_at <= $3))";
        let again = ask(question).text(id).text_or(owner).at(now).run(&mut *tx).await? == 0;
        if again && owner.is_none() {
            return Ok(None);
        }
        let found = sandboxes!("WHERE s.id = $1 AND ($2 IS NULL OR s.owner = $2)");
        let found = ask(found).text(id).text_or(owner).one(&mut *tx).await?.as_ref().map(sandbox).transpose()?;
        let Some(sandbox) = found else { return Ok(None) };
        ask("DELETE FROM executions WHERE sandbox_id = $1").text(id).run(&mut *tx).await?;
        ask("DELETE FROM blobs WHERE sandbox_id = $1").text(id).run(&mut *tx).await?;
        let cargo_gone = self.drop_unused_managed(&mut tx, &sandbox.cargo_id, now).await?;
        tx.commit().await?;
        Ok(Some(SandboxDeletion { sandbox, cargo_gone, again }))
    }

    /// Sandboxes whose end has come and that are not deleted yet.
    pub async fn expired_sandboxes(&self, now: Moment, limit: u32) -> StoreResult<Vec<SandboxRow>> {
        let question = sandboxes!("WHERE s.expires_at <= $1 AND s.deleted_at IS NULL ORDER BY s.expires_at LIMIT $2");
        ask(question).at(now).int(i64::from(limit)).each(&self.read, sandbox).await
    }

    /// Ids of sandboxes whose end came between two moments and that are not deleted yet.
    pub async fn expired_between(&self, since: Moment, now: Moment) -> StoreResult<Vec<SandboxId>> {
        let question = "SELECT id FROM sandboxes WHERE expires_at > $1 AND expires_at <= $2 AND deleted_at IS NULL";
        ask(question).at(since).at(now).each(&self.read, |row| row.id("id")).await
    }

    /// Sandboxes whose kept session is due to end: those with a session of this instance that began before that, and those
    /// without one where it came since `since`.
    pub async fn kept_until(&self, instance_id: &str, since: Moment, now: Moment) -> StoreResult<Vec<SandboxId>> {
        let question = "SELECT s.id FROM sandboxes s LEFT JOIN sessions e ON e.sandbox_id = s.id \
                        WHERE s.deleted_at IS NULL AND s.session_ends_at <= $1 \
                        AND ((e.instance_id = $2 AND e.started_at < s.session_ends_at) \
                        OR (e.id IS NULL AND s.session_ends_at > $3))";
        ask(question).at(now).text(instance_id).at(since).each(&self.read, |row| row.id("id")).await
    }

    /// Forgets sandboxes that were deleted before `before`, whose session is gone: from then on a repeated deletion is
    /// not found.
    pub async fn purge_sandboxes(&self, before: Moment) -> StoreResult<u64> {
        let mut tx = self.begin().await?;
        for question in [
            "DELETE FROM executions WHERE sandbox_id IN (SELECT id FROM sandboxes WHERE deleted_at < $1)",
            "DELETE FROM blobs WHERE sandbox_id IN (SELECT id FROM sandboxes WHERE deleted_at < $1)",
            "DELETE FROM kept_processes WHERE sandbox_id IN (SELECT id FROM sandboxes WHERE deleted_at < $1)",
        ] {
            ask(question).at(before).run(&mut *tx).await?;
        }
        let question = "DELETE FROM sandboxes WHERE deleted_at < $1 \
                        AND NOT EXISTS (SELECT 1 FROM sessions e WHERE e.sandbox_id = sandboxes.id)";
        let gone = ask(question).at(before).run(&mut *tx).await?;
        tx.commit().await?;
        Ok(gone)
    }
}

const COUNT: &str = "SELECT COUNT(*) AS n FROM sandboxes \
                     WHERE owner = $1 AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > $2)";

pub(crate) async fn put_sandbox(
    tx: &mut Transaction<'static, Any>,
    owner: Option<&str>,
    new: &NewSandbox<'_>,
    cargo_id: &str,
    now: Moment,
) -> StoreResult<()> {
    let attributes = new.attributes.cloned().unwrap_or_default();
    let question = "INSERT INTO sandboxes (id, owner, profile, cargo_id, created_at, expires_at, metadata, note, \
                    keeps_session, network, session_ends_at) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let question = ask(question).text(new.id).text_or(owner).text(new.profile).text(cargo_id).at(now);
    let question = question.at_or(new.expires_at).text_or(attributes.metadata_text().as_deref());
    let question = question.text_or(attributes.note.as_deref()).flag(attributes.keeps_session);
    let question = question.text_or(hosts_text(attributes.network.as_deref()).as_deref());
    question.at_or(attributes.session_ends_at).run(&mut **tx).await?;
    Ok(())
}
