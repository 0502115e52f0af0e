//! Links to ports of sandboxes. Of a link's secret only the hash is kept; a link that is revoked is gone.

use cove_api::{Moment, Owner, PortLink, SandboxId};

use crate::{Store, StoreResult, ask::Row, ask::ask};

/// Links of one sandbox that work at the same time.
pub const MAX_PORT_LINKS: i64 = 100;

/// A link to make.
#[derive(Debug, Clone, Copy)]
pub struct NewPortLink<'a> {
    /// Its id.
    pub id: &'a str,
    /// The hash of its secret.
    pub secret_hash: &'a str,
    /// The sandbox.
    pub sandbox_id: &'a SandboxId,
    /// The port.
    pub port: u16,
    /// The key that makes it, if any.
    pub key_tag: Option<&'a str>,
    /// When it ends.
    pub expires_at: Moment,
}

/// A link as a visitor meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortLinkRow {
    /// The sandbox.
    pub sandbox_id: SandboxId,
    /// Whose that is.
    pub owner: Owner,
    /// The port.
    pub port: u16,
    /// The key that has made it, if any.
    pub key_tag: Option<String>,
    /// When it ends.
    pub expires_at: Moment,
}

fn port(row: &Row) -> StoreResult<u16> {
    // Written as a number of this size.
    Ok(u16::try_from(row.int("port")?).unwrap_or(0))
}

impl Store {
    /// Keeps a link; false where the sandbox has too many.
    pub async fn insert_port_link(&self, new: &NewPortLink<'_>, now: Moment) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let count = "SELECT COUNT(*) AS n FROM port_links WHERE sandbox_id = $1 AND expires_at > $2";
        if ask(count).text(new.sandbox_id).at(now).number(&mut *tx).await? >= MAX_PORT_LINKS {
            return Ok(false);
        }
        let question = "INSERT INTO port_links (id, secret_hash, sandbox_id, port, key_tag, created_at, expires_at) \
                        VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let question = ask(question).text(new.id).text(new.secret_hash).text(new.sandbox_id).int(i64::from(new.port));
        question.text_or(new.key_tag).at(now).at(new.expires_at).run(&mut *tx).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// The link with this secret, also one that has expired.
    pub async fn port_link(&self, secret_hash: &str) -> StoreResult<Option<PortLinkRow>> {
        let question = "SELECT l.sandbox_id, l.port, l.key_tag, l.expires_at, s.owner FROM port_links l \
                        JOIN sandboxes s ON s.id = l.sandbox_id \
                        WHERE l.secret_hash = $1 AND s.deleted_at IS NULL AND s.owner IS NOT NULL";
        let row = ask(question).text(secret_hash).one(&self.read).await?;
        row.map(|row| {
            Ok(PortLinkRow {
                sandbox_id: row.id("sandbox_id")?,
                owner: Owner::new(&row.text("owner")?),
                port: port(&row)?,
                key_tag: row.text_or("key_tag")?,
                expires_at: row.at("expires_at")?,
            })
        })
        .transpose()
    }

    /// The links of a sandbox that work, the newest first.
    pub async fn port_links(&self, sandbox_id: &SandboxId, now: Moment) -> StoreResult<Vec<PortLink>> {
        let question = "SELECT id, port, created_at, expires_at FROM port_links \
                        WHERE sandbox_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id";
        let link = |row: &Row| {
            Ok(PortLink {
                id: row.text("id")?,
                port: port(row)?,
                created_at: row.at("created_at")?,
                expires_at: row.at("expires_at")?,
            })
        };
        ask(question).text(sandbox_id).at(now).each(&self.read, link).await
    }

    /// Revokes a link; false where there is none.
    pub async fn delete_port_link(&self, sandbox_id: &SandboxId, id: &str) -> StoreResult<bool> {
        let question = "DELETE FROM port_links WHERE sandbox_id = $1 AND id = $2";
        Ok(ask(question).text(sandbox_id).text(id).run(&self.write).await? == 1)
    }

    /// Forgets links that ended before `before`, and those of sandboxes that are gone: from then on they are not found.
    pub async fn purge_port_links(&self, before: Moment) -> StoreResult<u64> {
        let question = "DELETE FROM port_links WHERE expires_at < $1 OR sandbox_id NOT IN \
                        (SELECT id FROM sandboxes WHERE deleted_at IS NULL)";
        ask(question).at(before).run(&self.write).await
    }
}
