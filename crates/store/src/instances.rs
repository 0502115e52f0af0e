//! The Bays that share these records: who is alive, and where.

use cove_api::Moment;

use crate::{Store, StoreError, StoreResult, ask::Row, ask::ask};

/// One Bay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceRow {
    /// Its id.
    pub id: String,
    /// Where other Bays reach it.
    pub advertise_url: Option<String>,
    /// When it started.
    pub started_at: Moment,
}

fn instance(row: &Row) -> StoreResult<InstanceRow> {
    Ok(InstanceRow {
        id: row.text("id")?,
        advertise_url: row.text_or("advertise_url")?,
        started_at: row.at("started_at")?,
    })
}

impl Store {
    /// A Bay is there. An id that was there before is taken over: the same Bay, started again.
    pub async fn register_instance(&self, id: &str, advertise_url: Option<&str>, now: Moment) -> StoreResult<()> {
        let question = "INSERT INTO instances (id, advertise_url, started_at, heartbeat_at) VALUES ($1, $2, $3, $3) \
                        ON CONFLICT (id) DO UPDATE SET advertise_url = excluded.advertise_url, \
                        started_at = excluded.started_at, heartbeat_at = excluded.heartbeat_at";
        ask(question).text(id).text_or(advertise_url).at(now).run(&self.write).await?;
        Ok(())
    }

    /// It is still alive; false: another declared it dead, and it must register again.
    pub async fn heartbeat(&self, id: &str, now: Moment) -> StoreResult<bool> {
        let question = "UPDATE instances SET heartbeat_at = $2 WHERE id = $1";
        Ok(ask(question).text(id).at(now).run(&self.write).await? == 1)
    }

    /// A Bay that has been heard since `since`.
    pub async fn live_instance(&self, id: &str, since: Moment) -> StoreResult<Option<InstanceRow>> {
        let question = "SELECT * FROM instances WHERE id = $1 AND heartbeat_at > $2";
        ask(question).text(id).at(since).one(&self.read).await?.as_ref().map(instance).transpose()
    }

    /// Where all Bays are that have been heard since `since` and say it.
    pub async fn live_addresses(&self, since: Moment) -> StoreResult<Vec<String>> {
        let question = "SELECT DISTINCT advertise_url FROM instances \
                        WHERE heartbeat_at > $1 AND advertise_url IS NOT NULL ORDER BY advertise_url";
        ask(question).at(since).each(&self.read, |row| row.text("advertise_url")).await
    }

    /// A secret of all Bays that share these records: the one that is there, or this one from now on.
    pub async fn shared_secret(&self, name: &str, proposed: &str, now: Moment) -> StoreResult<String> {
        let question =
            "INSERT INTO secrets (name, value, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING";
        ask(question).text(name).text(proposed).at(now).run(&self.write).await?;
        let row = ask("SELECT value FROM secrets WHERE name = $1").text(name).one(&self.write).await?;
        row.ok_or_else(|| StoreError::Conflict(format!("the secret {name} is gone")))?.text("value")
    }

    /// Bays that have not been heard since `since`, and ids that own sessions without ever having registered.
    pub async fn dead_instances(&self, since: Moment) -> StoreResult<Vec<String>> {
        let question = "SELECT id FROM instances WHERE heartbeat_at <= $1 UNION \
                        SELECT instance_id AS id FROM sessions \
                        WHERE instance_id NOT IN (SELECT id FROM instances)";
        ask(question).at(since).each(&self.read, |row| row.text("id")).await
    }

    /// A Bay is gone, and its sessions with it; how many those were.
    pub async fn remove_instance(&self, id: &str) -> StoreResult<u64> {
        self.retire_instance(id, Moment::from_micros(i64::MAX)).await
    }

    /// The same for a Bay that seemed dead: unless it has been heard after `since`.
    pub async fn retire_instance(&self, id: &str, since: Moment) -> StoreResult<u64> {
        let mut tx = self.begin().await?;
        let question = "DELETE FROM instances WHERE id = $1 AND heartbeat_at <= $2";
        ask(question).text(id).at(since).run(&mut *tx).await?;
        if ask("SELECT id FROM instances WHERE id = $1").text(id).one(&mut *tx).await?.is_some() {
            return Ok(0);
        }
        let ended = ask("DELETE FROM sessions WHERE instance_id = $1").text(id).run(&mut *tx).await?;
        tx.commit().await?;
        Ok(ended)
    }
}
