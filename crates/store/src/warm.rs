//! Warm sandboxes: ready before anybody asked, claimed by exactly one.
//!
//! A warm sandbox is a sandbox without an owner. A claim gives it one, and its cargo too, in the transaction that also
//! keeps the answer: two Bays on one PostgreSQL never give out the same.

use cove_api::{Moment, Owner, SandboxId};

use crate::sandboxes::{put_sandbox, sandbox, sandboxes};
use crate::{
    CargoChoice, Done, Kind, NewCargo, NewSandbox, NewSession, Once, SandboxAttributes, SandboxRow, Store, StoreError,
    StoreResult, ask::ask,
};

/// Which warm sandbox is wanted, and what becomes of it.
#[derive(Debug, Clone, Copy)]
pub struct WarmClaim<'a> {
    /// The profile's name.
    pub profile: &'a str,
    /// The Bay that asks: its own come first.
    pub instance_id: &'a str,
    /// Those of Bays that have not been heard since are left alone.
    pub alive_since: Moment,
    /// When the sandbox ends.
    pub expires_at: Option<Moment>,
    /// When its session ends for want of calls.
    pub idle_expires_at: Moment,
    /// What else is kept of the sandbox.
    pub attributes: Option<&'a SandboxAttributes>,
    /// How many sandboxes the owner may have at a time.
    pub max_sandboxes: Option<i64>,
}

/// How many warm sandboxes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WarmCount {
    /// Can be claimed.
    pub ready: i64,
    /// Will be.
    pub starting: i64,
}

macro_rules! claim {
    ($lock:literal) => {
        concat!(
            "UPDATE sandboxes SET owner = $1, created_at = $2, expires_at = $3, metadata = $7, note = $8, ",
            "keeps_session = $9, session_ends_at = $10 WHERE owner IS NULL AND id = ",
            "(SELECT s.id FROM sandboxes s JOIN sessions e ON e.sandbox_id = s.id ",
            "JOIN instances i ON i.id = e.instance_id ",
            "WHERE s.owner IS NULL AND s.profile = $4 AND s.deleted_at IS NULL AND e.state = 'ready' ",
            "AND i.heartbeat_at > $5 ",
            "ORDER BY CASE WHEN e.instance_id = $6 THEN 0 ELSE 1 END, s.created_at, s.id LIMIT 1 ",
            $lock,
            ") RETURNING id"
        )
    };
}

impl Store {
    /// Notes a warm sandbox whose session its Bay begins now: sandbox, cargo and session at once.
    pub async fn insert_warm(
        &self,
        sandbox_id: &SandboxId,
        profile: &str,
        cargo: &NewCargo<'_>,
        session_id: &str,
        instance_id: &str,
        now: Moment,
    ) -> StoreResult<()> {
        let cargo_choice = CargoChoice::New(*cargo);
        let new = NewSandbox {
            id: sandbox_id,
            profile,
            cargo: cargo_choice,
            expires_at: None,
            attributes: None,
            max_sandboxes: None,
        };
        let session = NewSession { id: session_id, sandbox_id, instance_id };
        let mut tx = self.begin().await?;
        self.put_cargo(&mut tx, None, cargo, Some(sandbox_id), now).await?;
        put_sandbox(&mut tx, None, &new, cargo.id, now).await?;
        let question = "INSERT INTO sessions (id, sandbox_id, instance_id, state, started_at, last_used_at) \
                        VALUES ($1, $2, $3, 'starting', $4, $4)";
        let question = ask(question).text(session.id).text(session.sandbox_id).text(session.instance_id);
        question.at(now).run(&mut *tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Gives a warm sandbox to an owner; none: there is none, and the key is still free.
    pub async fn claim_warm(
        &self,
        owner: &Owner,
        claim: &WarmClaim<'_>,
        once: Option<&Once<'_, SandboxRow>>,
        now: Moment,
    ) -> StoreResult<Option<Done<SandboxRow>>> {
        let mut tx = self.begin().await?;
        if let Some(answer) = self.take_key(&mut tx, owner, once, now).await? {
            return Ok(Some(Done::Before(answer)));
        }
        self.within_quota(&mut tx, owner, claim.max_sandboxes, now).await?;
        let question = match self.kind {
            Kind::Sqlite => claim!(""),
            Kind::Postgres => claim!("FOR UPDATE OF s SKIP LOCKED"),
        };
        let question = ask(question).text(owner.as_str()).at(now).at_or(claim.expires_at).text(claim.profile);
        let attributes = claim.attributes.cloned().unwrap_or_default();
        let question = question.at(claim.alive_since).text(claim.instance_id);
        let question = question.text_or(attributes.metadata_text().as_deref()).text_or(attributes.note.as_deref());
        let question = question.flag(attributes.keeps_session).at_or(attributes.session_ends_at);
        let claimed = question.one(&mut *tx).await?;
        let Some(claimed) = claimed else { return Ok(None) };
        let id = claimed.text("id")?;
        let question = "UPDATE cargos SET owner = $2, created_at = $3, last_accessed_at = $3 WHERE managed_by = $1";
        ask(question).text(&id).text(owner.as_str()).at(now).run(&mut *tx).await?;
        let question = "UPDATE sessions SET idle_expires_at = $2, last_used_at = $3 WHERE sandbox_id = $1";
        ask(question).text(&id).at(claim.idle_expires_at).at(now).run(&mut *tx).await?;
        let row = ask(sandboxes!("WHERE s.id = $1")).text(&id).one(&mut *tx).await?;
        let row = sandbox(&row.ok_or_else(|| StoreError::missing("sandbox", &id))?)?;
        self.keep_answer(&mut tx, owner, once, &row).await?;
        tx.commit().await?;
        Ok(Some(Done::Now(row)))
    }

    /// How many warm sandboxes of a profile a Bay has.
    pub async fn count_warm(&self, profile: &str, instance_id: &str) -> StoreResult<WarmCount> {
        let question = "SELECT COUNT(CASE WHEN e.state = 'ready' THEN 1 END) AS ready, \
                        COUNT(CASE WHEN e.state = 'starting' THEN 1 END) AS starting \
                        FROM sandboxes s JOIN sessions e ON e.sandbox_id = s.id \
                        WHERE s.owner IS NULL AND s.deleted_at IS NULL AND s.profile = $1 AND e.instance_id = $2";
        let row = ask(question).text(profile).text(instance_id).one(&self.read).await?;
        row.map_or(Ok(WarmCount::default()), |row| {
            Ok(WarmCount { ready: row.int("ready")?, starting: row.int("starting")? })
        })
    }

    /// A Bay's warm sandboxes, oldest first, to be ended when there are too many or their profile is gone.
    pub async fn list_warm(&self, instance_id: &str) -> StoreResult<Vec<SandboxRow>> {
        let question = sandboxes!(
            "WHERE s.owner IS NULL AND s.deleted_at IS NULL AND e.instance_id = $1 ORDER BY s.created_at, s.id"
        );
        ask(question).text(instance_id).each(&self.read, sandbox).await
    }

    /// Deletes a warm sandbox that nobody has claimed; false: somebody has.
    pub async fn drop_warm(&self, id: &str, now: Moment) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let question = "UPDATE sandboxes SET deleted_at = $2 WHERE id = $1 AND owner IS NULL AND deleted_at IS NULL \
                        RETURNING cargo_id";
        let Some(row) = ask(question).text(id).at(now).one(&mut *tx).await? else { return Ok(false) };
        self.drop_unused_managed(&mut tx, &row.text("cargo_id")?, now).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Warm sandboxes that nobody can claim: their session failed, or is gone with its Bay.
    pub async fn stale_warm(&self) -> StoreResult<Vec<SandboxRow>> {
        let question = sandboxes!(
            "WHERE s.owner IS NULL AND s.deleted_at IS NULL AND (e.id IS NULL OR e.state = 'failed') \
             ORDER BY s.created_at LIMIT 500"
        );
        ask(question).each(&self.read, sandbox).await
    }
}
