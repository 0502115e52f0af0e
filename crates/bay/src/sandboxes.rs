//! Sandboxes: made, listed, prolonged, stopped, deleted.

use cove_api::{CreateSandbox, ExtendTtl, SandboxInfo, SandboxList, SandboxQuery};

use crate::{Answer, Bay, IdempotencyKey, Owner};

impl Bay {
    /// A new sandbox; `ready` where a warm one could be had, else `idle`.
    pub async fn create_sandbox(
        &self,
        owner: &Owner,
        wish: CreateSandbox,
        key: Option<&IdempotencyKey>,
    ) -> Answer<SandboxInfo> {
        let _ = (owner, wish, key);
        Err(crate::bay::unbuilt())
    }

    /// A page of the owner's sandboxes.
    pub async fn list_sandboxes(&self, owner: &Owner, query: SandboxQuery) -> Answer<SandboxList> {
        let _ = (owner, query);
        Err(crate::bay::unbuilt())
    }

    /// One sandbox, with its containers and their health.
    pub async fn sandbox(&self, owner: &Owner, id: &str) -> Answer<SandboxInfo> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// More time.
    pub async fn extend_ttl(
        &self,
        owner: &Owner,
        id: &str,
        wish: ExtendTtl,
        key: Option<&IdempotencyKey>,
    ) -> Answer<SandboxInfo> {
        let _ = (owner, id, wish, key);
        Err(crate::bay::unbuilt())
    }

    /// Moves the end of idleness; starts nothing.
    pub async fn keepalive(&self, owner: &Owner, id: &str) -> Answer<()> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// Ends the session; the cargo stays.
    pub async fn stop_sandbox(&self, owner: &Owner, id: &str) -> Answer<()> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// Ends and hides it, with its managed cargo. Repeating it is fine.
    pub async fn delete_sandbox(&self, owner: &Owner, id: &str) -> Answer<()> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// Where its session lives, if that is another Bay that is alive: the base URL to hand the request on to.
    pub async fn home_elsewhere(&self, owner: &Owner, id: &str) -> Answer<Option<String>> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }
}
