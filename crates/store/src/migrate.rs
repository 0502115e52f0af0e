//! The schema, brought up to date when a Bay starts, also when two start at once.
//!
//! Each file of `migrations/` is one step, run once, in order, never changed after a release. All steps that are missing
//! are one transaction under one lock: a start that is killed halfway has changed nothing.

use crate::{Kind, Store, StoreError, StoreResult, ask::ask};

/// The steps. A step's number is its place here, from 1.
const STEPS: &[&str] = &[
    include_str!("../migrations/0001_bay.sql"),
    include_str!("../migrations/0002_canary.sql"),
    include_str!("../migrations/0003_sizes.sql"),
    include_str!("../migrations/0004_peers.sql"),
    include_str!("../migrations/0005_one_active.sql"),
    include_str!("../migrations/0006_barriers.sql"),
    include_str!("../migrations/0007_port_links.sql"),
    include_str!("../migrations/0008_attributes.sql"),
    include_str!("../migrations/0009_artifacts.sql"),
    include_str!("../migrations/0010_network.sql"),
    include_str!("../migrations/0011_session_ends.sql"),
    include_str!("../migrations/0012_kept_processes.sql"),
];

impl Store {
    /// Whether no Bay has ever written here.
    pub async fn is_new(&self) -> StoreResult<bool> {
        let question = match self.kind() {
            Kind::Sqlite => "SELECT COUNT(*) AS n FROM sqlite_master WHERE name = 'bay_schema'",
            Kind::Postgres => {
                "SELECT COUNT(*) AS n FROM information_schema.tables \
                 WHERE table_name = 'bay_schema' AND table_schema = ANY (current_schemas(false))"
            }
        };
        Ok(ask(question).number(&self.read).await? == 0)
    }

    /// Runs the steps that this database has not seen.
    pub async fn migrate(&self) -> StoreResult<()> {
        let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
        let mut tx = self.begin().await?;
        if self.kind() == Kind::Postgres {
            // Before the first table there is nothing else to lock.
            ask("SELECT pg_advisory_xact_lock(19024) IS NULL AS held").one(&mut *tx).await?;
        }
        ask("CREATE TABLE IF NOT EXISTS bay_schema (version BIGINT NOT NULL PRIMARY KEY)").run(&mut *tx).await?;
        let found = ask("SELECT COALESCE(MAX(version), 0) AS n FROM bay_schema").number(&mut *tx).await?;
        if found > known {
            return Err(StoreError::Newer { found, known });
        }
        for (step, version) in STEPS.iter().zip(1..).filter(|(_, version)| *version > found) {
            sqlx::raw_sql(*step).execute(&mut *tx).await?;
            ask("INSERT INTO bay_schema (version) VALUES ($1)").int(version).run(&mut *tx).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}
