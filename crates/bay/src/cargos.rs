//! Cargos: made, listed, deleted.

use cove_api::{CargoInfo, CargoList, CreateCargo, ListQuery};

use crate::{Answer, Bay, IdempotencyKey, Owner};

impl Bay {
    /// A new cargo that belongs to no sandbox.
    pub async fn create_cargo(
        &self,
        owner: &Owner,
        wish: CreateCargo,
        key: Option<&IdempotencyKey>,
    ) -> Answer<CargoInfo> {
        let _ = (owner, wish, key);
        Err(crate::bay::unbuilt())
    }

    /// A page of the owner's cargos.
    pub async fn list_cargos(&self, owner: &Owner, query: ListQuery) -> Answer<CargoList> {
        let _ = (owner, query);
        Err(crate::bay::unbuilt())
    }

    /// One cargo.
    pub async fn cargo(&self, owner: &Owner, id: &str) -> Answer<CargoInfo> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// Deletes it; refused while a sandbox uses it.
    pub async fn delete_cargo(&self, owner: &Owner, id: &str) -> Answer<()> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }
}
