//! An empty database, and short words for what most cases need.

use cove_api::Moment;
use cove_core::{CargoId, ExecutionId, PrefixedId, SandboxId, SessionId};
use serde_json::{Value, json};

use crate::store::{
    CargoChoice, CargoQuota, Done, ExecutionFilter, NewCargo, NewExecution, NewSandbox, NewSession, Once, SandboxRow,
    Store,
};
use crate::{IdempotencyKey, Owner};

/// More cargos than any case makes.
pub(super) const PLENTY: CargoQuota = CargoQuota { count: 1_000, mebibytes: 1_000_000 };

/// A store on a database of its own.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) url: String,
    pub(super) store: Store,
    pub(super) owner: Owner,
    pub(super) now: Moment,
}

pub(super) fn id<T: PrefixedId>() -> T {
    crate::id::new_id().unwrap()
}

pub(super) fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

/// The answer that the tests keep with a key.
pub(super) fn answer(row: &SandboxRow) -> Value {
    json!({ "id": row.id, "expires_at": row.expires_at, "status": row.session.is_some() })
}

pub(super) fn once<'a>(key: &'a IdempotencyKey, request: &'a str) -> Once<'a, SandboxRow> {
    Once { key, request, answer: &answer }
}

impl Place {
    pub(super) async fn open(url: String) -> Self {
        let store = Store::open(&url).await.unwrap();
        Self { url, store, owner: Owner::new("default"), now: Moment::now() }
    }

    /// A second store on the same database, as another Bay has it.
    pub(super) async fn another(&self) -> Self {
        Self::open(self.url.clone()).await
    }

    pub(super) fn at(&self, secs: i64) -> Moment {
        self.now.plus_secs(secs)
    }

    /// Makes a sandbox with a new cargo.
    pub(super) async fn create(
        &self,
        profile: &str,
        expires_at: Option<Moment>,
        once: Option<&Once<'_, SandboxRow>>,
        max_sandboxes: Option<i64>,
    ) -> crate::store::StoreResult<Done<SandboxRow>> {
        let (sandbox, cargo) = (id::<SandboxId>(), id::<CargoId>());
        let cargo = CargoChoice::New(NewCargo { id: &cargo, backend: "local", size_limit_mb: 10 });
        let new = NewSandbox { id: &sandbox, profile, cargo, expires_at, max_sandboxes };
        self.store.insert_sandbox(&self.owner, &new, once, self.now).await
    }

    /// The same, where nothing can go wrong.
    pub(super) async fn sandbox(&self, profile: &str, expires_at: Option<Moment>) -> SandboxRow {
        match self.create(profile, expires_at, None, None).await.unwrap() {
            Done::Now(row) => row,
            Done::Before(answer) => panic!("without a key: {answer}"),
        }
    }

    pub(super) async fn get(&self, sandbox_id: &str) -> Option<SandboxRow> {
        self.store.sandbox(&self.owner, sandbox_id).await.unwrap()
    }

    /// Registers a Bay.
    pub(super) async fn bay(&self, instance_id: &str) {
        self.store.register_instance(instance_id, Some("http://bay"), self.now).await.unwrap();
    }

    pub(super) async fn begin(&self, sandbox_id: &str, instance_id: &str) -> (SessionId, crate::store::Begin) {
        let session = id::<SessionId>();
        let new = NewSession { id: &session, sandbox_id, instance_id };
        let begun = self.store.begin_session(&new, self.at(-30), self.now).await.unwrap();
        (session, begun)
    }

    /// A ready warm sandbox of the profile `warm`.
    pub(super) async fn warm(&self, instance_id: &str) -> SandboxId {
        let (sandbox, cargo, session) = (id::<SandboxId>(), id::<CargoId>(), id::<SessionId>());
        let cargo = NewCargo { id: &cargo, backend: "local", size_limit_mb: 10 };
        self.store.insert_warm(&sandbox, "warm", &cargo, &session, instance_id, self.now).await.unwrap();
        let containers = json!([{ "name": "ship" }]);
        assert!(self.store.session_ready(&session, &containers, self.at(60), self.now).await.unwrap());
        sandbox
    }

    /// Writes a history entry; its id.
    pub(super) async fn run<'a>(
        &'a self,
        sandbox_id: &'a str,
        change: impl FnOnce(&mut NewExecution<'a>),
    ) -> ExecutionId {
        let made = id::<ExecutionId>();
        let id: &'static str = String::from(made.clone()).leak();
        let mut new = NewExecution {
            id,
            owner: &self.owner,
            sandbox_id,
            session_id: None,
            exec_type: "python",
            code: "1 + 1",
            success: true,
            execution_time_ms: 5,
            output: Some("2"),
            error: None,
            payload_ref: None,
            description: None,
            tags: None,
            learn: false,
            created_at: self.now,
        };
        change(&mut new);
        self.store.record(&new, None).await.unwrap();
        made
    }

    /// The ids of the entries that a filter finds, newest first, and the total.
    pub(super) async fn found(&self, sandbox_id: &str, filter: ExecutionFilter<'_>) -> (Vec<ExecutionId>, i64) {
        let limit = if filter.limit == 0 { 100 } else { filter.limit };
        let filter = ExecutionFilter { limit, ..filter };
        let (entries, total) = self.store.executions(&self.owner, sandbox_id, &filter).await.unwrap();
        (entries.into_iter().map(|entry| entry.id).collect(), total)
    }
}
