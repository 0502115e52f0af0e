//! Short words for what most cases need of a store.

use cove_api::{IdempotencyKey, Moment};
use cove_core::{CargoId, ExecutionId, SandboxId, SessionId};
use serde_json::{Value, json};

use crate::testkit::{TestStore, id};
use crate::{
    Begin, CargoChoice, CargoQuota, Done, ExecutionFilter, NewCargo, NewSandbox, NewSession, Once, SandboxRow,
    StoreResult,
};

/// More cargos than any case makes.
pub(super) const PLENTY: CargoQuota = CargoQuota { count: 1_000, mebibytes: 1_000_000 };

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

impl TestStore {
    /// A second store on the same database, as another Bay has it.
    pub(super) async fn another(&self) -> Self {
        Self::open(self.url.clone()).await
    }

    /// Makes a sandbox with a new cargo.
    pub(super) async fn create(
        &self,
        profile: &str,
        expires_at: Option<Moment>,
        once: Option<&Once<'_, SandboxRow>>,
        max_sandboxes: Option<i64>,
    ) -> StoreResult<Done<SandboxRow>> {
        let (sandbox, cargo) = (id::<SandboxId>(), id::<CargoId>());
        let cargo = CargoChoice::New(NewCargo { id: &cargo, backend: "local", size_limit_mb: 10 });
        let new = NewSandbox { id: &sandbox, profile, cargo, expires_at, attributes: None, max_sandboxes };
        self.store.insert_sandbox(&self.owner, &new, once, self.now).await
    }

    pub(super) async fn get(&self, sandbox_id: &str) -> Option<SandboxRow> {
        self.store.sandbox(&self.owner, sandbox_id).await.unwrap()
    }

    /// Registers a Bay.
    pub(super) async fn bay(&self, instance_id: &str) {
        self.store.register_instance(instance_id, Some("http://bay"), self.now).await.unwrap();
    }

    pub(super) async fn begin(&self, sandbox_id: &str, instance_id: &str) -> (SessionId, Begin) {
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

    /// The ids of the entries that a filter finds, newest first, and the total.
    pub(super) async fn found(&self, sandbox_id: &str, filter: ExecutionFilter<'_>) -> (Vec<ExecutionId>, i64) {
        let limit = if filter.limit == 0 { 100 } else { filter.limit };
        let filter = ExecutionFilter { limit, ..filter };
        let (entries, total) = self.store.executions(&self.owner, sandbox_id, &filter).await.unwrap();
        (entries.into_iter().map(|entry| entry.id).collect(), total)
    }
}
