//! The store: every record that Bay keeps, in SQLite or PostgreSQL.
//!
//! There is one schema and one SQL text for each query: only `ask` talks to a database, and only `address`,
//! `migrate` and the few lines that name [`Kind`] know which one it is. What must happen together is one method and one
//! transaction (a sandbox with its cargo and the stored answer to its idempotency key), so that neither a crash nor a second
//! Bay can see a part of it. The store knows no process, no folder and no network.

mod address;
mod ask;
mod blobs;
mod bounds;
mod canary;
mod cargos;
mod cursor;
mod executions;
mod fault;
mod id;
mod idempotency;
mod instances;
mod kept_processes;
mod migrate;
mod port_links;
mod probe;
mod releases;
mod reserve;
mod sandboxes;
mod sessions;
mod skills;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
#[cfg(test)]
mod tests;
mod warm;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cove_api::Moment;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{Any, AnyConnection, AnyPool, Connection as _, Transaction};

pub use address::sqlite_file;
pub use blobs::{BlobRow, NewBlob, blob_id, blob_ref};
pub use bounds::Bounds;
pub use cargos::{CargoQuota, CargoRemoval, CargoRow, NewCargo};
pub use cursor::{Cursor, Page};
pub use executions::{ExecutionFilter, MAX_NOTE_BYTES, NewExecution, split_tags};
pub use fault::{StoreError, StoreResult};
pub use id::new_id;
pub use idempotency::{Done, Once};
pub use kept_processes::MAX_KEPT_PROCESSES;
pub use port_links::{MAX_PORT_LINKS, NewPortLink, PortLinkRow};
pub use releases::{HEALTH_WINDOW_SECS, ReleaseFilter, ReleaseRow, Replay};
pub use sandboxes::{
    CargoChoice, Extension, NewSandbox, SandboxAmendment, SandboxAttributes, SandboxDeletion, SandboxRow,
};
pub use sessions::{Begin, NewSession, SessionRow, SessionState};
pub use skills::CandidateFilter;
pub use warm::WarmClaim;

use address::Address;
use ask::ask;
use reserve::Reserve;

/// How long a verb waits for a connection, and SQLite for another process's transaction.
const WAIT: Duration = Duration::from_secs(10);

/// Readers of one SQLite file. Reads are short; more would only cost memory.
const SQLITE_READERS: u32 = 3;

/// Connections to PostgreSQL from one Bay.
const POSTGRES_CONNECTIONS: u32 = 12;

/// How long a verb waits for one of these. Questions are short: who waits longer waits for a server that is not there,
/// and is better told to come back.
const POSTGRES_WAIT: Duration = Duration::from_secs(3);

/// Which database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One file, one writer at a time.
    Sqlite,
    /// A server, for several Bays.
    Postgres,
}

/// The records. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Store {
    kind: Kind,
    read: AnyPool,
    write: AnyPool,
    /// How long the answer to an idempotency key is kept.
    answers_kept_secs: i64,
    /// What one owner's records may take.
    bounds: Arc<Bounds>,
    /// Room that is kept for an SQLite file.
    reserve: Option<Arc<Reserve>>,
    /// How to reach a server once more.
    options: AnyConnectOptions,
    /// Whether the server was not there when it was last asked.
    unreachable: Arc<AtomicBool>,
}

impl Store {
    /// Opens the database as it is (an SQLite file is made if there is none); [`Store::migrate`] comes next.
    pub async fn connect(url: &str, bounds: Bounds) -> StoreResult<Self> {
        sqlx::any::install_default_drivers();
        let address = Address::parse(url)?;
        address.make_file()?;
        let options: AnyConnectOptions = address.url().parse()?;
        let (kind, file) = (address.kind(), sqlite_file(url));
        let reserve = file.as_deref().map(Reserve::beside).map(Arc::new);
        let (read, write) = match kind {
            Kind::Sqlite => {
                if let (Some(file), Some(reserve)) = (&file, &reserve) {
                    // The log beside the file needs room before anything can be read.
                    reserve.release_if_full();
                    probe::look_at_file(file, &options).await?;
                    reserve.make();
                }
                let write = sqlite_pool(1, false).connect_with(options.clone()).await?;
                let alone = address.in_memory();
                let readers = || sqlite_pool(SQLITE_READERS, true).connect_lazy_with(options.clone());
                (if alone { write.clone() } else { readers() }, write)
            }
            Kind::Postgres => {
                // Once by hand: a pool tries again until its patience ends, and then only says that it ended.
                let first = tokio::time::timeout(WAIT, AnyConnection::connect_with(&options)).await;
                let first = first.unwrap_or(Err(sqlx::Error::PoolTimedOut));
                let first = first.map_err(|error| StoreError::Unreachable { place: address.place(), error })?;
                first.close().await?;
                let pool = AnyPoolOptions::new().max_connections(POSTGRES_CONNECTIONS).acquire_timeout(POSTGRES_WAIT);
                let pool = pool.connect_with(options.clone()).await?;
                (pool.clone(), pool)
            }
        };
        Ok(Self {
            kind,
            read,
            write,
            answers_kept_secs: idempotency::KEPT_SECS,
            bounds: Arc::new(bounds),
            reserve,
            options,
            unreachable: Arc::default(),
        })
    }

    /// The room that is kept for an SQLite file.
    pub fn reserve(&self) -> Option<&Reserve> {
        self.reserve.as_deref()
    }

    /// Refuses at once while the database is known not to be there.
    pub fn check_reachable(&self) -> StoreResult<()> {
        if self.unreachable.load(Ordering::Relaxed) { Err(StoreError::NoAnswer) } else { Ok(()) }
    }

    /// Does what has to work on a full disk too: what ends or deletes something. Where there is no room for it, the
    /// reserve is given up, and the log written back, so that it can be used again from its beginning.
    pub async fn must<T, F: Future<Output = StoreResult<T>>>(&self, work: impl Fn() -> F) -> StoreResult<T> {
        match work().await {
            Err(error) if error.is_full() => {
                if let Some(reserve) = self.reserve() {
                    reserve.release();
                }
                let _ = self.write_back().await;
                work().await
            }
            done => done,
        }
    }

    /// Writes SQLite's log back into its file: from then on as much can be written as the log is long without any room.
    pub async fn write_back(&self) -> StoreResult<()> {
        if self.kind == Kind::Sqlite {
            sqlx::raw_sql("PRAGMA wal_checkpoint(PASSIVE)").execute(&self.write).await?;
        }
        Ok(())
    }

    /// Keeps answers to idempotency keys for so long instead of an hour.
    pub fn keeping_answers(self, hours: u32) -> Self {
        Self { answers_kept_secs: i64::from(hours) * 3600, ..self }
    }

    /// Which database it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The clock that all Bays of this store agree on: PostgreSQL's own, or this machine's where nobody else is.
    pub async fn clock(&self) -> StoreResult<Moment> {
        if self.kind == Kind::Sqlite {
            return Ok(Moment::now());
        }
        let question = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS n";
        Ok(Moment::from_micros(ask(question).number(&self.read).await?))
    }

    /// Ends its connections.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }

    /// A transaction that may write. SQLite's takes the write lock at once: a lock that is taken halfway can only fail.
    async fn begin(&self) -> StoreResult<Transaction<'static, Any>> {
        Ok(match self.kind {
            Kind::Sqlite => self.write.begin_with("BEGIN IMMEDIATE").await?,
            Kind::Postgres => self.write.begin().await?,
        })
    }

    /// Makes transactions that name the same thing go one after the other. SQLite's do so anyway.
    async fn in_turn(&self, tx: &mut Transaction<'static, Any>, thing: &str) -> StoreResult<()> {
        if self.kind == Kind::Postgres {
            ask("SELECT pg_advisory_xact_lock(19023, hashtext($1)) IS NULL AS held").text(thing).one(&mut **tx).await?;
        }
        Ok(())
    }
}

/// SQLite's connections: a write-ahead log, so that readers never wait; a commit survives the process, not a power cut.
fn sqlite_pool(connections: u32, only_read: bool) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(WAIT)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        // A full disk ends a transaction by itself, and the driver goes on counting it: such a connection takes no other.
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
        .after_connect(move |connection, _| {
            Box::pin(async move {
                // Freed pages can be given back (in a new file: only before its first page), and the log is cut short.
                sqlx::raw_sql(
                    "PRAGMA busy_timeout = 10000; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; \
                     PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 4194304;",
                )
                .execute(&mut *connection)
                .await?;
                if only_read {
                    sqlx::raw_sql("PRAGMA query_only = ON").execute(&mut *connection).await?;
                }
                Ok(())
            })
        })
}
