//! Links to ports: whoever has one may use its port, until it expires or is revoked.

use cove_api::{BayError, CreatePortLink, CreatedPortLink, ErrorCode, Moment, PortLinkList, SandboxId};
use cove_store::{MAX_PORT_LINKS, NewPortLink};
use sha2::{Digest as _, Sha256};

use crate::id::fresh_name;
use crate::{Bay, BayResult, Owner};

/// How long a link works, unless said otherwise.
const USUAL_SECS: u32 = 3600;

/// The path on a port's own origin at which its links are opened; what follows is the link's secret. Programs that listen
/// cannot be asked for what is below it.
pub const OPEN_PATH: &str = "/__cove/open/";

/// Somebody with a link that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortVisit {
    /// Whose sandbox it is: the visit counts as theirs.
    pub owner: Owner,
    /// The key that has made the link, if any.
    pub key_tag: Option<String>,
    /// When the link ends.
    pub expires_at: Moment,
}

impl Bay {
    /// Makes a link to a port. `key_tag`: the key that does, if any.
    pub async fn create_port_link(
        &self,
        owner: &Owner,
        id: &SandboxId,
        wish: &CreatePortLink,
        key_tag: Option<&str>,
    ) -> BayResult<CreatedPortLink> {
        self.alive_row(owner, id).await?;
        let (link_id, secret) = (fresh_name("link")?, format!("{}{}", part()?, part()?));
        let now = Moment::now();
        let expires_at = now.plus_secs(i64::from(wish.seconds.unwrap_or(USUAL_SECS)));
        let new = NewPortLink {
            id: &link_id,
            secret_hash: &hash(&secret),
            sandbox_id: id,
            port: wish.port,
            key_tag,
            expires_at,
        };
        if !self.inner.store.insert_port_link(&new, now).await? {
            let message = format!("this sandbox has {MAX_PORT_LINKS} links to ports; revoke some");
            return Err(BayError::new(ErrorCode::QuotaExceeded, message));
        }
        let url = format!("{}{OPEN_PATH}{secret}", self.port_url(id, wish.port).trim_end_matches('/'));
        Ok(CreatedPortLink { id: link_id, port: wish.port, url, expires_at })
    }

    /// The links of a sandbox that work.
    pub async fn port_links(&self, owner: &Owner, id: &SandboxId) -> BayResult<PortLinkList> {
        self.alive_row(owner, id).await?;
        Ok(PortLinkList { items: self.inner.store.port_links(id, Moment::now()).await? })
    }

    /// Revokes a link: from now on nobody gets in with it.
    pub async fn revoke_port_link(&self, owner: &Owner, id: &SandboxId, link_id: &str) -> BayResult<()> {
        self.alive_row(owner, id).await?;
        if self.inner.store.delete_port_link(id, link_id).await? {
            return Ok(());
        }
        let link_id: String = link_id.chars().take(64).collect();
        Err(BayError::new(ErrorCode::NotFound, format!("this sandbox has no link {link_id}")))
    }

    /// Who a visitor with this secret acts for.
    pub async fn visit_port(&self, id: &SandboxId, port: u16, secret: &str) -> BayResult<PortVisit> {
        let found = self.inner.store.port_link(&hash(secret)).await?;
        let Some(link) = found.filter(|link| link.sandbox_id == *id && link.port == port) else {
            let message = "this link does not lead to this port: it was revoked, or its sandbox was deleted";
            return Err(BayError::new(ErrorCode::NotFound, message));
        };
        if link.expires_at <= Moment::now() {
            let message = "this link has expired; ask for a new one";
            return Err(BayError::new(ErrorCode::LinkExpired, message));
        }
        Ok(PortVisit { owner: link.owner, key_tag: link.key_tag, expires_at: link.expires_at })
    }
}

/// Sixteen characters that nobody can guess.
fn part() -> BayResult<String> {
    let no_randomness = |_| BayError::new(ErrorCode::InternalError, "the system gave no random bytes for a link");
    Ok(format!("{:016x}", getrandom::u64().map_err(no_randomness)?))
}

fn hash(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
