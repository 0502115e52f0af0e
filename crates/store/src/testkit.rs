//! An empty database, and short words for what most cases need; for the tests of whoever keeps records.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use cove_api::{ExecType, Moment, Owner};
use cove_core::{CargoId, ExecutionId, PrefixedId, SandboxId};

use crate::{Bounds, CargoChoice, Done, NewCargo, NewExecution, NewSandbox, SandboxRow, Store, StoreResult};

/// Opens a database and brings its schema up to date; an owner's records are bounded as they usually are.
pub async fn open(url: &str) -> StoreResult<Store> {
    let store = Store::connect(url, Bounds::mebibytes(128, 256, 256)).await?;
    store.migrate().await?;
    Ok(store)
}

/// A store on a database of its own.
#[derive(Debug, Clone)]
pub struct TestStore {
    /// Where its database is.
    pub url: String,
    /// The store.
    pub store: Store,
    /// Whoever asks.
    pub owner: Owner,
    /// When it was opened: the present of a case.
    pub now: Moment,
}

/// A new id.
pub fn id<T: PrefixedId>() -> T {
    crate::new_id().unwrap()
}

impl TestStore {
    /// Opens a database and brings its schema up to date.
    pub async fn open(url: String) -> Self {
        let store = open(&url).await.unwrap();
        Self { url, store, owner: Owner::new("default"), now: Moment::now() }
    }

    /// So many seconds after its present.
    pub fn at(&self, secs: i64) -> Moment {
        self.now.plus_secs(secs)
    }

    /// Makes a sandbox with a new cargo.
    pub async fn sandbox(&self, profile: &str, expires_at: Option<Moment>) -> SandboxRow {
        let (sandbox, cargo) = (id::<SandboxId>(), id::<CargoId>());
        let cargo = CargoChoice::New(NewCargo { id: &cargo, backend: "local", size_limit_mb: 10 });
        let new = NewSandbox { id: &sandbox, profile, cargo, expires_at, attributes: None, max_sandboxes: None };
        match self.store.insert_sandbox(&self.owner, &new, None, self.now).await.unwrap() {
            Done::Now(row) => row,
            Done::Before(answer) => panic!("without a key: {answer}"),
        }
    }

    /// Writes a history entry; its id.
    pub async fn run<'a>(&'a self, sandbox_id: &'a str, change: impl FnOnce(&mut NewExecution<'a>)) -> ExecutionId {
        let made = id::<ExecutionId>();
        let id: &'static str = String::from(made.clone()).leak();
        let mut new = NewExecution {
            id,
            owner: &self.owner,
            sandbox_id,
            session_id: None,
            exec_type: ExecType::Python,
            code: "1 + 1",
            success: true,
            execution_time_ms: 5,
            output: Some("2"),
            error: None,
            barrier: None,
            payload_ref: None,
            artifacts: None,
            description: None,
            tags: None,
            learn: false,
            created_at: self.now,
        };
        change(&mut new);
        self.store.record(&new, None).await.unwrap();
        made
    }
}
